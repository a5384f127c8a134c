// SPDX-License-Identifier: BSD-3-Clause
// Elementwise kernels of one input, made of a function on floats and the same on doubles:
//
//   DEFINE_UNARY_UFUNC_REALHBBF16_TO_FLOATHBF16(cosh_out, std::cosh)
//
// defines Tensor& cosh_out(KernelRuntimeContext&, const Tensor& in, Tensor& out).
#pragma once

#include <executorch/kernels/portable/cpu/util/elementwise_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {
namespace internal {

/// Resizes `out`, checks dim orders and dtypes, and computes in double where a double is in play.
template <typename FloatResult, typename DoubleResult>
Tensor& unary_ufunc(FloatResult (*fn_float)(float), DoubleResult (*fn_double)(double),
                    KernelRuntimeContext& ctx, const Tensor& in, Tensor& out,
                    utils::SupportedTensorDtypes in_dtypes,
                    utils::SupportedTensorDtypes out_dtypes) {
  static constexpr const char op_name[] = "unary_ufunc";
  ET_KERNEL_CHECK_MSG(ctx, resize_tensor(out, in.sizes()) == Error::Ok, InvalidArgument, out,
                      "the output cannot be resized to the input's shape");
  ET_KERNEL_CHECK(ctx, tensors_have_same_dim_order(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx,
                  utils::internal::check_tensor_dtype(in, in_dtypes, in.scalar_type()) &&
                      utils::internal::check_tensor_dtype(out, out_dtypes, in.scalar_type()),
                  InvalidArgument, out);
  constexpr auto kAny = utils::SupportedTensorDtypes::REALHBBF16;
  if (in.scalar_type() == ScalarType::Double || out.scalar_type() == ScalarType::Double) {
    utils::apply_unitensor_elementwise_fn<double, op_name>(
        [fn_double](double x) { return static_cast<double>(fn_double(x)); }, ctx, in, kAny, out,
        kAny);
  } else {
    utils::apply_unitensor_elementwise_fn<float, op_name>(
        [fn_float](float x) { return static_cast<float>(fn_float(x)); }, ctx, in, kAny, out, kAny);
  }
  return out;
}

/// Input and output of one dtype.
inline Tensor& unary_ufunc_realhbf16(float (*fn_float)(float), double (*fn_double)(double),
                                     KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  return unary_ufunc(fn_float, fn_double, ctx, in, out, utils::SupportedTensorDtypes::REALHBF16,
                     utils::SupportedTensorDtypes::REALHBF16);
}

inline Tensor& unary_ufunc_realhbbf16_to_bool(bool (*fn_float)(float), bool (*fn_double)(double),
                                              KernelRuntimeContext& ctx, const Tensor& in,
                                              Tensor& out) {
  return unary_ufunc(fn_float, fn_double, ctx, in, out, utils::SupportedTensorDtypes::REALHBBF16,
                     utils::SupportedTensorDtypes::BOOL);
}

inline Tensor& unary_ufunc_realhbbf16_to_floathbf16(float (*fn_float)(float),
                                                    double (*fn_double)(double),
                                                    KernelRuntimeContext& ctx, const Tensor& in,
                                                    Tensor& out) {
  return unary_ufunc(fn_float, fn_double, ctx, in, out, utils::SupportedTensorDtypes::REALHBBF16,
                     utils::SupportedTensorDtypes::FLOATHBF16);
}

}  // namespace internal
}  // namespace native
}  // namespace executor
}  // namespace torch

#define DEFINE_UNARY_UFUNC_REALHBF16(op_name, fn)                                          \
  Tensor& op_name(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {              \
    constexpr auto f = [](float x) -> float { return fn(x); };                             \
    constexpr auto d = [](double x) -> double { return fn(x); };                           \
    return ::torch::executor::native::internal::unary_ufunc_realhbf16(f, d, ctx, in, out); \
  }
#define DEFINE_UNARY_UFUNC_REALHBBF16_TO_BOOL(op_name, fn)                                    \
  Tensor& op_name(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {                 \
    constexpr auto f = [](float x) -> bool { return fn(x); };                                 \
    constexpr auto d = [](double x) -> bool { return fn(x); };                                \
    return ::torch::executor::native::internal::unary_ufunc_realhbbf16_to_bool(f, d, ctx, in, \
                                                                               out);          \
  }
#define DEFINE_UNARY_UFUNC_REALHBBF16_TO_FLOATHBF16(op_name, fn)                                \
  Tensor& op_name(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {                   \
    constexpr auto f = [](float x) -> float { return fn(x); };                                  \
    constexpr auto d = [](double x) -> double { return fn(x); };                                \
    return ::torch::executor::native::internal::unary_ufunc_realhbbf16_to_floathbf16(f, d, ctx, \
                                                                                     in, out);  \
  }
