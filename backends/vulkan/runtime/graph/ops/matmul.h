// SPDX-License-Identifier: BSD-3-Clause
// Matmuls, for several families: matmul.glsl's parameters.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/call.h>

#include <limits>

namespace executorch::backends::vulkan {

enum class WeightFormat : int32_t {
  kNumbers = 0,
  kInt8 = 1,        // scaled by column
  kHighNibble = 2,  // 4 bits, the even one high, scaled by column
  kLowNibble = 3,   // 4 bits, the even one low, scaled by group and column
};

/// y[b, m, n] = alpha * sum over k of a[b, m, k] * w[b, k, n] + beta * bias[b, m, n], within
/// limits. Strides in elements: batch, row, column (of a: batch, row, k; of w: batch, k, column).
struct Matmul {
  const Tensor* a = nullptr;
  const Tensor* w = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* y = nullptr;
  int64_t batches = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t a_strides[3] = {};
  int64_t w_strides[3] = {};
  int64_t y_strides[3] = {};
  int64_t bias_strides[3] = {};
  float alpha = 1;
  float beta = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  WeightFormat format = WeightFormat::kNumbers;
  int64_t weight_row = 0;  // bytes of a row of packed weights
  const Tensor* scales = nullptr;
  int64_t group_size = 1;
  int64_t scales_stride = 0;
  /// Of rows of `a` that are rounded to 8 bits first; null: they are not.
  const Tensor* row_scales = nullptr;
  const Tensor* row_zeros = nullptr;
};

ET_NODISCARD runtime::Error multiply(Call& call, const Matmul& product);

}  // namespace executorch::backends::vulkan
