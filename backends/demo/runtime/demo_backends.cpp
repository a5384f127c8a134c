// SPDX-License-Identifier: BSD-3-Clause
// Names of the demo backends, and their registration when the library is linked.
#include <executorch/backends/demo/runtime/demo_backends.h>

namespace executorch::backends::demo {

runtime::Error register_demo_backends() {
  ET_CHECK_OK_OR_RETURN_ERROR(
      runtime::register_backend({"BackendWithCompilerDemo", &compiler_demo_backend()}));
  return runtime::register_backend({"ExecutorBackend", &executor_backend()});
}

}  // namespace executorch::backends::demo

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_demo_backend =
    executorch::backends::demo::register_demo_backends();
}
