// SPDX-License-Identifier: BSD-3-Clause
// Embeddings of 2, 4 and 8 bits, the width as an argument. Link quantized_kernels.
#pragma once

#include <optional>

#include <executorch/kernels/quantized/NativeFunctions.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

/// Another width fails the context with InvalidArgument.
inline Tensor& quantized_embedding_xbit_out(KernelRuntimeContext& context, const Tensor& weight,
                                            const Tensor& weight_scales,
                                            const std::optional<Tensor>& opt_weight_zero_points,
                                            int64_t weight_quant_min, int64_t weight_quant_max,
                                            const Tensor& indices, Tensor& out, int weight_nbit) {
  ET_KERNEL_CHECK_MSG(context, weight_nbit == 2 || weight_nbit == 4 || weight_nbit == 8,
                      InvalidArgument, out, "an embedding of %d bits, expected 2, 4 or 8",
                      weight_nbit);
  if (weight_nbit == 2) {
    return quantized_embedding_2bit_out(context, weight, weight_scales, opt_weight_zero_points,
                                        weight_quant_min, weight_quant_max, indices, out);
  }
  if (weight_nbit == 4) {
    return quantized_embedding_4bit_out(context, weight, weight_scales, opt_weight_zero_points,
                                        weight_quant_min, weight_quant_max, indices, out);
  }
  return quantized_embedding_byte_out(context, weight, weight_scales, opt_weight_zero_points,
                                      weight_quant_min, weight_quant_max, indices, out);
}
inline Tensor& quantized_embedding_xbit_out(const Tensor& weight, const Tensor& weight_scales,
                                            const std::optional<Tensor>& opt_weight_zero_points,
                                            int64_t weight_quant_min, int64_t weight_quant_max,
                                            const Tensor& indices, Tensor& out, int weight_nbit) {
  KernelRuntimeContext context;
  quantized_embedding_xbit_out(context, weight, weight_scales, opt_weight_zero_points,
                               weight_quant_min, weight_quant_max, indices, out, weight_nbit);
  ET_CHECK_MSG(context.failure_state() == Error::Ok, "the embedding failed");
  return out;
}

inline Tensor& quantized_embedding_xbit_dtype_out(
    KernelRuntimeContext& context, const Tensor& weight, const Tensor& weight_scales,
    const std::optional<Tensor>& opt_weight_zero_points, int64_t weight_quant_min,
    int64_t weight_quant_max, const Tensor& indices, std::optional<ScalarType> out_dtype,
    Tensor& out, int weight_nbit) {
  ET_KERNEL_CHECK_MSG(context, weight_nbit == 2 || weight_nbit == 4 || weight_nbit == 8,
                      InvalidArgument, out, "an embedding of %d bits, expected 2, 4 or 8",
                      weight_nbit);
  if (weight_nbit == 2) {
    return quantized_embedding_2bit_dtype_out(context, weight, weight_scales,
                                              opt_weight_zero_points, weight_quant_min,
                                              weight_quant_max, indices, out_dtype, out);
  }
  if (weight_nbit == 4) {
    return quantized_embedding_4bit_dtype_out(context, weight, weight_scales,
                                              opt_weight_zero_points, weight_quant_min,
                                              weight_quant_max, indices, out_dtype, out);
  }
  return quantized_embedding_byte_dtype_out(context, weight, weight_scales, opt_weight_zero_points,
                                            weight_quant_min, weight_quant_max, indices, out_dtype,
                                            out);
}
inline Tensor& quantized_embedding_xbit_dtype_out(
    const Tensor& weight, const Tensor& weight_scales,
    const std::optional<Tensor>& opt_weight_zero_points, int64_t weight_quant_min,
    int64_t weight_quant_max, const Tensor& indices, std::optional<ScalarType> out_dtype,
    Tensor& out, int weight_nbit) {
  KernelRuntimeContext context;
  quantized_embedding_xbit_dtype_out(context, weight, weight_scales, opt_weight_zero_points,
                                     weight_quant_min, weight_quant_max, indices, out_dtype, out,
                                     weight_nbit);
  ET_CHECK_MSG(context.failure_state() == Error::Ok, "the embedding failed");
  return out;
}

}  // namespace native
}  // namespace executor
}  // namespace torch
