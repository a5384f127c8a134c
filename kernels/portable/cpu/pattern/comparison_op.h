// SPDX-License-Identifier: BSD-3-Clause
// Kernels that compare two operands.
#pragma once

#include <executorch/kernels/portable/cpu/pattern/two_operands.h>

namespace torch {
namespace executor {
namespace native {
namespace internal {

/// out = Comparison(a, b), such as std::less, in the type that both promote to.
template <template <typename> class Comparison, ET_OPERATOR_NAME_TYPE op_name>
Tensor& comparison_tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b,
                              Tensor& out) {
  constexpr auto kAny = utils::SupportedTensorDtypes::REALHBBF16;
  const ScalarType type = common_type(ctx, a, b);
  ET_KERNEL_CHECK(ctx, type != ScalarType::Undefined && prepare_out(a, b, out), InvalidArgument,
                  out);
  ET_SWITCH_REALHBBF16_TYPES(type, ctx, op_name, CTYPE, [&]() {
    utils::apply_bitensor_elementwise_fn<CTYPE, op_name>(
        [](const CTYPE x, const CTYPE y) -> CTYPE {
          return static_cast<CTYPE>(Comparison<CTYPE>()(x, y));
        },
        ctx, a, kAny, b, kAny, out, kAny);
  });
  return out;
}

template <template <typename> class Comparison, ET_OPERATOR_NAME_TYPE op_name>
Tensor& comparison_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b,
                              Tensor& out) {
  constexpr auto kAny = utils::SupportedTensorDtypes::REALHBBF16;
  ET_KERNEL_CHECK(ctx,
                  ::executorch::runtime::tensor_is_realhbbf16_type(a) && prepare_out(a, a, out),
                  InvalidArgument, out);
  const ScalarType type = utils::promote_type_with_scalar(a.scalar_type(), b);
  ET_SWITCH_REALHBBF16_TYPES(type, ctx, op_name, CTYPE, [&]() {
    const CTYPE y = utils::scalar_to<CTYPE>(b);
    utils::apply_unitensor_elementwise_fn<CTYPE, op_name>(
        [y](const CTYPE x) -> CTYPE { return static_cast<CTYPE>(Comparison<CTYPE>()(x, y)); }, ctx,
        a, kAny, out, kAny);
  });
  return out;
}

}  // namespace internal
}  // namespace native
}  // namespace executor
}  // namespace torch
