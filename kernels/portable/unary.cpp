// SPDX-License-Identifier: BSD-3-Clause
// Elementwise operators of one tensor: one prologue, one loop, and a row per operator.
#include <executorch/kernels/portable/unary.h>

#include <limits>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/binary.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/operand.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

bool prepare(const OpCall& call, const Tensor& in, ScalarType result, const Tensor& out,
             bool complex_too = false) {
  return (complex_too ? check_number(call, "self", in) : check_computable(call, "self", in)) &&
         check_castable(call, result, out) && resize_output(call, out, Shape(in));
}

// Integers and Bool give Float, floats their own type.
template <typename F>
Tensor& to_float(const OpCall& call, const Tensor& in, Tensor& out, const F& f) {
  const ScalarType result = float_of(in.scalar_type());
  if (prepare(call, in, result, out, takes_complex_v<F>)) {
    with_float_type<takes_complex_v<F>>(compute_type_of(result), [&](auto zero) {
      using C = decltype(zero);
      map_elements<C, C>(f, out, {RangeReader(in, out, compute_type_v<C>)}, result);
    });
  }
  return out;
}

// Any real dtype gives itself.
template <typename F>
Tensor& same(const OpCall& call, const Tensor& in, Tensor& out, const F& f) {
  ET_KERNEL_CHECK_MSG(call.ctx, in.scalar_type() != ScalarType::Bool, InvalidArgument, out,
                      "%s: expected self to be of a number type, found Bool", call.op);
  // In the order of self, as upstream's kernels want it.
  if (prepare(call, in, in.scalar_type(), out, takes_complex_v<F>) &&
      check_same_order(call, in, out)) {
    with_number_type<takes_complex_v<F>>(compute_type_of(in.scalar_type()), [&](auto zero) {
      using C = decltype(zero);
      map_elements<C, C>(f, out, {RangeReader(in, out, compute_type_v<C>)}, in.scalar_type());
    });
  }
  return out;
}

// Floats only, of one dtype; `make(zero)` gives the functor for a compute type.
template <typename Make>
Tensor& float_only(const OpCall& call, const Tensor& in, Tensor& out, const Make& make) {
  if (check_floating(call, "self", in) && check_same_dtype(call, "out", out, "self", in) &&
      prepare(call, in, in.scalar_type(), out)) {
    with_float_compute_type(compute_type_of(in.scalar_type()), [&](auto zero) {
      using C = decltype(zero);
      map_elements<C, C>(make(zero), out, {RangeReader(in, out, compute_type_v<C>)});
    });
  }
  return out;
}

template <typename Test>
Tensor& float_test(const OpCall& call, const Tensor& in, Tensor& out, const Test& test) {
  if (check_dtype(call, "out", out, ScalarType::Bool) && prepare(call, in, ScalarType::Bool, out)) {
    if (::executorch::runtime::isIntegralType(in.scalar_type(), /*includeBool=*/true)) {
      const bool no = false;
      fill_view(&no, StridedView::of(out));
      return out;
    }
    with_float_compute_type(compute_type_of(in.scalar_type()), [&](auto zero) {
      using C = decltype(zero);
      map_elements<uint8_t, C>(test, out, {RangeReader(in, out, compute_type_v<C>)});
    });
  }
  return out;
}

}  // namespace

#define UNARY(name, functor, rule)                                                 \
  Tensor& name##_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) { \
    return rule(OpCall{ctx, #name ".out"}, self, out, functor());                  \
  }

UNARY(acos, Acos, to_float)
UNARY(acosh, Acosh, to_float)
UNARY(asin, Asin, to_float)
UNARY(asinh, Asinh, to_float)
UNARY(atan, Atan, to_float)
UNARY(atanh, Atanh, to_float)
UNARY(ceil, Ceil, same)
UNARY(cos, Cos, to_float)
UNARY(cosh, Cosh, to_float)
UNARY(erf, Erf, to_float)
UNARY(erfc, Erfc, to_float)
UNARY(exp, Exp, to_float)
UNARY(expm1, Expm1, to_float)
UNARY(floor, Floor, same)
UNARY(log10, Log10, to_float)
UNARY(log1p, Log1p, to_float)
UNARY(log2, Log2, to_float)
UNARY(log, Log, to_float)
UNARY(neg, Neg, same)
UNARY(reciprocal, Reciprocal, to_float)
UNARY(relu, Relu, same)
UNARY(round, Round, same)
UNARY(rsqrt, Rsqrt, to_float)
UNARY(sigmoid, Sigmoid, to_float)
UNARY(sin, Sin, to_float)
UNARY(sinh, Sinh, to_float)
UNARY(sqrt, Sqrt, to_float)
UNARY(tan, Tan, to_float)
UNARY(tanh, Tanh, to_float)
UNARY(trunc, Trunc, same)
#undef UNARY

Tensor& abs_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  const OpCall call{ctx, "abs.out"};
  if (!is_complex(self.scalar_type())) {
    return same(call, self, out, Abs());
  }
  const ScalarType result = ::executorch::runtime::toRealValueType(self.scalar_type());
  if (prepare(call, self, result, out, /*complex_too=*/true) && check_same_order(call, self, out)) {
    map_elements<double, Complex>([](Complex x) { return std::hypot(x.real(), x.imag()); }, out,
                                  {RangeReader(self, out, ComputeType::kComplex)}, result);
  }
  return out;
}

Tensor& sign_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  const OpCall call{ctx, "sign.out"};
  if (prepare(call, self, self.scalar_type(), out)) {
    with_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
      using C = decltype(zero);
      map_elements<C, C>(Sign(), out, {RangeReader(self, out, compute_type_v<C>)});
    });
  }
  return out;
}

Tensor& isinf_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return float_test({ctx, "isinf.out"}, self, out,
                    [](auto x) { return static_cast<uint8_t>(std::isinf(x)); });
}

Tensor& isnan_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return float_test({ctx, "isnan.out"}, self, out,
                    [](auto x) { return static_cast<uint8_t>(x != x); });
}

Tensor& logical_not_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  if (prepare({ctx, "logical_not.out"}, self, ScalarType::Bool, out, /*complex_too=*/true)) {
    map_elements<uint8_t, uint8_t>([](uint8_t x) { return static_cast<uint8_t>(x == 0); }, out,
                                   {RangeReader(self, out, ComputeType::kBool)});
  }
  return out;
}

Tensor& bitwise_not_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  if (self.scalar_type() == ScalarType::Bool) {
    return logical_not_out(ctx, self, out);
  }
  ET_KERNEL_CHECK_MSG(
      ctx, ::executorch::runtime::isIntegralType(self.scalar_type(), /*includeBool=*/true),
      InvalidArgument, out,
      "bitwise_not.out: expected self to be of an integer type or Bool, found %s",
      ::executorch::runtime::toString(self.scalar_type()));
  if (prepare({ctx, "bitwise_not.out"}, self, self.scalar_type(), out)) {
    map_elements<int64_t, int64_t>([](int64_t x) { return ~x; }, out,
                                   {RangeReader(self, out, ComputeType::kInt64)},
                                   self.scalar_type());
  }
  return out;
}

Tensor& gelu_out(KernelRuntimeContext& ctx, const Tensor& self, std::string_view approximate,
                 Tensor& out) {
  const OpCall call{ctx, "gelu.out"};
  const bool tanh = approximate == "tanh";
  ET_KERNEL_CHECK_MSG(ctx, tanh || approximate == "none", InvalidArgument, out,
                      "gelu.out: expected approximate to be none or tanh, found %.*s",
                      text_length(approximate), approximate.data());
  if (tanh) {
    return float_only(call, self, out, [](auto) { return GeluTanh(); });
  }
  return float_only(call, self, out, [](auto) { return GeluErf(); });
}

namespace {

// Constants of functors that compute 16-bit floats in float.
ScalarType constant_type(const Tensor& self) {
  return self.scalar_type() == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
}

}  // namespace

Tensor& leaky_relu_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& negative_slope,
                       Tensor& out) {
  const OpCall call{ctx, "leaky_relu.out"};
  if (!check_fits(call, "negative_slope", negative_slope, constant_type(self))) {
    return out;
  }
  return float_only(call, self, out, [&](auto zero) {
    using C = decltype(zero);
    return LeakyRelu<C>{scalar_to<C>(negative_slope)};
  });
}

Tensor& elu_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& alpha,
                const Scalar& scale, const Scalar& input_scale, Tensor& out) {
  const OpCall call{ctx, "elu.out"};
  const ScalarType type = constant_type(self);
  if (!check_fits(call, "alpha", alpha, type) || !check_fits(call, "scale", scale, type) ||
      !check_fits(call, "input_scale", input_scale, type)) {
    return out;
  }
  return float_only(call, self, out, [&](auto zero) {
    using C = decltype(zero);
    return Elu<C>{scalar_to<C>(alpha) * scalar_to<C>(scale), scalar_to<C>(scale),
                  scalar_to<C>(input_scale)};
  });
}

Tensor& logit_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<double> eps,
                  Tensor& out) {
  const OpCall call{ctx, "logit.out"};
  const ScalarType result = float_of(self.scalar_type());
  if (prepare(call, self, result, out)) {
    with_float_compute_type(compute_type_of(result), [&](auto zero) {
      using C = decltype(zero);
      map_elements<C, C>(Logit<C>{static_cast<C>(eps.value_or(-1.0))}, out,
                         {RangeReader(self, out, compute_type_v<C>)}, result);
    });
  }
  return out;
}

namespace {

// An unsigned type has no bound below 0; as in arithmetic, it would wrap around to a large one.
bool check_bound(const OpCall& call, const char* name, const std::optional<Scalar>& bound,
                 ScalarType type) {
  if (!bound.has_value()) {
    return true;
  }
  const bool wraps = type == ScalarType::Byte && bound->isIntegral(/*includeBool=*/false) &&
                     scalar_to<int64_t>(*bound) < 0;
  ET_KERNEL_CHECK_MSG(call.ctx, !wraps, InvalidArgument, false,
                      "%s: expected %s >= 0 for an unsigned type, found less", call.op, name);
  return check_fits(call, name, *bound, type);
}

Tensor& clamp(const OpCall& call, const Tensor& self, const std::optional<Scalar>& min,
              const std::optional<Scalar>& max, Tensor& out) {
  ET_KERNEL_CHECK_MSG(call.ctx, min.has_value() || max.has_value(), InvalidArgument, out,
                      "%s: expected min or max, found neither", call.op);
  if (!check_computable(call, "self", self)) {
    return out;
  }
  ScalarType common = self.scalar_type();
  common = min.has_value() ? promote_with_scalar(common, *min) : common;
  common = max.has_value() ? promote_with_scalar(common, *max) : common;
  if (!check_bound(call, "min", min, common) || !check_bound(call, "max", max, common)) {
    return out;
  }
  if (prepare(call, self, common, out) && check_same_order(call, self, out)) {
    with_compute_type(compute_type_of(common), [&](auto zero) {
      using C = decltype(zero);
      using Limits = std::numeric_limits<C>;
      const C lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      const C highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
      const C low = min.has_value() ? scalar_to<C>(wrapped_scalar(*min, common)) : lowest;
      const C high = max.has_value() ? scalar_to<C>(wrapped_scalar(*max, common)) : highest;
      // High wins over low, and NaN over both, be it an element or a bound.
      map_elements<C, C>([low, high](C x) { return Minimum()(Maximum()(x, low), high); }, out,
                         {RangeReader(self, out, compute_type_v<C>)}, common);
    });
  }
  return out;
}

}  // namespace

Tensor& clamp_out(KernelRuntimeContext& ctx, const Tensor& self, const std::optional<Scalar>& min,
                  const std::optional<Scalar>& max, Tensor& out) {
  return clamp({ctx, "clamp.out"}, self, min, max, out);
}

Tensor& hardtanh_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& min_val,
                     const Scalar& max_val, Tensor& out) {
  const OpCall call{ctx, "hardtanh.out"};
  if (!::executorch::runtime::isIntegralType(self.scalar_type(), /*includeBool=*/false)) {
    return clamp(call, self, min_val, max_val, out);
  }
  // The limits of integers are cut to integers.
  return clamp(call, self, Scalar(scalar_to<int64_t>(min_val)), Scalar(scalar_to<int64_t>(max_val)),
               out);
}

}  // namespace torch::executor::native
