// SPDX-License-Identifier: BSD-3-Clause
// One functor for each row of the Unary table, and the loop they share.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/unary_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/simd_math-inl.h>
#include <executorch/kernels/optimized/unary.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Name, expression over d, x and constants k.
#define ET_UNARY(Name, expression)                                     \
  struct Name {                                                        \
    HWY_INLINE V operator()(D d, V x, const UnaryConstants& k) const { \
      static_cast<void>(d);                                            \
      static_cast<void>(k);                                            \
      return expression;                                               \
    }                                                                  \
  };
ET_UNARY(AbsOf, hn::Abs(x))
ET_UNARY(NegOf, hn::Neg(x))
ET_UNARY(ExpOf, exp_f32(d, x))
ET_UNARY(Expm1Of, expm1_f32(d, x))
ET_UNARY(LogOf, log_or_limit(d, x, hn::Log(d, x)))
ET_UNARY(SqrtOf, hn::Sqrt(x))
ET_UNARY(RsqrtOf, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)))
ET_UNARY(ReciprocalOf, hn::Div(hn::Set(d, 1.0f), x))
ET_UNARY(Log1pOf, log1p_f32(d, x))
ET_UNARY(Log2Of, log_or_limit(d, x, hn::Log2(d, x)))
ET_UNARY(Log10Of, log_or_limit(d, x, hn::Log10(d, x)))
ET_UNARY(TanOf, hn::Div(hn::Sin(d, x), hn::Cos(d, x)))
ET_UNARY(AcosOf, keep_nan(d, x, within_one(d, x, hn::Acos(d, x))))
ET_UNARY(AsinOf, keep_nan(d, x, within_one(d, x, hn::Asin(d, x))))
ET_UNARY(AtanhOf, atanh_f32(d, x))
ET_UNARY(CoshOf, cosh_f32(d, x))
ET_UNARY(LogitOf,
         logit_f32(d, keep_nan(d, x, hn::Min(hn::Max(x, hn::Set(d, k.a)), hn::Set(d, k.b)))))
ET_UNARY(AtanOf, keep_nan(d, x, hn::Atan(d, x)))
ET_UNARY(SinhOf, hn::Sinh(d, x))
ET_UNARY(SinOf, hn::Sin(d, x))
ET_UNARY(CosOf, hn::Cos(d, x))
ET_UNARY(TanhOf, tanh_f32(d, x))
ET_UNARY(SigmoidOf, sigmoid_f32(d, x))
ET_UNARY(ErfOf, erf_f32(d, x))
ET_UNARY(ErfcOf, erfc_f32(d, x))
ET_UNARY(GeluOf, gelu_f32(d, x))
ET_UNARY(GeluTanhOf, gelu_tanh_f32(d, x))
ET_UNARY(ReluOf, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x))
ET_UNARY(HardswishOf,
         hn::Mul(x, hn::Mul(keep_nan(d, x,
                                     hn::Min(hn::Max(hn::Add(x, hn::Set(d, 3.0f)), hn::Zero(d)),
                                             hn::Set(d, 6.0f))),
                            hn::Set(d, 1.0f / 6.0f))))
ET_UNARY(ClampOf, keep_nan(d, x, hn::Min(hn::Max(x, hn::Set(d, k.a)), hn::Set(d, k.b))))
ET_UNARY(LeakyReluOf, hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, k.a))))
ET_UNARY(CeilOf, hn::Ceil(x))
ET_UNARY(FloorOf, hn::Floor(x))
ET_UNARY(RoundOf, hn::Round(x))
ET_UNARY(TruncOf, hn::Trunc(x))
ET_UNARY(SquareOf, hn::Mul(x, x))
ET_UNARY(CubeOf, hn::Mul(hn::Mul(x, x), x))
ET_UNARY(PowOf, pow_f32(d, x, hn::Set(d, k.a)))
#undef ET_UNARY

struct EluOf {
  HWY_INLINE V operator()(D d, V x, const UnaryConstants& k) const {
    const auto positive = hn::Gt(x, hn::Zero(d));
    const V scaled = hn::Mul(x, hn::Set(d, k.b));
    if (hn::AllTrue(d, positive)) {
      return scaled;
    }
    const V below = hn::Mul(hn::Set(d, k.a), expm1_f32(d, hn::Mul(x, hn::Set(d, k.c))));
    return hn::IfThenElse(positive, scaled, below);
  }
};

template <class F>
void loop(const UnaryConstants& k, const float* in, float* out, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(F()(d, hn::LoadU(d, in + i), k), d, out + i);
  }
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    hn::StoreN(F()(d, hn::LoadN(d, in + i, rest), k), d, out + i, rest);
  }
}

// Beyond these the vector versions lose the argument's bits, or the result.
constexpr float kLargestAngle = 39000.0f;
constexpr float kLargestSinh = 88.0f;
constexpr float kLargestErfc = 2.75f;  // the fit of its logarithm is 7e-4 off at 4

// Vectors first, then the few large arguments (infinities and NaN among them) with the standard
// library.
template <class F, float (*kExact)(float)>
void loop_within(float limit, const UnaryConstants& k, const float* in, float* out, int64_t n) {
  constexpr int64_t kBlock = 256;
  float arguments[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = n - i < kBlock ? n - i : kBlock;
    bool large = false;
    for (int64_t j = 0; j < count; ++j) {
      arguments[j] = in[i + j];
      large |= !(std::fabs(arguments[j]) <= limit);
    }
    loop<F>(k, arguments, out + i, count);
    for (int64_t j = 0; large && j < count; ++j) {
      if (!(std::fabs(arguments[j]) <= limit)) {
        out[i + j] = kExact(arguments[j]);
      }
    }
  }
}

void unary_range(Unary f, const UnaryConstants& k, const float* in, float* out, int64_t n) {
  switch (f) {
#define ET_CASE(Name)  \
  case Unary::k##Name: \
    return loop<Name##Of>(k, in, out, n);
    ET_CASE(Abs)
    ET_CASE(Neg)
    ET_CASE(Exp)
    ET_CASE(Expm1)
    ET_CASE(Log)
    ET_CASE(Log1p)
    ET_CASE(Log2)
    ET_CASE(Log10)
    ET_CASE(Acos)
    ET_CASE(Asin)
    ET_CASE(Atan)
    ET_CASE(Atanh)
    ET_CASE(Cosh)
    ET_CASE(Logit)
    ET_CASE(Sqrt)
    ET_CASE(Rsqrt)
    ET_CASE(Reciprocal)
    ET_CASE(Tanh)
    ET_CASE(Sigmoid)
    ET_CASE(Erf)
    ET_CASE(Gelu)
    ET_CASE(GeluTanh)
    ET_CASE(Relu)
    ET_CASE(Hardswish)
    ET_CASE(Clamp)
    ET_CASE(LeakyRelu)
    ET_CASE(Elu)
    ET_CASE(Ceil)
    ET_CASE(Floor)
    ET_CASE(Round)
    ET_CASE(Trunc)
    ET_CASE(Square)
    ET_CASE(Cube)
    ET_CASE(Pow)
#undef ET_CASE
    case Unary::kSin:
      return loop_within<SinOf, std::sin>(kLargestAngle, k, in, out, n);
    case Unary::kCos:
      return loop_within<CosOf, std::cos>(kLargestAngle, k, in, out, n);
    case Unary::kErfc:
      return loop_within<ErfcOf, std::erfc>(kLargestErfc, k, in, out, n);
    case Unary::kTan:
      return loop_within<TanOf, std::tan>(kLargestAngle, k, in, out, n);
    case Unary::kSinh:
      return loop_within<SinhOf, std::sinh>(kLargestSinh, k, in, out, n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(unary_range);

namespace {
constexpr int64_t kGrain = 32768;  // elements worth a thread
}  // namespace

void map_unary_row(Unary f, const UnaryConstants& constants, const float* in, float* out,
                   int64_t n) {
  HWY_DYNAMIC_DISPATCH(unary_range)(f, constants, in, out, n);
}

void map_unary(Unary f, const UnaryConstants& constants, const float* in, float* out, int64_t n) {
  executorch::extension::parallel_for(0, n, kGrain, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(unary_range)(f, constants, in + first, out + first, last - first);
  });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
