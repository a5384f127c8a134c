// SPDX-License-Identifier: BSD-3-Clause
// f32 functions on vectors, within a few units in the last place of the standard library's,
// infinities and NaN included. Included once per target, between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE files as Highway's own -inl.h files.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_SIMD_MATH_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_SIMD_MATH_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_SIMD_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct AddOf {
  template <class V>
  HWY_INLINE V operator()(V x, V y) const {
    return hn::Add(x, y);
  }
};
struct MulOf {
  template <class V>
  HWY_INLINE V operator()(V x, V y) const {
    return hn::Mul(x, y);
  }
};
struct MaxOf {  // NaN wins
  template <class V>
  HWY_INLINE V operator()(V x, V y) const {
    return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Gt(x, y)), x, y);
  }
};
struct MinOf {
  template <class V>
  HWY_INLINE V operator()(V x, V y) const {
    return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Lt(x, y)), x, y);
  }
};

// NaN where x is NaN, else y.
template <class D, class V>
HWY_INLINE V keep_nan(D /*d*/, V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// 2^n times x, n a whole number from -151 to 130.
template <class D, class V>
HWY_INLINE V scaled(D d, V x, V n) {
#if HWY_TARGET == HWY_AVX3_SPR || HWY_TARGET == HWY_AVX3_ZEN4 || HWY_TARGET == HWY_AVX3_DL || \
    HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(V) == sizeof(__m512)) {
    return V{_mm512_scalef_ps(x.raw, n.raw)};
  }
#endif
  // In two steps, so that neither factor is infinite or subnormal.
  const hn::RebindToSigned<D> whole;
  const auto power = [&](auto exponent) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(whole, 127))));
  };
  const auto all = hn::ConvertTo(whole, n), half = hn::ShiftRight<1>(all);
  return hn::Mul(hn::Mul(x, power(half)), power(hn::Sub(all, half)));
}

// 2^n exp(r), where r = x - n log(2) is near 0 and exp(r) = 1 + r + r^2 q(r); q fits it to 4e-9.
template <class D, class V>
HWY_INLINE V exp_f32(D d, V x) {
  const V near = hn::Clamp(x, hn::Set(d, -104.0f), hn::Set(d, 89.0f));
  const V n = hn::Round(hn::Mul(near, hn::Set(d, 1.44269504f)));
  // log(2) in two parts, of which n times the first is exact.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), near);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V q = hn::Set(d, 0.0013814539415761828f);
  q = hn::MulAdd(q, r, hn::Set(d, 0.00836874544620514f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.04166838899254799f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.1666652113199234f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.4999999403953552f));
  const V power = hn::Add(hn::MulAdd(q, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  return keep_nan(d, x, scaled(d, power, n));
}

template <class D, class V>
HWY_INLINE V expm1_f32(D d, V x) {
  return keep_nan(d, x, hn::Expm1(d, hn::Min(x, hn::Set(d, 100.0f))));
}

// `y`, a logarithm of x to any base, where x is positive and finite; else what IEEE 754 has.
template <class D, class V>
HWY_INLINE V log_or_limit(D d, V x, V y) {
  const V zero = hn::Zero(d);
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  return keep_nan(d, x, y);
}

template <class D, class V>
HWY_INLINE V log1p_f32(D d, V x) {
  const V lowest = hn::Set(d, -1.0f);
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  V y = hn::Log1p(d, x);
  y = hn::IfThenElse(hn::Eq(x, lowest), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(x, lowest), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  return keep_nan(d, x, y);
}

// `y` where x is in [-1, 1], else NaN.
template <class D, class V>
HWY_INLINE V within_one(D d, V x, V y) {
  const auto inside = hn::Le(hn::Abs(x), hn::Set(d, 1.0f));
  return hn::IfThenElse(inside, y, hn::Set(d, std::numeric_limits<float>::quiet_NaN()));
}

// log1p(2a / (1 - a)) / 2 of a = |x|: infinite at 1, NaN beyond.
template <class D, class V>
HWY_INLINE V atanh_f32(D d, V x) {
  const V a = hn::Abs(x);
  const V ratio = hn::Div(hn::Add(a, a), hn::Sub(hn::Set(d, 1.0f), a));
  return hn::CopySign(hn::Mul(hn::Set(d, 0.5f), log1p_f32(d, ratio)), x);
}

// From exp(|x| / 2), whose square is finite wherever the result is.
template <class D, class V>
HWY_INLINE V cosh_f32(D d, V x) {
  const V half = hn::Set(d, 0.5f);
  const V root = exp_f32(d, hn::Mul(half, hn::Abs(x)));
  return hn::MulAdd(hn::Mul(half, root), root, hn::Div(half, hn::Mul(root, root)));
}

template <class D, class V>
HWY_INLINE V logit_f32(D d, V x) {
  const V ratio = hn::Div(x, hn::Sub(hn::Set(d, 1.0f), x));
  return log_or_limit(d, ratio, hn::Log(d, ratio));
}

// x p(x^2) / q(x^2), fitted to 6e-8 of tanh(x) up to 9, where that rounds to 1.
template <class D, class V>
HWY_INLINE V tanh_f32(D d, V x) {
  const V limit = hn::Set(d, 9.0f);
  const V one = hn::Set(d, 1.0f);
  const V near = hn::Clamp(x, hn::Neg(limit), limit);
  const V s = hn::Mul(near, near);
  V p = hn::Set(d, 1.82566082678383249e-11f);
  p = hn::MulAdd(p, s, hn::Set(d, -1.27810922033005532e-8f));
  p = hn::MulAdd(p, s, hn::Set(d, 9.26767488998840803e-6f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.00292079250226438667f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.129192580133418915f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.999999941089711242f));
  V q = hn::Set(d, 0.000228104270026781937f);
  q = hn::MulAdd(q, s, hn::Set(d, 0.0237632973655337548f));
  q = hn::MulAdd(q, s, hn::Set(d, 0.462525419234383133f));
  q = hn::MulAdd(q, s, one);
  return keep_nan(d, x, hn::Clamp(hn::Div(hn::Mul(near, p), q), hn::Neg(one), one));
}

template <class D, class V>
HWY_INLINE V sigmoid_f32(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp_f32(d, hn::Neg(x))));
}

// erf(a) for a in [0, 0.93]: a * p(a^2), where p fits erf(x) / x to 6e-10.
template <class D, class V>
HWY_INLINE V erf_near_0(D d, V a) {
  const V s = hn::Mul(a, a);
  V p = hn::Set(d, 8.215426350943744e-05f);
  p = hn::MulAdd(p, s, hn::Set(d, -0.000810596568044275f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.0051977974362671375f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.026858104392886162f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.11283672600984573f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.37612631916999817f));
  p = hn::MulAdd(p, s, hn::Set(d, 1.128379225730896f));
  return hn::Mul(p, a);
}

// erfc(a) for a in [0.93, 4]: exp(q(a)), to 4e-11 of 1, and to 1.2e-6 of itself up to 2.75.
template <class D, class V>
HWY_INLINE V erfc_beyond(D d, V a) {
  V q = hn::Set(d, -6.628643518524768e-07f);
  q = hn::MulAdd(q, a, hn::Set(d, -1.2329298442637082e-05f));
  q = hn::MulAdd(q, a, hn::Set(d, 0.000384781596949324f));
  q = hn::MulAdd(q, a, hn::Set(d, -0.004013384226709604f));
  q = hn::MulAdd(q, a, hn::Set(d, 0.024812771007418633f));
  q = hn::MulAdd(q, a, hn::Set(d, -0.10790567845106125f));
  q = hn::MulAdd(q, a, hn::Set(d, -0.6336273550987244f));
  q = hn::MulAdd(q, a, hn::Set(d, -1.1293970346450806f));
  q = hn::MulAdd(q, a, hn::Set(d, 0.00015338075172621757f));
  return hn::Exp(d, q);
}

// In f32 the largest error is 1.2e-7.
template <class D, class V>
HWY_INLINE V erf_f32(D d, V x) {
  const V a = hn::Min(hn::Abs(x), hn::Set(d, 4.0f));
  const V beyond = hn::Sub(hn::Set(d, 1.0f), erfc_beyond(d, a));
  const V y = hn::IfThenElse(hn::Le(a, hn::Set(d, 0.93f)), erf_near_0(d, a), beyond);
  return keep_nan(d, x, hn::CopySign(y, x));
}

// 1 - erf(x) for |x| <= 4.
template <class D, class V>
HWY_INLINE V erfc_f32(D d, V x) {
  const V a = hn::Abs(x);
  const V one = hn::Set(d, 1.0f);
  const V right = erfc_beyond(d, a);
  const V beyond = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2.0f), right), right);
  const V near = hn::Sub(one, hn::CopySign(erf_near_0(d, a), x));
  return hn::IfThenElse(hn::Le(a, hn::Set(d, 0.93f)), near, beyond);
}

// x (1 + e) / 2, where e = x p(x^2) / q(x^2) is fitted to 3e-8 of erf(x / sqrt(2)) up to 5.6.
// Beyond, a product with e - 1 is below 7e-8; as the formula has it, -inf gives NaN.
template <class D, class V>
HWY_INLINE V gelu_f32(D d, V x) {
  const V zero = hn::Zero(d);
  const V s = hn::Mul(x, x);
  V p = hn::Set(d, 4.45909808041857013e-8f);
  p = hn::MulAdd(p, s, hn::Set(d, 0.0000125785619303229525f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.000337834871191977199f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.0093545537993190867f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.0678566823912204341f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.797884543812933056f));
  V q = hn::Set(d, 1.17956301528911305e-6f);
  q = hn::MulAdd(q, s, hn::Set(d, 0.0000733381507655802358f));
  q = hn::MulAdd(q, s, hn::Set(d, 0.00188542882880156778f));
  q = hn::MulAdd(q, s, hn::Set(d, 0.0286770817304993315f));
  q = hn::MulAdd(q, s, hn::Set(d, 0.251712067727128468f));
  q = hn::MulAdd(q, s, hn::Set(d, 1.0f));
  const V half = hn::Mul(x, hn::Set(d, 0.5f));
  const V near = hn::MulAdd(half, hn::Div(hn::Mul(x, p), q), half);
  const V far = hn::MulAdd(zero, hn::Min(x, zero), hn::Max(x, zero));
  return keep_nan(d, x, hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 5.6f)), near, far));
}

template <class D, class V>
HWY_INLINE V gelu_tanh_f32(D d, V x) {
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V inner = hn::Mul(hn::Set(d, 0.79788456080286536f),  // sqrt(2 / pi)
                          hn::MulAdd(hn::Set(d, 0.044715f), cube, x));
  const V half = hn::Mul(hn::Set(d, 0.5f), x);
  return hn::MulAdd(half, tanh_f32(d, inner), half);
}

// (m * 2^n)^y for m in [sqrt(1/2), sqrt(2)), to 3e-9 of it; what no float can hold is as large or
// as small as no float can be.
template <class D, class V>
HWY_INLINE V pow_f64(D d, V m, V n, V y) {
  const V one = hn::Set(d, 1.0);
  const V t = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V s = hn::Mul(t, t);
  V p = hn::Set(d, 0.3407279907727214);
  p = hn::MulAdd(p, s, hn::Set(d, 0.4116728278248558));
  p = hn::MulAdd(p, s, hn::Set(d, 0.5770835832545562));
  p = hn::MulAdd(p, s, hn::Set(d, 0.9617966733501412));
  p = hn::MulAdd(p, s, hn::Set(d, 2.88539008179008));
  const V limit = hn::Set(d, 400.0);
  const V x = hn::Clamp(hn::Mul(y, hn::MulAdd(p, t, n)), hn::Neg(limit), limit);
  // A sum with 1.5 * 2^52 has x, rounded, in its lowest bits.
  const hn::RebindToSigned<D> bits;
  const V shift = hn::Set(d, 6755399441055744.0);
  const V shifted = hn::Add(x, shift);
  const V f = hn::Sub(x, hn::Sub(shifted, shift));
  V e = hn::Set(d, 0.00015345809433740977);
  e = hn::MulAdd(e, f, hn::Set(d, 0.0013399931198155698));
  e = hn::MulAdd(e, f, hn::Set(d, 0.009618488966639695));
  e = hn::MulAdd(e, f, hn::Set(d, 0.05550328777030129));
  e = hn::MulAdd(e, f, hn::Set(d, 0.24022646890546143));
  e = hn::MulAdd(e, f, hn::Set(d, 0.6931472057372268));
  e = hn::MulAdd(e, f, hn::Set(d, 1.0000000005541771));
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(bits, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, e), exponent));
}

template <class D, class V>
HWY_NOINLINE V pow_of_each(D d, V x, V y) {
  HWY_ALIGN float base[hn::MaxLanes(D())], exponent[hn::MaxLanes(D())];
  hn::Store(x, d, base);
  hn::Store(y, d, exponent);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    base[i] = std::pow(base[i], exponent[i]);
  }
  return hn::Load(d, base);
}

// x^y within half a unit in the last place and a little; the standard library for vectors with a
// base that is not normal, positive and finite or an exponent that is not finite.
template <class D, class V>
HWY_INLINE V pow_f32(D d, V x, V y) {
  const auto normal =
      hn::And(hn::Ge(x, hn::Set(d, std::numeric_limits<float>::min())), hn::Lt(x, hn::Inf(d)));
  if (!hn::AllTrue(d, hn::And(normal, hn::IsFinite(y)))) {
    return pow_of_each(d, x, y);
  }
  const hn::RebindToSigned<D> bits;
  const hn::Repartition<double, D> dd;
  const hn::Half<D> half;
  const auto whole = hn::BitCast(bits, x);
  const auto n = hn::ShiftRight<23>(hn::Sub(whole, hn::Set(bits, 0x3F3504F3)));  // sqrt(1/2)
  const V m = hn::BitCast(d, hn::Sub(whole, hn::ShiftLeft<23>(n)));
  const auto low =
      pow_f64(dd, hn::PromoteLowerTo(dd, m), hn::PromoteLowerTo(dd, n), hn::PromoteLowerTo(dd, y));
  const auto high =
      pow_f64(dd, hn::PromoteUpperTo(dd, m), hn::PromoteUpperTo(dd, n), hn::PromoteUpperTo(dd, y));
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
