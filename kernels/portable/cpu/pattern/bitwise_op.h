// SPDX-License-Identifier: BSD-3-Clause
// Kernels of two operands that combine bits.
#pragma once

#include <executorch/kernels/portable/cpu/pattern/two_operands.h>

namespace torch {
namespace executor {
namespace native {
namespace internal {

/// Shifts as functors; by the width or more, or by a negative count, all bits go.
template <typename T>
struct bit_lshift {
  T operator()(const T lhs, const T rhs) const {
    if constexpr (std::is_same_v<T, bool>) {
      return lhs && !rhs;
    } else {
      using U = std::make_unsigned_t<T>;
      return rhs < 0 || static_cast<U>(rhs) >= sizeof(T) * 8
                 ? T(0)
                 : static_cast<T>(static_cast<U>(lhs) << rhs);
    }
  }
};
template <typename T>
struct bit_rshift {
  T operator()(const T lhs, const T rhs) const {
    if constexpr (std::is_same_v<T, bool>) {
      return lhs && !rhs;
    } else {
      constexpr T kLast = static_cast<T>(sizeof(T) * 8 - 1);
      return static_cast<T>(lhs >> (rhs < 0 || rhs > kLast ? kLast : rhs));
    }
  }
};

template <typename T>
using bitwise_fn = T (*)(const T, const T);

/// The function pointer of an operator, such as std::bit_and.
template <typename T, template <typename> class Op>
struct BitwiseFnForOp {
  static bitwise_fn<T> get_bitwise_fn() {
    return [](const T a, const T b) -> T { return Op<T>()(a, b); };
  }
};

/// out = Op(a, b) in the type that both promote to, which is an integer or Bool.
template <template <typename> class Op, ET_OPERATOR_NAME_TYPE op_name>
Tensor& bitwise_tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b,
                           Tensor& out) {
  constexpr auto kIntegers = utils::SupportedTensorDtypes::INTB;
  const ScalarType type = common_type(ctx, a, b);
  ET_KERNEL_CHECK(ctx, isIntegralType(type, /*includeBool=*/true) && prepare_out(a, b, out),
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, canCast(type, out.scalar_type()), InvalidArgument, out);
  ET_SWITCH_INT_TYPES_AND(Bool, type, ctx, op_name, CTYPE, [&]() {
    utils::apply_bitensor_elementwise_fn<CTYPE, op_name>(
        [](const CTYPE x, const CTYPE y) -> CTYPE { return Op<CTYPE>()(x, y); }, ctx, a, kIntegers,
        b, kIntegers, out, utils::SupportedTensorDtypes::REALHBBF16);
  });
  return out;
}

template <template <typename> class Op, ET_OPERATOR_NAME_TYPE op_name>
Tensor& bitwise_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b,
                           Tensor& out) {
  const ScalarType type = utils::promote_type_with_scalar(a.scalar_type(), b);
  ET_KERNEL_CHECK(ctx, isIntegralType(type, /*includeBool=*/true) && prepare_out(a, a, out),
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, canCast(type, out.scalar_type()), InvalidArgument, out);
  ET_SWITCH_INT_TYPES_AND(Bool, type, ctx, op_name, CTYPE, [&]() {
    const CTYPE y = utils::scalar_to<CTYPE>(b);
    utils::apply_unitensor_elementwise_fn<CTYPE, op_name>(
        [y](const CTYPE x) -> CTYPE { return Op<CTYPE>()(x, y); }, ctx, a,
        utils::SupportedTensorDtypes::INTB, out, utils::SupportedTensorDtypes::REALHBBF16);
  });
  return out;
}

}  // namespace internal
}  // namespace native
}  // namespace executor
}  // namespace torch
