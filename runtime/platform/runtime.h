// SPDX-License-Identifier: BSD-3-Clause
// Start of the runtime.
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Prepares the platform. Call once before anything else of the runtime; further calls have no
/// effect.
void runtime_init();

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::runtime_init;
}  // namespace torch::executor
