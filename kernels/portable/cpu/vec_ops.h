// SPDX-License-Identifier: BSD-3-Clause
// Loops over plain arrays, for kernels of one's own. Arrays of inputs may not overlap the output
// unless they are the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace torch {
namespace executor {

/// The smallest and the largest of `size` > 0 numbers.
inline float vec_minf(const float* x, size_t size) {
  return *std::min_element(x, x + size);
}
inline float vec_maxf(const float* x, size_t size) {
  return *std::max_element(x, x + size);
}

/// z = x + y
inline void vec_addf(float* z, const float* x, const float* y, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    z[i] = x[i] + y[i];
  }
}

/// y = x * scale
inline void vec_scalef(float* y, const float* x, float scale, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    y[i] = x[i] * scale;
  }
}

/// z[m][p] = x[m][n] y[n][p], row-major.
template <typename T, typename U = T>
inline void vec_matmul(T* z, const U* x, const U* y, int64_t m, int64_t n, int64_t p) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        sum += x[i * n + k] * y[k * p + j];
      }
      z[i * p + j] = sum;
    }
  }
}

/// The same with 8-bit weights; s[k] scales row k of y.
template <typename T, typename U = T, typename V = U>
inline void vec_quantized_matmul_int8(T* z, const U* x, const int8_t* y, const V* s, int64_t m,
                                      int64_t n, int64_t p) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        sum += x[i * n + k] * static_cast<U>(y[k * p + j]) * s[k];
      }
      z[i * p + j] = sum;
    }
  }
}

/// z[m][p] = x[m][n] (y[p][n] scaled), transposed; s[j][k / g] scales groups of g weights of row j.
template <typename T, typename U = T, typename V = U>
inline void vec_quantized_matmul_transb_int8(T* z, const U* x, const int8_t* y, const V* s,
                                             int64_t m, int64_t n, int64_t p, int64_t g) {
  const int64_t groups = (n + g - 1) / g;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      T sum = 0;
      for (int64_t first = 0; first < n; first += g) {
        T partial = 0;
        for (int64_t k = first; k < std::min(first + g, n); ++k) {
          partial += x[i * n + k] * static_cast<U>(y[j * n + k]);
        }
        sum += partial * s[j * groups + first / g];
      }
      z[i * p + j] = sum;
    }
  }
}

/// out[m][p] = beta self[m][p] + alpha mat1[m][n] mat2[n][p]; with beta 0, self is not read.
template <typename T, typename U = T>
inline void vec_addmm(T* out_data, const T* self_data, const T* mat1_data, const T* mat2_data,
                      int64_t m, int64_t n, int64_t p, U beta, U alpha) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        sum += mat1_data[i * n + k] * mat2_data[k * p + j];
      }
      const int64_t at = i * p + j;
      out_data[at] = static_cast<T>(
          beta == U(0) ? sum * alpha : static_cast<T>(self_data[at] * beta + sum * alpha));
    }
  }
}

template <typename T>
inline float reduce_add(const T* x, size_t size) {
  float sum = 0;
  for (size_t i = 0; i < size; ++i) {
    sum += x[i];
  }
  return sum;
}

/// The sum of squares.
template <typename T>
inline float vec_powerf(const T* x, size_t size) {
  float sum = 0;
  for (size_t i = 0; i < size; ++i) {
    sum += x[i] * x[i];
  }
  return sum;
}

/// y = exp(x) / sum(exp(x)) for n > 0 numbers, without overflow.
template <typename T, typename U = T>
inline void vec_softmax(T* y, const U* x, int n) {
  const U largest = *std::max_element(x, x + n);
  T sum = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = static_cast<T>(std::exp(x[i] - largest));
    sum += y[i];
  }
  for (int i = 0; i < n; ++i) {
    y[i] /= sum;
  }
}

/// y = round(x * scale) + zero_point, ties to even, clamped to 8 bits: `scale` is the inverse of
/// the quantization step.
inline void quantize_i8_f32(int8_t* y, const float* x, float scale, int32_t zero_point,
                            size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const float value = std::nearbyint(x[i] * scale + static_cast<float>(zero_point));
    y[i] = static_cast<int8_t>(
        std::min(std::max(value, static_cast<float>(std::numeric_limits<int8_t>::min())),
                 static_cast<float>(std::numeric_limits<int8_t>::max())));
  }
}

/// y = scale * (x - zero_point)
inline void dequantize_i8_f32(float* y, const int8_t* x, float scale, int32_t zero_point,
                              size_t size) {
  for (size_t i = 0; i < size; ++i) {
    y[i] = scale * static_cast<float>(x[i] - zero_point);
  }
}

}  // namespace executor
}  // namespace torch
