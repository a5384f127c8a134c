// SPDX-License-Identifier: BSD-3-Clause
// Ends the program through the platform layer. For programmer errors only.
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

ET_NORETURN void runtime_abort();

} // namespace runtime
} // namespace executorch
