// SPDX-License-Identifier: BSD-3-Clause
// Half and BFloat16 arrays to f32 and back, with the processor's own conversions where it has them.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstdint>

namespace executorch::kernels::optimized {

// True for the two types that widen() and narrow() take.
inline bool is_narrow_float(executorch::aten::ScalarType type) {
  return type == executorch::aten::ScalarType::Half ||
         type == executorch::aten::ScalarType::BFloat16;
}

// n values of `type` to f32, and back with rounding to nearest even. On the calling thread.
// Programs that use these convert in portable kernels with vectors, too.
void widen(executorch::aten::ScalarType type, const void* in, float* out, int64_t n);
void narrow(executorch::aten::ScalarType type, const float* in, void* out, int64_t n);

// The conjugates of n complex f32 numbers, which may be in place. On the calling thread.
void conjugate(const void* in, void* out, int64_t n);

}  // namespace executorch::kernels::optimized
