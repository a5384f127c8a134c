// SPDX-License-Identifier: BSD-3-Clause
// Between numbers and the integers that stand for them: loops on plain arrays, one set per
// instruction set.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// A value of int8 stands for scale * (value - zero).
struct Int8Scale {
  float scale = 1;
  int32_t zero = 0;
};

// bias - zero * sum, modulo 2^32: what a sum of products starts with, of inputs that `zero` is
// taken from.
inline int32_t start_of_sum(int32_t bias, int32_t zero, int32_t sum) {
  return static_cast<int32_t>(static_cast<uint32_t>(bias) -
                              static_cast<uint32_t>(zero) * static_cast<uint32_t>(sum));
}

// out[j] = zero + sums[j] * scales[j], to nearest, ties to even, within [min, max].
struct Requantize {
  const float* scales;
  int32_t zero, min, max;
};

// out[j] = (sums[j] - zero * columns[j]) * scale * scales[j] + bias[j], within [min, max]. `bias`
// may be null.
template <typename Sum>
struct Dequantize {
  const Sum* columns;
  const float* scales;
  const float* bias;
  float min, max;
};

struct Int8ValueKernels {
  // `rows` rows of `count` columns.
  void (*requantize)(const Requantize& how, const int32_t* sums, int64_t stride, int64_t rows,
                     int64_t count, int8_t* out, int64_t out_stride);
  // `rows` rows, each with its scale, of `count` columns from `first` on; `sums` and `out` begin
  // there.
  void (*dequantize)(const Dequantize<int32_t>& how, const Int8Scale* scales, const int32_t* sums,
                     int64_t stride, int64_t rows, int64_t first, int64_t count, float* out,
                     int64_t out_stride);
  void (*dequantize_floats)(const Dequantize<float>& how, const Int8Scale* scales,
                            const float* sums, int64_t stride, int64_t rows, int64_t first,
                            int64_t count, float* out, int64_t out_stride);
  // The smallest and the largest number, and 0.
  void (*range)(const float* from, int64_t count, float& least, float& most);
  // out[j] = zero + from[j] * scale, to nearest, within int8.
  void (*quantize)(const float* from, int64_t count, const Int8Scale& by, int8_t* out);
};

// Of the processor; chosen at every call, so that tests can go through all instruction sets.
const Int8ValueKernels& int8_value_kernels();

// Each row of floats by what suits its smallest and largest number and 0: as torchao's
// choose_qparams_affine with int8, asymmetric. Threaded.
void quantize_rows(const float* from, int64_t rows, int64_t columns, int8_t* out,
                   Int8Scale* scales);

}  // namespace executorch::kernels::optimized
