// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/self_test.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

runtime::Error run_self_test(ModelRunnerOptions, std::ostream&) {
  ET_LOG(Error, "This build runs no self-tests: configure it with -DEXECUTORCH_BUILD_DEVTOOLS=ON");
  return runtime::Error::NotSupported;
}

}  // namespace executorch::extension
