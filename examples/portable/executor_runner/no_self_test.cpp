// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/examples/portable/executor_runner/self_test.h>
#include <executorch/runtime/platform/log.h>

using executorch::runtime::Error;

Error run_self_test(executorch::extension::ModelRunnerOptions, std::ostream&) {
  ET_LOG(Error, "This build runs no self-tests: configure it with -DEXECUTORCH_BUILD_DEVTOOLS=ON");
  return Error::NotSupported;
}
