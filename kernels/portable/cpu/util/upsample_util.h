// SPDX-License-Identifier: BSD-3-Clause
// Checks and the arithmetic of positions of resizing images.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

using ::executorch::aten::OptionalArrayRef;

/// Exactly one of sizes and factors is given, with two entries, both positive.
inline bool check_upsample_2d_common_args(const Tensor& in,
                                          const OptionalArrayRef<int64_t>& output_size,
                                          const OptionalArrayRef<double>& scale_factors,
                                          Tensor& out) {
  if (!tensors_have_same_dtype(in, out) || !tensor_is_rank(in, 4) || !tensor_is_rank(out, 4) ||
      !tensor_is_default_or_channels_last_dim_order(in) ||
      !tensor_is_default_or_channels_last_dim_order(out)) {
    return false;
  }
  ET_CHECK_OR_RETURN_FALSE(output_size.has_value() != scale_factors.has_value(),
                           "expected sizes or factors, and not both");
  if (output_size.has_value()) {
    ET_CHECK_OR_RETURN_FALSE(
        output_size->size() == 2 && (*output_size)[0] > 0 && (*output_size)[1] > 0,
        "expected two positive sizes");
  } else {
    ET_CHECK_OR_RETURN_FALSE(
        scale_factors->size() == 2 && (*scale_factors)[0] > 0 && (*scale_factors)[1] > 0,
        "expected two positive factors");
  }
  return true;
}
inline bool check_upsample_nearest2d_args(const Tensor& in,
                                          const OptionalArrayRef<int64_t>& output_size,
                                          const OptionalArrayRef<double>& scale_factors,
                                          Tensor& out) {
  return check_upsample_2d_common_args(in, output_size, scale_factors, out);
}
inline bool check_upsample_bilinear2d_args(const Tensor& in,
                                           const OptionalArrayRef<int64_t>& output_size,
                                           const bool align_corners,
                                           const OptionalArrayRef<double>& scale_factors,
                                           Tensor& out) {
  (void)align_corners;  // either value will do
  return check_upsample_2d_common_args(in, output_size, scale_factors, out);
}

/// Resizes `out`, and gives the factors that the sizes stand for.
ET_NODISCARD inline Error resize_upsample_2d(const Tensor& in,
                                             const OptionalArrayRef<int64_t>& output_size,
                                             const OptionalArrayRef<double>& scale_factors,
                                             double& scale_h_out, double& scale_w_out,
                                             Tensor& out) {
  Tensor::SizesType sizes[4] = {static_cast<Tensor::SizesType>(in.size(0)),
                                static_cast<Tensor::SizesType>(in.size(1)), 0, 0};
  double* const scales[2] = {&scale_h_out, &scale_w_out};
  for (size_t i = 0; i < 2; ++i) {
    const double size = static_cast<double>(in.size(static_cast<ssize_t>(i + 2)));
    if (scale_factors.has_value()) {
      *scales[i] = (*scale_factors)[i];
      sizes[i + 2] = static_cast<Tensor::SizesType>(size * *scales[i]);
    } else {
      ET_CHECK_OR_RETURN_ERROR(output_size.has_value(), InvalidArgument,
                               "expected sizes or factors");
      sizes[i + 2] = static_cast<Tensor::SizesType>((*output_size)[i]);
      *scales[i] = static_cast<double>(sizes[i + 2]) / size;
    }
    ET_CHECK_OR_RETURN_ERROR(sizes[i + 2] > 0, InvalidArgument, "an image of no size");
  }
  return resize_tensor(out, {sizes, 4});
}

/// How far one step in the output goes in the input.
template <typename T>
inline T compute_scales_value(const std::optional<double>& scale, int64_t input_size,
                              int64_t output_size) {
  return scale.has_value() && *scale > 0.0 ? static_cast<T>(1.0 / *scale)
                                           : static_cast<T>(input_size) / output_size;
}
template <typename T>
inline T area_pixel_compute_scale(int64_t input_size, int64_t output_size, bool align_corners,
                                  const std::optional<double>& scale) {
  if (align_corners) {
    return output_size > 1 ? static_cast<T>(input_size - 1) / (output_size - 1) : static_cast<T>(0);
  }
  return compute_scales_value<T>(scale, input_size, output_size);
}

/// Where an output pixel lies in the input.
template <typename T>
inline T area_pixel_compute_source_index(T scale, int64_t dst_index, bool align_corners,
                                         bool cubic) {
  if (align_corners) {
    return scale * dst_index;
  }
  const T position = scale * (dst_index + static_cast<T>(0.5)) - static_cast<T>(0.5);
  return !cubic && position < static_cast<T>(0) ? static_cast<T>(0) : position;
}

/// The pixel below a position, and how far the position lies above it, in [0, 1].
template <typename T>
inline void guard_index_and_lambda(const T& real_input_index, const int64_t& input_size,
                                   int64_t& input_index, T& lambda) {
  input_index = std::min(static_cast<int64_t>(std::floor(real_input_index)), input_size - 1);
  lambda = std::min(std::max(real_input_index - input_index, static_cast<T>(0)), static_cast<T>(1));
}

/// The two input pixels of an output pixel, and their weights.
template <typename T>
inline void compute_source_index_and_lambda(int64_t& input_index0, int64_t& input_index1,
                                            T& lambda0, T& lambda1, T ratio, int64_t output_index,
                                            int64_t input_size, int64_t output_size,
                                            bool align_corners) {
  if (output_size == input_size) {
    input_index0 = output_index;
    input_index1 = output_index;
    lambda0 = static_cast<T>(1);
    lambda1 = static_cast<T>(0);
    return;
  }
  const T position = area_pixel_compute_source_index<T>(ratio, output_index, align_corners,
                                                        /*cubic=*/false);
  guard_index_and_lambda(position, input_size, input_index0, lambda1);
  input_index1 = input_index0 + (input_index0 < input_size - 1 ? 1 : 0);
  lambda0 = static_cast<T>(1) - lambda1;
}

inline int64_t nearest_neighbor_compute_source_index(const float scale, int64_t dst_index,
                                                     int64_t input_size) {
  return std::min(static_cast<int64_t>(std::floor(static_cast<float>(dst_index) * scale)),
                  input_size - 1);
}

}  // namespace executor
}  // namespace torch
