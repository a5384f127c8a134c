// SPDX-License-Identifier: BSD-3-Clause
// Elementwise operators of two operands: one prologue (promotion, broadcasting, resizing), one
// loop, a row each.
#include <executorch/kernels/portable/binary.h>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/operand.h>
#include <executorch/kernels/portable/unary.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;
using ::executorch::runtime::isIntegralType;

namespace {

// Checks both operands and gives `out` their broadcast shape.
bool prepare(const OpCall& call, const Operand& a, const Operand& b, Tensor& out,
             bool complex_too = false) {
  Shape shape;
  return a.check(call, "self", complex_too) && b.check(call, "other", complex_too) &&
         broadcast_shapes(call, a.shape(), b.shape(), shape) && resize_output(call, out, shape);
}

// Whether an integer operand holds a zero. Reads the operand as it will be computed.
bool has_zero(const Operand& operand) {
  if (!operand.is_tensor()) {
    return scalar_to<int64_t>(operand.scalar()) == 0;
  }
  const Tensor& tensor = operand.tensor();
  const RangeReader reader(tensor, tensor, ComputeType::kInt64);
  int64_t buffer[kChunk];
  for (int64_t begin = 0; begin < tensor.numel(); begin += kChunk) {
    const int64_t n = tensor.numel() - begin < kChunk ? tensor.numel() - begin : kChunk;
    const int64_t* values = static_cast<const int64_t*>(reader.read(begin, n, buffer));
    for (int64_t i = 0; i < n; ++i) {
      if (values[i] == 0) {
        return true;
      }
    }
  }
  return false;
}

// Operands become `common`, and so does the result before it is cast to out's dtype.
template <typename C, typename F>
void run(const F& f, ScalarType common, const Operand& a, const Operand& b, const Tensor& out) {
  constexpr ComputeType kType = compute_type_v<C>;
  map_elements<C, C, C>(f, out, {a.reader(out, kType, common), b.reader(out, kType, common)},
                        common);
}

// The same where the result is Bool.
template <typename C, typename F>
void run_test(const F& f, ScalarType common, const Operand& a, const Operand& b,
              const Tensor& out) {
  constexpr ComputeType kType = compute_type_v<C>;
  map_elements<uint8_t, C, C>(f, out, {a.reader(out, kType, common), b.reader(out, kType, common)});
}

// Computed in the promoted dtype, which is also the result's.
struct Promoted {
  template <typename F>
  static void compute(const OpCall& call, const Operand& a, const Operand& b, Tensor& out, F f) {
    const ScalarType common = promote(a, b);
    if (check_castable(call, common, out)) {
      with_number_type<takes_complex_v<F>>(
          compute_type_of(common), [&](auto zero) { run<decltype(zero)>(f, common, a, b, out); });
    }
  }
};

// The same for operators that divide: integers must not be divided by zero.
struct PromotedDivision {
  template <typename F>
  static void compute(const OpCall& call, const Operand& a, const Operand& b, Tensor& out, F f) {
    ET_KERNEL_CHECK_MSG(
        call.ctx,
        !isIntegralType(promote(a, b), /*includeBool=*/true) || out.numel() == 0 || !has_zero(b),
        InvalidArgument, , "%s: expected other without zeros to divide integers by, found 0",
        call.op);
    ET_KERNEL_CHECK_MSG(call.ctx, out.scalar_type() != ScalarType::Bool, InvalidArgument, ,
                        "%s: expected out to be of a number type, found Bool", call.op);
    Promoted::compute(call, a, b, out, f);
  }
};

// Integers are computed as Float.
struct PromotedToFloat {
  template <typename F>
  static void compute(const OpCall& call, const Operand& a, const Operand& b, Tensor& out, F f) {
    const ScalarType common = float_of(promote(a, b));
    if (check_castable(call, common, out)) {
      with_float_type<takes_complex_v<F>>(
          compute_type_of(common), [&](auto zero) { run<decltype(zero)>(f, common, a, b, out); });
    }
  }
};

// Compared in the promoted dtype; the result is Bool.
struct Comparison {
  template <typename F>
  static void compute(const OpCall& call, const Operand& a, const Operand& b, Tensor& out, F f) {
    if (check_castable(call, ScalarType::Bool, out)) {
      const ScalarType common = promote(a, b);
      with_number_type<takes_complex_v<F>>(compute_type_of(common), [&](auto zero) {
        run_test<decltype(zero)>(f, common, a, b, out);
      });
    }
  }
};

// Each operand by itself is zero or not; the result is Bool.
struct Logical {
  template <typename F>
  static void compute(const OpCall& call, const Operand& a, const Operand& b, Tensor& out, F f) {
    if (check_castable(call, ScalarType::Bool, out)) {
      run_test<uint8_t>(f, ScalarType::Undefined, a, b, out);
    }
  }
};

struct Bitwise {
  template <typename F>
  static void compute(const OpCall& call, const Operand& a, const Operand& b, Tensor& out, F f) {
    const ScalarType common = promote(a, b);
    ET_KERNEL_CHECK_MSG(call.ctx, isIntegralType(common, /*includeBool=*/true), InvalidArgument, ,
                        "%s: expected operands of an integer type or Bool, found %s", call.op,
                        ::executorch::runtime::toString(common));
    if (check_castable(call, common, out)) {
      run<int64_t>(f, common, a, b, out);
    }
  }
};

template <typename Rule, typename F>
Tensor& binary(const OpCall& call, const Operand& a, const Operand& b, Tensor& out, const F& f) {
  if (!prepare(call, a, b, out, takes_complex_v<F>)) {
    return out;
  }
  if (a.is_tensor() && b.is_tensor()) {
    Rule::compute(call, a, b, out, f);
    return out;
  }
  const Operand& number = a.is_tensor() ? b : a;
  const ScalarType common = promote(a, b);
  const bool to_float = std::is_same<Rule, PromotedToFloat>::value;
  const bool exact = takes_exact_number_v<F> && !isIntegralType(common, /*includeBool=*/true);
  const Scalar scalar = exact
                            ? number.scalar()
                            : wrapped_scalar(number.scalar(), to_float ? float_of(common) : common);
  const Operand wrapped(scalar);
  Rule::compute(call, a.is_tensor() ? a : wrapped, b.is_tensor() ? b : wrapped, out, f);
  return out;
}

struct LogicalAnd {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a & b; }
};
struct LogicalOr {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a | b; }
};
struct LogicalXor {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a ^ b; }
};

// Whether a shift by this many bits leaves any.
bool is_shift(int64_t bits) {
  return bits >= 0 && bits <= 63;
}

// The bits all elements are shifted by, in the dtype they are computed in.
int64_t shift_of(const Tensor& self, const Scalar& other) {
  const ScalarType common = promote(Operand(self), Operand(other));
  const bool integral = isIntegralType(common, /*includeBool=*/true);
  return integral ? scalar_to<int64_t>(wrapped_scalar(other, common)) : 0;
}

}  // namespace

#define BINARY(name, op, A, B, functor, rule)                                           \
  Tensor& name(KernelRuntimeContext& ctx, const A& self, const B& other, Tensor& out) { \
    return binary<rule>(OpCall{ctx, op}, self, other, out, functor());                  \
  }

BINARY(atan2_out, "atan2.out", Tensor, Tensor, Atan2, PromotedToFloat)
BINARY(bitwise_and_Scalar_out, "bitwise_and.Scalar_out", Tensor, Scalar, BitAnd, Bitwise)
BINARY(bitwise_and_Tensor_out, "bitwise_and.Tensor_out", Tensor, Tensor, BitAnd, Bitwise)
BINARY(bitwise_left_shift_Tensor_out, "bitwise_left_shift.Tensor_out", Tensor, Tensor, ShiftLeft,
       Bitwise)
BINARY(bitwise_or_Scalar_out, "bitwise_or.Scalar_out", Tensor, Scalar, BitOr, Bitwise)
BINARY(bitwise_or_Tensor_out, "bitwise_or.Tensor_out", Tensor, Tensor, BitOr, Bitwise)
BINARY(bitwise_right_shift_Tensor_out, "bitwise_right_shift.Tensor_out", Tensor, Tensor, ShiftRight,
       Bitwise)
BINARY(bitwise_xor_Scalar_out, "bitwise_xor.Scalar_out", Tensor, Scalar, BitXor, Bitwise)
BINARY(bitwise_xor_Tensor_out, "bitwise_xor.Tensor_out", Tensor, Tensor, BitXor, Bitwise)
BINARY(div_out, "div.out", Tensor, Tensor, TrueDiv, PromotedToFloat)
BINARY(div_scalar_out, "div.Scalar_out", Tensor, Scalar, TrueDiv, PromotedToFloat)
BINARY(eq_scalar_out, "eq.Scalar_out", Tensor, Scalar, Equal, Comparison)
BINARY(eq_tensor_out, "eq.Tensor_out", Tensor, Tensor, Equal, Comparison)
BINARY(floor_divide_out, "floor_divide.out", Tensor, Tensor, FloorDiv, PromotedDivision)
BINARY(fmod_Scalar_out, "fmod.Scalar_out", Tensor, Scalar, Fmod, PromotedDivision)
BINARY(fmod_Tensor_out, "fmod.Tensor_out", Tensor, Tensor, Fmod, PromotedDivision)
BINARY(ge_scalar_out, "ge.Scalar_out", Tensor, Scalar, GreaterEqual, Comparison)
BINARY(ge_tensor_out, "ge.Tensor_out", Tensor, Tensor, GreaterEqual, Comparison)
BINARY(gt_scalar_out, "gt.Scalar_out", Tensor, Scalar, Greater, Comparison)
BINARY(gt_tensor_out, "gt.Tensor_out", Tensor, Tensor, Greater, Comparison)
BINARY(le_scalar_out, "le.Scalar_out", Tensor, Scalar, LessEqual, Comparison)
BINARY(le_tensor_out, "le.Tensor_out", Tensor, Tensor, LessEqual, Comparison)
BINARY(logical_and_out, "logical_and.out", Tensor, Tensor, LogicalAnd, Logical)
BINARY(logical_or_out, "logical_or.out", Tensor, Tensor, LogicalOr, Logical)
BINARY(logical_xor_out, "logical_xor.out", Tensor, Tensor, LogicalXor, Logical)
BINARY(lt_scalar_out, "lt.Scalar_out", Tensor, Scalar, Less, Comparison)
BINARY(lt_tensor_out, "lt.Tensor_out", Tensor, Tensor, Less, Comparison)
BINARY(maximum_out, "maximum.out", Tensor, Tensor, Maximum, Promoted)
BINARY(minimum_out, "minimum.out", Tensor, Tensor, Minimum, Promoted)
BINARY(mul_out, "mul.out", Tensor, Tensor, Mul, Promoted)
BINARY(mul_scalar_out, "mul.Scalar_out", Tensor, Scalar, Mul, Promoted)
BINARY(ne_scalar_out, "ne.Scalar_out", Tensor, Scalar, NotEqual, Comparison)
BINARY(ne_tensor_out, "ne.Tensor_out", Tensor, Tensor, NotEqual, Comparison)
BINARY(pow_Scalar_out, "pow.Scalar_out", Scalar, Tensor, Pow, Promoted)
BINARY(pow_Tensor_Tensor_out, "pow.Tensor_Tensor_out", Tensor, Tensor, Pow, Promoted)
BINARY(remainder_Scalar_out, "remainder.Scalar_out", Tensor, Scalar, Remainder, PromotedDivision)
BINARY(remainder_Tensor_out, "remainder.Tensor_out", Tensor, Tensor, Remainder, PromotedDivision)
#undef BINARY

// Without a decision per element, so that the loops vectorize.
Tensor& bitwise_left_shift_Tensor_Scalar_out(KernelRuntimeContext& ctx, const Tensor& self,
                                             const Scalar& other, Tensor& out) {
  const int64_t bits = shift_of(self, other);
  const uint64_t kept = is_shift(bits) ? ~uint64_t{0} : 0;
  return binary<Bitwise>({ctx, "bitwise_left_shift.Tensor_Scalar_out"}, self, other, out,
                         [bits = bits & 63, kept](int64_t a, int64_t) {
                           return static_cast<int64_t>(static_cast<uint64_t>(a) << bits & kept);
                         });
}
Tensor& bitwise_right_shift_Tensor_Scalar_out(KernelRuntimeContext& ctx, const Tensor& self,
                                              const Scalar& other, Tensor& out) {
  const int64_t bits = shift_of(self, other);
  return binary<Bitwise>(
      {ctx, "bitwise_right_shift.Tensor_Scalar_out"}, self, other, out,
      [bits = is_shift(bits) ? bits : 63](int64_t a, int64_t) { return a >> bits; });
}

namespace {

// a + sign * alpha * b in the promoted dtype.
Tensor& add_scaled(const OpCall& call, const Operand& a, const Operand& b, const Scalar& alpha,
                   bool negative, Tensor& out) {
  if (!prepare(call, a, b, out, /*complex_too=*/true)) {
    return out;
  }
  const ScalarType common = promote(a, b);
  ET_KERNEL_CHECK_MSG(
      call.ctx, !alpha.isFloatingPoint() || !isIntegralType(common, /*includeBool=*/true),
      InvalidArgument, out, "%s: expected alpha to be an integer, found a float for operands of %s",
      call.op, ::executorch::runtime::toString(common));
  ET_KERNEL_CHECK_MSG(call.ctx, !alpha.isBoolean() || common == ScalarType::Bool, InvalidArgument,
                      out, "%s: expected alpha to be a number, found a bool for operands of %s",
                      call.op, ::executorch::runtime::toString(common));
  ET_KERNEL_CHECK_MSG(call.ctx, !negative || common != ScalarType::Bool, InvalidArgument, out,
                      "%s: expected numbers to subtract, found Bool; use logical_xor", call.op);
  if (!check_castable(call, common, out) || !check_fits(call, "alpha", alpha, common)) {
    return out;
  }
  const bool has_number = !a.is_tensor() || !b.is_tensor();
  const Scalar number = wrapped_scalar(!has_number     ? alpha
                                       : a.is_tensor() ? b.scalar()
                                                       : a.scalar(),
                                       common);
  const Operand x = a.is_tensor() ? a : number;
  const Operand y = b.is_tensor() ? b : number;
  with_number_type<true>(compute_type_of(common), [&](auto zero) {
    using C = decltype(zero);
    const C given = scalar_to<C>(wrapped_scalar(alpha, common));
    const C factor = common == ScalarType::Bool ? C(given != C(0)) : given;
    if (factor == C(1) && !negative) {
      run<C>(Add(), common, x, y, out);
    } else if (factor == C(1)) {
      run<C>(Sub(), common, x, y, out);
    } else {
      run<C>(AddScaled<C>{negative ? Neg()(factor) : factor}, common, x, y, out);
    }
  });
  return out;
}

Tensor& divide(const OpCall& call, const Operand& a, const Operand& b,
               const std::optional<std::string_view>& rounding_mode, Tensor& out) {
  if (!rounding_mode.has_value()) {
    return binary<PromotedToFloat>(call, a, b, out, TrueDiv());
  }
  const bool floor = *rounding_mode == "floor";
  ET_KERNEL_CHECK_MSG(call.ctx, floor || *rounding_mode == "trunc", InvalidArgument, out,
                      "%s: expected rounding_mode to be floor or trunc, found %.*s", call.op,
                      text_length(*rounding_mode), rounding_mode->data());
  if (floor) {
    return binary<PromotedDivision>(call, a, b, out, FloorDiv());
  }
  return binary<PromotedDivision>(call, a, b, out, TruncDiv());
}

}  // namespace

Tensor& add_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& other,
                const Scalar& alpha, Tensor& out) {
  return add_scaled({ctx, "add.out"}, self, other, alpha, /*negative=*/false, out);
}
Tensor& add_scalar_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& other,
                       const Scalar& alpha, Tensor& out) {
  const OpCall call{ctx, "add.Scalar_out"};
  return check_fits(call, "other", other, promote(Operand(self), other))
             ? add_scaled(call, self, other, alpha, /*negative=*/false, out)
             : out;
}
Tensor& sub_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& other,
                const Scalar& alpha, Tensor& out) {
  return add_scaled({ctx, "sub.out"}, self, other, alpha, /*negative=*/true, out);
}
Tensor& sub_scalar_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& other,
                       const Scalar& alpha, Tensor& out) {
  return add_scaled({ctx, "sub.Scalar_out"}, self, other, alpha, /*negative=*/true, out);
}
Tensor& rsub_scalar_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& other,
                        const Scalar& alpha, Tensor& out) {
  return add_scaled({ctx, "rsub.Scalar_out"}, other, self, alpha, /*negative=*/true, out);
}

Tensor& div_out_mode(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& other,
                     std::optional<std::string_view> rounding_mode, Tensor& out) {
  return divide({ctx, "div.out_mode"}, self, other, rounding_mode, out);
}
Tensor& div_scalar_mode_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& other,
                            std::optional<std::string_view> rounding_mode, Tensor& out) {
  return divide({ctx, "div.Scalar_mode_out"}, self, other, rounding_mode, out);
}

Tensor& pow_Tensor_Scalar_out(KernelRuntimeContext& ctx, const Tensor& self, const Scalar& exponent,
                              Tensor& out) {
  const OpCall call{ctx, "pow.Tensor_Scalar_out"};
  const double number = scalar_to<double>(exponent);
  const Operand base(self);
  if (!base.check(call, "self")) {
    return out;
  }
  const ScalarType common = promote(base, exponent);
  const bool integral = isIntegralType(common, /*includeBool=*/true);
  ET_KERNEL_CHECK_MSG(ctx, !integral || number >= 0, InvalidArgument, out,
                      "pow.Tensor_Scalar_out: expected exponent >= 0 for integers, found %g",
                      number);
  // Beyond the range of floats, powers are those to infinity.
  if (common != ScalarType::Float && !check_fits(call, "exponent", exponent, common)) {
    return out;
  }
  // The powers that networks use have cheaper forms.
  if (number == 2.0) {
    return binary<Promoted>(call, base, exponent, out, [](auto a, auto) { return wrap_mul(a, a); });
  }
  if (number == 0.5 && !integral) {
    return binary<PromotedToFloat>(call, base, exponent, out,
                                   [](auto a, auto) { return Sqrt()(a); });
  }
  if (number == -0.5) {
    return binary<PromotedToFloat>(call, base, exponent, out,
                                   [](auto a, auto) { return Rsqrt()(a); });
  }
  return binary<Promoted>(call, base, exponent, out, Pow());
}

Tensor& where_out(KernelRuntimeContext& ctx, const Tensor& condition, const Tensor& self,
                  const Tensor& other, Tensor& out) {
  const OpCall call{ctx, "where.self_out"};
  const ScalarType mask = condition.scalar_type();
  ET_KERNEL_CHECK_MSG(ctx, mask == ScalarType::Bool || mask == ScalarType::Byte, InvalidArgument,
                      out, "where.self_out: expected condition to be Bool or Byte, found %s",
                      ::executorch::runtime::toString(mask));
  const Operand a(self);
  const Operand b(other);
  Shape shape;
  if (!a.check(call, "self", true) || !b.check(call, "other", true) ||
      !broadcast_shapes(call, a.shape(), b.shape(), shape) ||
      !broadcast_shapes(call, Shape(condition), shape, shape) || !resize_output(call, out, shape) ||
      !check_castable(call, promote(a, b), out)) {
    return out;
  }
  const ScalarType common = promote(a, b);
  with_number_type<true>(compute_type_of(common), [&](auto zero) {
    using C = decltype(zero);
    map_elements<C, uint8_t, C, C>(
        [](uint8_t chosen, C x, C y) { return chosen ? x : y; }, out,
        {RangeReader(condition, out, ComputeType::kBool), a.reader(out, compute_type_v<C>, common),
         b.reader(out, compute_type_v<C>, common)});
  });
  return out;
}

Tensor& clamp_tensor_out(KernelRuntimeContext& ctx, const Tensor& self,
                         const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                         Tensor& out) {
  const OpCall call{ctx, "clamp.Tensor_out"};
  ET_KERNEL_CHECK_MSG(ctx, min.has_value() || max.has_value(), InvalidArgument, out,
                      "clamp.Tensor_out: expected min or max, found neither");
  if (!max.has_value()) {
    return binary<Promoted>(call, self, *min, out, Maximum());
  }
  if (!min.has_value()) {
    return binary<Promoted>(call, self, *max, out, Minimum());
  }
  const Operand in(self);
  const Operand low(*min);
  const Operand high(*max);
  Shape shape;
  if (!in.check(call, "self") || !low.check(call, "min") || !high.check(call, "max") ||
      !broadcast_shapes(call, low.shape(), high.shape(), shape) ||
      !broadcast_shapes(call, in.shape(), shape, shape) || !resize_output(call, out, shape)) {
    return out;
  }
  const ScalarType common =
      ::executorch::runtime::promoteTypes(promote(in, low), high.tensor().scalar_type());
  if (!check_castable(call, common, out)) {
    return out;
  }
  with_compute_type(compute_type_of(common), [&](auto zero) {
    using C = decltype(zero);
    constexpr ComputeType kType = compute_type_v<C>;
    map_elements<C, C, C, C>([](C x, C lo, C hi) { return Minimum()(Maximum()(x, lo), hi); }, out,
                             {in.reader(out, kType, common), low.reader(out, kType, common),
                              high.reader(out, kType, common)});
  });
  return out;
}

}  // namespace torch::executor::native
