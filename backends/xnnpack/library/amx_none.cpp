// SPDX-License-Identifier: BSD-3-Clause
// For processors and compilers without AMX: all GEMMs are on vectors.
#include <executorch/backends/xnnpack/library/amx.h>

namespace executorch::backends::xnnpack {

GemmSize::GemmSize(size_t, size_t) {}

GemmSize::~GemmSize() {}

}  // namespace executorch::backends::xnnpack
