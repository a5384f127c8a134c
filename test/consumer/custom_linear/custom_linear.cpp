// SPDX-License-Identifier: BSD-3-Clause
// The documents' custom operator: its kernel, and its registration with the runtime.
#include "custom_linear.h"

#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>

Tensor& custom_linear_out(const Tensor& weight, const Tensor& input,
                          const std::optional<Tensor>& bias, Tensor& out) {
  const auto rows = input.size(0);
  const auto inner = input.size(1);
  const auto columns = weight.size(1);
  const float* a = input.const_data_ptr<float>();
  const float* b = weight.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < rows; ++i) {
    for (ssize_t j = 0; j < columns; ++j) {
      float sum = bias.has_value() ? bias->const_data_ptr<float>()[j] : 0;
      for (ssize_t k = 0; k < inner; ++k) {
        sum += a[i * inner + k] * b[k * columns + j];
      }
      to[i * columns + j] = sum;
    }
  }
  return out;
}

EXECUTORCH_LIBRARY(myop, "custom_linear.out", custom_linear_out);
