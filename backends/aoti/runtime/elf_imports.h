// SPDX-License-Identifier: BSD-3-Clause
// What a shared library asks others for, read from its bytes before the system loads it.
#pragma once

#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <cstdint>
#include <string>
#include <vector>

namespace executorch::backends::aoti {

/// Names of undefined symbols of a 64-bit little-endian ELF library for this processor.
/// InvalidProgram for anything else, and where a table is not whole.
runtime::Result<std::vector<std::string>> imports_of(runtime::Span<const uint8_t> library);

}  // namespace executorch::backends::aoti
