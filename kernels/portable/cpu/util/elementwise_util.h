// SPDX-License-Identifier: BSD-3-Clause
// out[i] = compute(a[i], b[i], ...) in a type of the kernel's choice: inputs broadcast to the
// output, elements are converted on the way in and out.
//
//   apply_bitensor_elementwise_fn<float, op_name, SupportedTensorDtypes::REALHBBF16>(
//       [](float x, float y) { return x + y; }, ctx, a, SupportedTensorDtypes::REALHBBF16, b,
//       SupportedTensorDtypes::REALHBBF16, out);
//
// A tensor of another dtype fails the context with InvalidArgument, and nothing is written.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <executorch/kernels/portable/cpu/util/broadcast_indexes_range.h>
#include <executorch/kernels/portable/cpu/util/broadcast_util.h>
#include <executorch/kernels/portable/cpu/util/delinearize_index.h>
#include <executorch/kernels/portable/cpu/util/dtype_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch {
namespace executor {
namespace native {
namespace utils {

/// Half and BFloat16 are computed in Float, others in themselves.
inline ScalarType get_compute_type(ScalarType& common_type) {
  return common_type == ScalarType::Half || common_type == ScalarType::BFloat16 ? ScalarType::Float
                                                                                : common_type;
}

/// Inputs with any strides; all of them are supported anyway.
struct SupportNoncontiguousInputTensors {
  explicit SupportNoncontiguousInputTensors() = default;
};

namespace internal {

struct TypedInput {
  const Tensor& tensor;
  SupportedTensorDtypes dtypes;
};

template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name, typename Op, size_t... I>
void apply_elementwise(const Op& compute_fun, KernelRuntimeContext& ctx, const Tensor& out,
                       SupportedTensorDtypes out_dtypes, std::index_sequence<I...>,
                       const std::array<TypedInput, sizeof...(I)>& inputs) {
  const load_to_compute_fn<CTYPE_COMPUTE> load[] = {
      get_load_to_compute_fn<CTYPE_COMPUTE, op_name>(ctx, inputs[I].tensor, inputs[I].dtypes)...};
  const auto store = get_store_compute_to_tensor_fn<CTYPE_COMPUTE, op_name>(ctx, out, out_dtypes);
  if ((... || (load[I] == nullptr)) || store == nullptr) {
    return;
  }
  for (const TypedInput& input : inputs) {
    ET_KERNEL_CHECK(ctx, tensor_is_broadcastable_to(input.tensor, out), InvalidArgument, );
  }
  const char* const data[] = {static_cast<const char*>(inputs[I].tensor.const_data_ptr())...};
  const ssize_t item[] = {static_cast<ssize_t>(inputs[I].tensor.element_size())...};
  char* const data_out = static_cast<char*>(out.mutable_data_ptr());
  const ssize_t item_out = out.element_size();
  const BroadcastIndexesRange<sizeof...(I)> range(out, inputs[I].tensor...);
  constexpr int64_t kGrain = 32768;
  ::executorch::extension::parallel_for(0, out.numel(), kGrain, [&](int64_t first, int64_t last) {
    auto it = range.begin() + static_cast<ssize_t>(first);
    for (int64_t i = first; i < last; ++i, ++it) {
      const auto& index = *it;
      store(compute_fun(load[I](data[I] + index[I + 1] * item[I])...),
            data_out + index[0] * item_out);
    }
  });
}

}  // namespace internal

template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name, SupportedTensorDtypes out_dtypes,
          typename Op>
inline void apply_unitensor_elementwise_fn(
    const Op& compute_fun, KernelRuntimeContext& ctx, const Tensor& a,
    SupportedTensorDtypes a_dtypes, const Tensor& out,
    SupportNoncontiguousInputTensors = SupportNoncontiguousInputTensors()) {
  internal::apply_elementwise<CTYPE_COMPUTE, op_name>(
      compute_fun, ctx, out, out_dtypes, std::make_index_sequence<1>(), {{{a, a_dtypes}}});
}
template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name, typename Op>
inline void apply_unitensor_elementwise_fn(const Op& compute_fun, KernelRuntimeContext& ctx,
                                           const Tensor& a, SupportedTensorDtypes a_dtypes,
                                           const Tensor& out, SupportedTensorDtypes out_dtypes) {
  internal::apply_elementwise<CTYPE_COMPUTE, op_name>(
      compute_fun, ctx, out, out_dtypes, std::make_index_sequence<1>(), {{{a, a_dtypes}}});
}

template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name, SupportedTensorDtypes out_dtypes,
          typename Op>
inline void apply_bitensor_elementwise_fn(
    const Op& compute_fun, KernelRuntimeContext& ctx, const Tensor& a,
    SupportedTensorDtypes a_dtypes, const Tensor& b, SupportedTensorDtypes b_dtypes,
    const Tensor& out, SupportNoncontiguousInputTensors = SupportNoncontiguousInputTensors()) {
  internal::apply_elementwise<CTYPE_COMPUTE, op_name>(compute_fun, ctx, out, out_dtypes,
                                                      std::make_index_sequence<2>(),
                                                      {{{a, a_dtypes}, {b, b_dtypes}}});
}
template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name, typename Op>
inline void apply_bitensor_elementwise_fn(const Op& compute_fun, KernelRuntimeContext& ctx,
                                          const Tensor& a, SupportedTensorDtypes a_dtypes,
                                          const Tensor& b, SupportedTensorDtypes b_dtypes,
                                          const Tensor& out, SupportedTensorDtypes out_dtypes) {
  internal::apply_elementwise<CTYPE_COMPUTE, op_name>(compute_fun, ctx, out, out_dtypes,
                                                      std::make_index_sequence<2>(),
                                                      {{{a, a_dtypes}, {b, b_dtypes}}});
}

template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name, SupportedTensorDtypes out_dtypes,
          typename Op>
inline void apply_tritensor_elementwise_fn(
    const Op& compute_fun, KernelRuntimeContext& ctx, const Tensor& a,
    SupportedTensorDtypes a_dtypes, const Tensor& b, SupportedTensorDtypes b_dtypes,
    const Tensor& c, SupportedTensorDtypes c_dtypes, const Tensor& out,
    SupportNoncontiguousInputTensors = SupportNoncontiguousInputTensors()) {
  internal::apply_elementwise<CTYPE_COMPUTE, op_name>(
      compute_fun, ctx, out, out_dtypes, std::make_index_sequence<3>(),
      {{{a, a_dtypes}, {b, b_dtypes}, {c, c_dtypes}}});
}
template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name, typename Op>
inline void apply_tritensor_elementwise_fn(const Op& compute_fun, KernelRuntimeContext& ctx,
                                           const Tensor& a, SupportedTensorDtypes a_dtypes,
                                           const Tensor& b, SupportedTensorDtypes b_dtypes,
                                           const Tensor& c, SupportedTensorDtypes c_dtypes,
                                           const Tensor& out, SupportedTensorDtypes out_dtypes) {
  internal::apply_elementwise<CTYPE_COMPUTE, op_name>(
      compute_fun, ctx, out, out_dtypes, std::make_index_sequence<3>(),
      {{{a, a_dtypes}, {b, b_dtypes}, {c, c_dtypes}}});
}

}  // namespace utils
}  // namespace native
}  // namespace executor
}  // namespace torch
