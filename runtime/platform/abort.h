// SPDX-License-Identifier: BSD-3-Clause
// The runtime's one way to end the program.
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Ends the program through the platform's abort. For broken invariants only: input data never
/// leads here.
ET_NORETURN void runtime_abort();

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::runtime_abort;
}  // namespace torch::executor
