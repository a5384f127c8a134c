// SPDX-License-Identifier: BSD-3-Clause
// Start of the runtime.
#pragma once

namespace executorch {
namespace runtime {

/// Call once before anything else of the runtime; calling it again is harmless.
void runtime_init();

} // namespace runtime
} // namespace executorch
