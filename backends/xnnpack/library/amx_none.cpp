// SPDX-License-Identifier: BSD-3-Clause
// For processors and compilers without AMX: all products are on vectors.
#include <executorch/backends/xnnpack/library/amx.h>

namespace executorch::backends::xnnpack {

ProductSize::ProductSize(size_t, size_t) {}

ProductSize::~ProductSize() {}

}  // namespace executorch::backends::xnnpack
