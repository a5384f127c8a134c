// SPDX-License-Identifier: BSD-3-Clause
// See runtime.h.
#include <executorch/runtime/platform/runtime.h>

#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/profiler.h>

namespace executorch {
namespace runtime {

void runtime_init() {
  et_pal_init();
  EXECUTORCH_PROFILE_CREATE_BLOCK("default");
}

}  // namespace runtime
}  // namespace executorch
