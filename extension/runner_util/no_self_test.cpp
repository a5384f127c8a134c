// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/self_test.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

runtime::Error run_self_test(ModelRunnerOptions, std::ostream&) {
  ET_LOG(Error, "This build runs no self-tests: configure it with -DEXECUTORCH_BUILD_DEVTOOLS=ON");
  return runtime::Error::NotSupported;
}

bool is_bundled_program_file(const std::string&) {
  return false;
}

runtime::Error run_bundled_case(ModelRunnerOptions, double, double, std::ostream&) {
  ET_LOG(Error,
         "This build runs no bundled programs: configure it with -DEXECUTORCH_ENABLE_BUNDLE_IO=ON");
  return runtime::Error::NotSupported;
}

}  // namespace executorch::extension
