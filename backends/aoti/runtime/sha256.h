// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 (FIPS 180-4), by which named data of this backend is called.
#pragma once

#include <executorch/runtime/core/span.h>

#include <cstdint>
#include <string>

namespace executorch::backends::aoti {

/// 64 hexadecimal digits.
std::string sha256_of(runtime::Span<const uint8_t> bytes);

}  // namespace executorch::backends::aoti
