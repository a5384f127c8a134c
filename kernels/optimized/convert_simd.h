// SPDX-License-Identifier: BSD-3-Clause
// What convert.h says, for those who do not link portable kernels.
#pragma once

#include <cstdint>

namespace executorch::kernels {
struct FasterRuns;  // portable/loops/element_type.h
}

namespace executorch::kernels::optimized {

void widen_values(bool is_half, const void* in, float* out, int64_t n);
void narrow_values(bool is_half, const float* in, void* out, int64_t n);
// How portable kernels read and write 16-bit floats with vectors: `count` rows.
const FasterRuns* runs_with_vectors(int& count);

}  // namespace executorch::kernels::optimized
