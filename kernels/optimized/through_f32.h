// SPDX-License-Identifier: BSD-3-Clause
// Functions of two arguments of 16-bit floats by way of f32, where an operand may be a number that
// 16 bits do not have.
#pragma once

#include <executorch/kernels/optimized/binary.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <cstdint>

namespace executorch::kernels::optimized {

// An operand of the 16-bit loop: elements, or one f32 for all of them.
struct NarrowOperand {
  const uint16_t* elements;
  float number;
  bool array;
};

inline NarrowOperand operand_of(const Tensor& t, bool array) {
  const auto* data = static_cast<const uint16_t*>(t.const_data_ptr());
  float number = 0.0f;
  if (!array && t.numel() > 0) {
    widen(t.scalar_type(), data, &number, 1);
  }
  return {data, number, array};
}

// Converts, computes in f32 and converts back, a chunk at a time.
inline void run_through_f32(Binary f, float alpha, const NarrowOperand& x, const NarrowOperand& y,
                            Tensor& out) {
  constexpr int64_t kChunk = 1024;     // values that are computed at a time
  constexpr int64_t kGrain = 1 << 15;  // elements worth a thread
  const ScalarType type = out.scalar_type();
  auto* to = static_cast<uint16_t*>(out.mutable_data_ptr());
  extension::parallel_for(0, out.numel(), kGrain, [&](int64_t first, int64_t last) {
    float a[kChunk], b[kChunk], result[kChunk];
    for (int64_t i = first; i < last; i += kChunk) {
      const int64_t n = std::min(kChunk, last - i);
      const auto load = [&](const NarrowOperand& operand, float* values) {
        operand.array ? widen(type, operand.elements + i, values, n)
                      : static_cast<void>(*values = operand.number);
      };
      load(x, a);
      load(y, b);
      map_binary_row(f, alpha, a, x.array, b, y.array, result, n);
      narrow(type, result, to + i, n);
    }
  });
}

}  // namespace executorch::kernels::optimized
