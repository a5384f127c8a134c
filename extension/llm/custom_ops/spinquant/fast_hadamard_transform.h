// SPDX-License-Identifier: BSD-3-Clause
// Hadamard transforms in place, of floating-point numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace executorch {

namespace internal {

// The matrix of order 28: a row each, the highest of 28 bits is column 0, a set bit is +1.
constexpr int kHadamardOrder = 28;
constexpr uint32_t kHadamard28[kHadamardOrder] = {
    0x818694c, 0x41c14a6, 0x20e2a13, 0x1071549, 0x0838ae4, 0x041e532, 0x030d299,
    0x3d019d2, 0x1e82ca9, 0x8e43654, 0xc621b2a, 0xe210d95, 0xf00a6ca, 0x7807325,
    0x5b3201e, 0xac9900f, 0x564c847, 0xab24463, 0xd590271, 0x6ac8178, 0xb4640bc,
    0x66b70c0, 0xb35b820, 0xd8adc10, 0x6d54e08, 0x37a8704, 0x9ad4382, 0xcd6a181};

// Each column of [28][size] times the matrix, in blocks that stay in the first-level cache.
template <typename T>
void mix_columns(T* lines, int64_t size) {
  constexpr int64_t kBlock = 32;
  T mixed[kHadamardOrder][kBlock];
  for (int64_t at = 0; at < size; at += kBlock) {
    const int64_t n = std::min(kBlock, size - at);
    for (int row = 0; row < kHadamardOrder; ++row) {
      std::fill_n(mixed[row], n, T(0));
      for (int col = 0; col < kHadamardOrder; ++col) {
        const uint32_t bit = kHadamard28[row] >> (kHadamardOrder - 1 - col) & 1;
        const T sign = bit != 0 ? T(1) : T(-1);
        const T* from = lines + col * size + at;
        for (int64_t j = 0; j < n; ++j) {
          mixed[row][j] += sign * from[j];
        }
      }
    }
    for (int row = 0; row < kHadamardOrder; ++row) {
      std::copy_n(mixed[row], n, lines + row * size + at);
    }
  }
}

}  // namespace internal

// The orthonormal transform of 2^log2_vec_size numbers, in Sylvester's order.
template <typename T>
void fast_hadamard_transform(T* vec, int log2_vec_size) {
  const int64_t size = int64_t{1} << log2_vec_size;
  for (int64_t step = 1; step < size; step *= 2) {
    for (int64_t i = 0; i < size; i += 2 * step) {
      T* low = vec + i;
      T* high = low + step;
      for (int64_t j = 0; j < step; ++j) {
        const T sum = low[j] + high[j];
        high[j] = low[j] - high[j];
        low[j] = sum;
      }
    }
  }
  const T norm = static_cast<T>(1.0 / std::sqrt(static_cast<double>(size)));
  for (int64_t i = 0; i < size; ++i) {
    vec[i] *= norm;
  }
}

// Of 28 * 2^log2_vec_size numbers: the transform of each 2^log2_vec_size, then, of 28 each, the
// product with a matrix of +-1 that is not normalized: results are sqrt(28) times as long.
template <typename T>
void fast_hadamard_transform_28N(T* vec, int log2_vec_size) {
  const int64_t size = int64_t{1} << log2_vec_size;
  for (int i = 0; i < internal::kHadamardOrder; ++i) {
    fast_hadamard_transform(vec + i * size, log2_vec_size);
  }
  internal::mix_columns(vec, size);
}

}  // namespace executorch
