// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the quantized library without a context, for programs that call them as functions.
// What a kernel refuses ends the program, as there is no context to say so. Link quantized_kernels.
#pragma once

#include <optional>
#include <tuple>

#include <executorch/kernels/quantized/CustomOpsNativeFunctions.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::kernels {
using OneTensor = ::executorch::aten::Tensor&;
using TwoTensors = std::tuple<::executorch::aten::Tensor&, ::executorch::aten::Tensor&>;
}  // namespace executorch::kernels

// The two kernels of an embedding whose weights are `width`.
#define ET_QUANTIZED_EMBEDDING(X, width)                                                           \
  X(::executorch::kernels::OneTensor, quantized_embedding_##width##_out,                           \
    (const Tensor& weight, const Tensor& weight_scales,                                            \
     const std::optional<Tensor>& weight_zero_points, int64_t weight_quant_min,                    \
     int64_t weight_quant_max, const Tensor& indices, Tensor& out),                                \
    (weight, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max, indices, out)) \
  X(::executorch::kernels::OneTensor, quantized_embedding_##width##_dtype_out,                     \
    (const Tensor& weight, const Tensor& weight_scales,                                            \
     const std::optional<Tensor>& weight_zero_points, int64_t weight_quant_min,                    \
     int64_t weight_quant_max, const Tensor& indices, std::optional<ScalarType> dtype,             \
     Tensor& out),                                                                                 \
    (weight, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max, indices,       \
     dtype, out))

// X(result, name, (parameters), (their names)) for each kernel.
#define ET_QUANTIZED_KERNELS(X)                                                                   \
  X(::executorch::kernels::OneTensor, quantized_add_out,                                          \
    (const Tensor& a, double a_scale, int64_t a_zero_point, int64_t a_quant_min,                  \
     int64_t a_quant_max, const Tensor& b, double b_scale, int64_t b_zero_point,                  \
     int64_t b_quant_min, int64_t b_quant_max, double out_scale, int64_t out_zero_point,          \
     int64_t out_quant_min, int64_t out_quant_max, Tensor& out),                                  \
    (a, a_scale, a_zero_point, a_quant_min, a_quant_max, b, b_scale, b_zero_point, b_quant_min,   \
     b_quant_max, out_scale, out_zero_point, out_quant_min, out_quant_max, out))                  \
  X(::executorch::kernels::TwoTensors, choose_qparams_tensor_out,                                 \
    (const Tensor& input, int64_t quant_min, int64_t quant_max, double eps, ScalarType dtype,     \
     Tensor& scale_out, Tensor& zero_point_out),                                                  \
    (input, quant_min, quant_max, eps, dtype, scale_out, zero_point_out))                         \
  X(::executorch::kernels::TwoTensors, choose_qparams_per_token_asymmetric_out,                   \
    (const Tensor& input, ScalarType dtype, Tensor& scale_out, Tensor& zero_point_out),           \
    (input, dtype, scale_out, zero_point_out))                                                    \
  X(::executorch::kernels::OneTensor, quantize_per_tensor_out,                                    \
    (const Tensor& input, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max, \
     ScalarType dtype, Tensor& out),                                                              \
    (input, scale, zero_point, quant_min, quant_max, dtype, out))                                 \
  X(::executorch::kernels::OneTensor, quantize_per_tensor_tensor_args_out,                        \
    (const Tensor& input, const Tensor& scale, const Tensor& zero_point, int64_t quant_min,       \
     int64_t quant_max, ScalarType dtype, Tensor& out),                                           \
    (input, scale, zero_point, quant_min, quant_max, dtype, out))                                 \
  X(::executorch::kernels::OneTensor, quantize_per_channel_out,                                   \
    (const Tensor& input, const Tensor& scales, const Tensor& zero_points, int64_t axis,          \
     int64_t quant_min, int64_t quant_max, ScalarType dtype, Tensor& out),                        \
    (input, scales, zero_points, axis, quant_min, quant_max, dtype, out))                         \
  X(::executorch::kernels::OneTensor, quantize_per_token_out,                                     \
    (const Tensor& input, const Tensor& scales, const Tensor& zero_points, int64_t quant_min,     \
     int64_t quant_max, ScalarType dtype, Tensor& out),                                           \
    (input, scales, zero_points, quant_min, quant_max, dtype, out))                               \
  X(::executorch::kernels::OneTensor, dequantize_per_tensor_out,                                  \
    (const Tensor& input, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max, \
     ScalarType dtype, std::optional<ScalarType> out_dtype, Tensor& out),                         \
    (input, scale, zero_point, quant_min, quant_max, dtype, out_dtype, out))                      \
  X(::executorch::kernels::OneTensor, dequantize_per_tensor_tensor_args_out,                      \
    (const Tensor& input, const Tensor& scale, const Tensor& zero_point, int64_t quant_min,       \
     int64_t quant_max, ScalarType dtype, std::optional<ScalarType> out_dtype, Tensor& out),      \
    (input, scale, zero_point, quant_min, quant_max, dtype, out_dtype, out))                      \
  X(::executorch::kernels::OneTensor, dequantize_per_channel_out,                                 \
    (const Tensor& input, const Tensor& scales, const std::optional<Tensor>& zero_points,         \
     int64_t axis, int64_t quant_min, int64_t quant_max, ScalarType dtype,                        \
     std::optional<ScalarType> out_dtype, Tensor& out),                                           \
    (input, scales, zero_points, axis, quant_min, quant_max, dtype, out_dtype, out))              \
  X(::executorch::kernels::OneTensor, dequantize_per_token_out,                                   \
    (const Tensor& input, const Tensor& scales, const Tensor& zero_points, int64_t quant_min,     \
     int64_t quant_max, ScalarType dtype, ScalarType output_dtype, Tensor& out),                  \
    (input, scales, zero_points, quant_min, quant_max, dtype, output_dtype, out))                 \
  X(::executorch::kernels::OneTensor, quantized_mixed_mm_out,                                     \
    (const Tensor& input, const Tensor& weight, const Tensor& weight_scales,                      \
     const std::optional<Tensor>& weight_zero_points, Tensor& out),                               \
    (input, weight, weight_scales, weight_zero_points, out))                                      \
  X(::executorch::kernels::OneTensor, quantized_mixed_linear_out,                                 \
    (const Tensor& input, const Tensor& weight, const Tensor& weight_scales,                      \
     const std::optional<Tensor>& weight_zero_points, std::optional<ScalarType> dtype,            \
     Tensor& out),                                                                                \
    (input, weight, weight_scales, weight_zero_points, dtype, out))                               \
  ET_QUANTIZED_EMBEDDING(X, byte)                                                                 \
  ET_QUANTIZED_EMBEDDING(X, 4bit)                                                                 \
  ET_QUANTIZED_EMBEDDING(X, 2bit)

namespace torch::executor::native {

using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;

#define ET_DECLARE_WITHOUT_CONTEXT(Result, name, parameters, names) Result name parameters;
ET_QUANTIZED_KERNELS(ET_DECLARE_WITHOUT_CONTEXT)
#undef ET_DECLARE_WITHOUT_CONTEXT

}  // namespace torch::executor::native
