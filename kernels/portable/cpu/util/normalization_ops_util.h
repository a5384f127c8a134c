// SPDX-License-Identifier: BSD-3-Clause
// Checks and a plain loop of normalizations.
#pragma once

#include <cmath>
#include <optional>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

/// Normalizes M rows of N elements: out = (in - mean) * rstd * weight + bias; null weight and bias
/// count as 1 and 0. Sums in double.
template <typename CTYPE>
void layer_norm_scalar(const CTYPE* input_data, const CTYPE* weight_data, const CTYPE* bias_data,
                       CTYPE* out_data, CTYPE* mean_data, CTYPE* rstd_data, size_t M, size_t N,
                       float eps) {
  for (size_t i = 0; i < M; ++i, input_data += N, out_data += N) {
    double sum = 0;
    double squares = 0;
    for (size_t j = 0; j < N; ++j) {
      sum += static_cast<double>(input_data[j]);
    }
    const double mean = sum / static_cast<double>(N);
    for (size_t j = 0; j < N; ++j) {
      const double difference = static_cast<double>(input_data[j]) - mean;
      squares += difference * difference;
    }
    const double rstd =
        1.0 / std::sqrt(squares / static_cast<double>(N) + static_cast<double>(eps));
    for (size_t j = 0; j < N; ++j) {
      const double weight = weight_data == nullptr ? 1.0 : static_cast<double>(weight_data[j]);
      const double bias = bias_data == nullptr ? 0.0 : static_cast<double>(bias_data[j]);
      out_data[j] = static_cast<CTYPE>(
          static_cast<float>((static_cast<double>(input_data[j]) - mean) * rstd * weight + bias));
    }
    mean_data[i] = static_cast<CTYPE>(static_cast<float>(mean));
    rstd_data[i] = static_cast<CTYPE>(static_cast<float>(rstd));
  }
}

namespace internal {
inline bool is_channel_vector(const std::optional<Tensor>& tensor, const Tensor& in) {
  return !tensor.has_value() ||
         (tensors_have_same_dtype(in, *tensor) && tensor_is_rank(*tensor, 1) &&
          tensors_have_same_size_at_dims(*tensor, 0, in, in.dim() >= 2 ? 1 : 0));
}
}  // namespace internal

inline bool check_batch_norm_args(const Tensor& in, const std::optional<Tensor>& weight,
                                  const std::optional<Tensor>& bias,
                                  const std::optional<Tensor>& running_mean,
                                  const std::optional<Tensor>& running_var, double momentum,
                                  double eps, Tensor& out, Tensor& mean_out, Tensor& var_out) {
  (void)momentum;  // any numbers will do
  (void)eps;
  return tensors_have_same_dtype(in, out) && tensors_have_same_dtype(in, mean_out, var_out) &&
         tensor_has_rank_greater_or_equal_to(in, 1) && internal::is_channel_vector(weight, in) &&
         internal::is_channel_vector(bias, in) && internal::is_channel_vector(running_mean, in) &&
         internal::is_channel_vector(running_var, in);
}

inline bool check_layer_norm_args(const Tensor& in, ArrayRef<int64_t> normalized_shape,
                                  const std::optional<Tensor>& weight,
                                  const std::optional<Tensor>& bias, Tensor& out, Tensor& mean_out,
                                  Tensor& rstd_out) {
  const size_t count = normalized_shape.size();
  ET_CHECK_OR_RETURN_FALSE(count >= 1, "no dimension to normalize over");
  if (!tensor_has_rank_greater_or_equal_to(in, count) || !tensors_have_same_dtype(in, out) ||
      !tensors_have_same_dtype(in, mean_out, rstd_out)) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = in.sizes()[static_cast<size_t>(in.dim()) - count + i];
    ET_CHECK_OR_RETURN_FALSE(size == normalized_shape[i],
                             "size %" PRId64 ", to be normalized as %" PRId64, size,
                             normalized_shape[i]);
  }
  for (const std::optional<Tensor>* parameter : {&weight, &bias}) {
    if (!parameter->has_value()) {
      continue;
    }
    if (!tensors_have_same_dtype(in, **parameter) || !tensor_is_rank(**parameter, count)) {
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      ET_CHECK_OR_RETURN_FALSE((*parameter)->sizes()[i] == normalized_shape[i],
                               "a weight or bias of another shape");
    }
  }
  return true;
}
/// Of mean and rstd: 1 in the place of what is normalized over.
inline void get_layer_norm_out_target_size(const Tensor& in, ArrayRef<int64_t> normalized_shape,
                                           Tensor::SizesType* mean_rstd_sizes,
                                           size_t* mean_rstd_ndim) {
  *mean_rstd_ndim = static_cast<size_t>(in.dim());
  for (size_t d = 0; d < *mean_rstd_ndim; ++d) {
    mean_rstd_sizes[d] = d < *mean_rstd_ndim - normalized_shape.size() ? in.sizes()[d] : 1;
  }
}

inline bool check_group_norm_args(const Tensor& in, const std::optional<Tensor>& weight,
                                  const std::optional<Tensor>& bias, int64_t N, int64_t C,
                                  int64_t HxW, int64_t group, Tensor& out, Tensor& mean_out,
                                  Tensor& rstd_out) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() >= 2 && in.size(0) == N && in.size(1) == C,
                           "expected an input of %" PRId64 " by %" PRId64 " and more", N, C);
  ET_CHECK_OR_RETURN_FALSE(in.numel() == N * C * HxW, "%zd elements, expected %" PRId64,
                           ssize_t(in.numel()), N * C * HxW);
  ET_CHECK_OR_RETURN_FALSE(group > 0 && C % group == 0,
                           "%" PRId64 " channels in %" PRId64 " groups", C, group);
  return internal::is_channel_vector(weight, in) && internal::is_channel_vector(bias, in) &&
         tensors_have_same_dtype(in, out) && tensors_have_same_dtype(in, mean_out, rstd_out);
}

}  // namespace executor
}  // namespace torch
