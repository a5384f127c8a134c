// SPDX-License-Identifier: BSD-3-Clause
// Random f32 numbers for whole arrays: those of kernels/portable/random.h, many at a time.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// out[2 * i] and out[2 * i + 1] from draw `draw` + i, uniform in [0, 1) or normal.
void random_values(bool normal, uint64_t draw, float* out, int64_t n);

}  // namespace executorch::kernels::optimized
