// SPDX-License-Identifier: BSD-3-Clause
// The runtime's verifier for Python: the same rules decide what the compiler's tools and the
// runtime accept.
#pragma once

#include <cstdint>

namespace executorch::exir {

/// Checks a whole program file as the runtime does at load. Throws FormatError with the verifier's
/// message.
void verify_program_file(const uint8_t* data, uint64_t size);

}  // namespace executorch::exir
