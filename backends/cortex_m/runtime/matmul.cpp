// SPDX-License-Identifier: BSD-3-Clause
// Rows times rows: linear, whose second operand is weights, and products of batches of matrices.
#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/checks.h>
#include <executorch/backends/cortex_m/runtime/dot.h>
#include <executorch/backends/cortex_m/runtime/fixed_point.h>

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;
namespace runtime = executorch::runtime;

namespace {

int32_t sum_of(const int8_t* values, size_t count) {
  int32_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += values[i];
  }
  return sum;
}

bool is_int32_of(const Tensor& tensor, ssize_t count) {
  return tensor.scalar_type() == ScalarType::Int && tensor.numel() == count;
}

// Gives `out` the sizes of `input` with `columns` for the last.
bool resize_to_columns(const Tensor& input, ssize_t columns, Tensor& out) {
  executorch::aten::SizesType sizes[16];
  const auto rank = static_cast<size_t>(input.dim());
  if (rank == 0 || rank > 16) {
    return false;
  }
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = static_cast<executorch::aten::SizesType>(input.size(static_cast<ssize_t>(i)));
  }
  sizes[rank - 1] = static_cast<executorch::aten::SizesType>(columns);
  return runtime::resize_tensor(out, {sizes, rank}) == runtime::Error::Ok;
}

}  // namespace

// With kernel_sum the input's offset and the bias are in it already.
Tensor& quantized_linear_out(KernelRuntimeContext& context, const Tensor& input,
                             const Tensor& weights, const std::optional<Tensor>& bias,
                             const std::optional<Tensor>& kernel_sum, int64_t input_offset,
                             int64_t filter_offset, int64_t output_offset,
                             executorch::aten::ArrayRef<int64_t> requantize_multipliers,
                             executorch::aten::ArrayRef<int64_t> requantize_shifts,
                             int64_t activation_max, int64_t activation_min, Tensor& out) {
  CORTEX_M_CHECK(is_int8(input) && is_int8(weights) && is_int8(out) && weights.dim() == 2 &&
                     input.dim() > 0 && input.size(input.dim() - 1) == weights.size(1),
                 "quantized_linear: expected int8 of [..., K] and weights of [N, K]");
  const ssize_t columns = weights.size(0);
  CORTEX_M_CHECK(is_contiguous(input) && is_contiguous(weights) && is_contiguous(out) &&
                     resize_to_columns(input, columns, out),
                 "quantized_linear: expected contiguous tensors and an output of [..., N]");
  CORTEX_M_CHECK((!bias.has_value() || is_int32_of(*bias, columns)) &&
                     (!kernel_sum.has_value() || is_int32_of(*kernel_sum, columns)),
                 "quantized_linear: expected N values of int32 for bias and kernel_sum");
  CORTEX_M_CHECK(requantize_multipliers.size() >= 1 && requantize_shifts.size() >= 1 &&
                     is_shift(requantize_shifts[0]) && are_limits(activation_min, activation_max) &&
                     is_offset(input_offset) && is_offset(filter_offset),
                 "quantized_linear: expected a shift from -31 to 31, limits and offsets of int8");
  const auto count = static_cast<size_t>(weights.size(1));
  const ssize_t rows = count == 0 ? 0 : input.numel() / static_cast<ssize_t>(count);
  const Scale scale(requantize_multipliers[0], requantize_shifts[0]);
  const Limits limits{static_cast<int32_t>(activation_min), static_cast<int32_t>(activation_max)};
  const int32_t* biases = kernel_sum.has_value() ? kernel_sum->const_data_ptr<int32_t>()
                          : bias.has_value()     ? bias->const_data_ptr<int32_t>()
                                                 : nullptr;
  const auto x_offset = kernel_sum.has_value() ? 0 : static_cast<int32_t>(input_offset);
  const auto w_offset = static_cast<int32_t>(filter_offset);
  const int8_t* x = input.const_data_ptr<int8_t>();
  const int8_t* w = weights.const_data_ptr<int8_t>();
  int8_t* to = out.mutable_data_ptr<int8_t>();
  for (ssize_t row = 0; row < rows; ++row, x += count) {
    const int32_t of_row =
        w_offset == 0 ? 0 : w_offset * (sum_of(x, count) + x_offset * static_cast<int32_t>(count));
    for (ssize_t column = 0; column < columns; ++column) {
      const int32_t sum = dot(x, w + column * static_cast<ssize_t>(count), count, x_offset);
      const int32_t start = biases == nullptr ? of_row : of_row + biases[column];
      *to++ = limits(scale(sum + start) + static_cast<int32_t>(output_offset));
    }
  }
  return out;
}

// The arguments that are called zero points carry what is added to the values: the negated ones.
Tensor& quantized_batch_matmul_out(KernelRuntimeContext& context, const Tensor& lhs,
                                   int64_t lhs_zero_point, const Tensor& rhs_transposed,
                                   int64_t rhs_zero_point, int64_t output_zero_point,
                                   int64_t output_multiplier, int64_t output_shift,
                                   const Tensor& scratch, Tensor& out) {
  (void)scratch;  // our kernels need none
  CORTEX_M_CHECK(is_int8(lhs) && is_int8(rhs_transposed) && is_int8(out) && lhs.dim() == 3 &&
                     rhs_transposed.dim() == 3 && lhs.size(0) == rhs_transposed.size(0) &&
                     lhs.size(2) == rhs_transposed.size(2),
                 "quantized_batch_matmul: expected int8 of [B, M, K] and [B, N, K]");
  const ssize_t rows = lhs.size(1), columns = rhs_transposed.size(1);
  CORTEX_M_CHECK(is_contiguous(lhs) && is_contiguous(rhs_transposed) && is_contiguous(out) &&
                     resize_to_columns(lhs, columns, out),
                 "quantized_batch_matmul: expected contiguous tensors and an output of [B, M, N]");
  CORTEX_M_CHECK(is_shift(output_shift) && is_offset(lhs_zero_point) && is_offset(rhs_zero_point),
                 "quantized_batch_matmul: expected a shift from -31 to 31 and offsets of int8");
  const auto count = static_cast<size_t>(lhs.size(2));
  const Scale scale(output_multiplier, output_shift);
  const auto left_offset = static_cast<int32_t>(lhs_zero_point);
  const auto right_offset = static_cast<int32_t>(rhs_zero_point);
  const int8_t* left = lhs.const_data_ptr<int8_t>();
  const int8_t* right = rhs_transposed.const_data_ptr<int8_t>();
  int8_t* to = out.mutable_data_ptr<int8_t>();
  for (ssize_t batch = 0; batch < lhs.size(0); ++batch) {
    for (ssize_t row = 0; row < rows; ++row, left += count) {
      const int32_t of_row =
          right_offset * (sum_of(left, count) + left_offset * static_cast<int32_t>(count));
      for (ssize_t column = 0; column < columns; ++column) {
        const int32_t sum =
            dot(left, right + column * static_cast<ssize_t>(count), count, left_offset);
        *to++ = Limits{}(scale(sum + of_row) + static_cast<int32_t>(output_zero_point));
      }
    }
    right += columns * static_cast<ssize_t>(count);
  }
  return out;
}

}  // namespace cortex_m::native
