// SPDX-License-Identifier: BSD-3-Clause
// The loops of binary.h: by rows, in which an operand is either an array or one value.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/binary_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/binary.h>
#include <executorch/kernels/optimized/simd_math-inl.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using executorch::aten::ScalarType;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// What values in memory of T are computed in: int64 as they are, all others as f32.
template <typename T>
using TagOf = std::conditional_t<std::is_same_v<T, int64_t>, hn::ScalableTag<int64_t>, D>;
template <typename T>
using VecOf = hn::Vec<TagOf<T>>;
template <typename T>
constexpr bool kAsStored = std::is_same_v<T, hn::TFromD<TagOf<T>>>;

template <typename T>
HWY_INLINE VecOf<T> load_lanes(const T* from) {
  if constexpr (kAsStored<T>) {
    return hn::LoadU(TagOf<T>(), from);
  } else {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<T, D>(), from));
  }
}

template <typename T>
HWY_INLINE VecOf<T> load_lanes(const T* from, size_t n) {
  if constexpr (kAsStored<T>) {
    return hn::LoadN(TagOf<T>(), from, n);
  } else {
    HWY_ALIGN T rest[hn::MaxLanes(D())] = {};
    std::memcpy(rest, from, n * sizeof(T));
    return load_lanes(rest);
  }
}

template <typename T>
HWY_INLINE void store_lanes(VecOf<T> values, T* to) {
  if constexpr (kAsStored<T>) {
    hn::StoreU(values, TagOf<T>(), to);
  } else {
    const hn::Rebind<T, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, values), narrow, to);
  }
}

template <typename T>
HWY_INLINE void store_lanes(VecOf<T> values, T* to, size_t n) {
  if constexpr (kAsStored<T>) {
    hn::StoreN(values, TagOf<T>(), to, n);
  } else {
    HWY_ALIGN T rest[hn::MaxLanes(D())];
    store_lanes(values, rest);
    std::memcpy(to, rest, n * sizeof(T));
  }
}

// An operand of a row: memory, or one value for all of it.
template <typename T>
struct Array {
  const T* data;
  HWY_INLINE VecOf<T> load(int64_t i) const { return load_lanes(data + i); }
  HWY_INLINE VecOf<T> load(int64_t i, size_t n) const { return load_lanes(data + i, n); }
};
template <typename T>
struct Value {
  VecOf<T> value;
  HWY_INLINE VecOf<T> load(int64_t /*i*/) const { return value; }
  HWY_INLINE VecOf<T> load(int64_t /*i*/, size_t /*n*/) const { return value; }
};
template <typename T>
HWY_INLINE Value<T> value_at(const T* data) {
  return {hn::Set(TagOf<T>(), hwy::ConvertScalarTo<hn::TFromD<TagOf<T>>>(*data))};
}

template <class F, class X, class Y, typename T>
HWY_INLINE void loop(const F& f, const X& x, const Y& y, T* out, int64_t n) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(TagOf<T>()));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    store_lanes(f(x.load(i), y.load(i)), out + i);
  }
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    store_lanes(f(x.load(i, rest), y.load(i, rest)), out + i, rest);
  }
}

// Calls body(x, y, out) with the operands of each row.
template <typename T, typename R, class Body>
HWY_INLINE void for_each_row(const BinaryRows<T, R>& r, const Body& body) {
  const auto array = [](const T* data) HWY_ATTR { return Array<T>{data}; };
  const auto value = [](const T* data) HWY_ATTR { return value_at(data); };
  const auto each = [&](const auto& x_of, const auto& y_of) HWY_ATTR {
    for (int64_t i = 0; i < r.count; ++i) {
      body(x_of(r.x + i * r.x_step), y_of(r.y + i * r.y_step), r.out + i * r.n);
    }
  };
  if (r.x_array && r.y_array) {
    each(array, array);
  } else if (r.x_array) {
    each(array, value);
  } else if (r.y_array) {
    each(value, array);
  } else {
    each(value, value);
  }
}

template <class F, typename T>
void rows_of(const F& f, const BinaryRows<T>& r) {
  for_each_row(r, [&](const auto& x, const auto& y, T* out) HWY_ATTR { loop(f, x, y, out, r.n); });
}

struct SubOf {
  HWY_INLINE V operator()(V x, V y) const { return hn::Sub(x, y); }
};
struct AddScaled {
  V alpha;
  HWY_INLINE V operator()(V x, V y) const { return hn::Add(x, hn::Mul(alpha, y)); }
};
struct DivOf {
  HWY_INLINE V operator()(V x, V y) const { return hn::Div(x, y); }
};

struct Atan2Of {
  HWY_INLINE V operator()(V y, V x) const { return hn::Atan2(D(), y, x); }
};

// Half a vector's |x| mod |y| in double, where the quotient (below 2^28) times y is exact.
template <class DD, class VD>
HWY_INLINE VD modulus(DD d, VD x, VD y) {
  const VD quotient = hn::Floor(hn::Div(x, y));
  const VD rest = hn::NegMulAdd(quotient, y, x);
  return hn::IfThenElse(hn::Lt(rest, hn::Zero(d)), hn::Add(rest, y), rest);
}

struct FmodOf {
  HWY_INLINE V operator()(V x, V y) const {
    const D d;
    const hn::Repartition<double, D> dd;
    const V a = hn::Abs(x), b = hn::Abs(y);
    const V large = hn::Set(d, 268435456.0f);
    // Comparisons that are false for NaN, too.
    if (!hn::AllTrue(d, hn::And(hn::Lt(hn::Div(a, b), large), hn::Lt(b, hn::Inf(d))))) {
      return exact(x, y);
    }
    const auto low = modulus(dd, hn::PromoteLowerTo(dd, a), hn::PromoteLowerTo(dd, b));
    const auto high = modulus(dd, hn::PromoteUpperTo(dd, a), hn::PromoteUpperTo(dd, b));
    const hn::Half<D> half;
    return hn::CopySign(hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low)), x);
  }

 private:
  static HWY_NOINLINE V exact(V x, V y) {
    const D d;
    HWY_ALIGN float a[hn::MaxLanes(D())], b[hn::MaxLanes(D())];
    hn::Store(x, d, a);
    hn::Store(y, d, b);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      a[i] = std::fmod(a[i], b[i]);
    }
    return hn::Load(d, a);
  }
};

struct RemainderOf {
  HWY_INLINE V operator()(V x, V y) const {
    const D d;
    const V zero = hn::Zero(d);
    const V rest = FmodOf()(x, y);
    const auto other_sign = hn::Xor(hn::Lt(y, zero), hn::Lt(rest, zero));
    return hn::IfThenElse(hn::And(hn::Ne(rest, zero), other_sign), hn::Add(rest, y), rest);
  }
};

struct FloorDivOf {
  HWY_INLINE V operator()(V x, V y) const {
    const D d;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    const V rest = FmodOf()(x, y);
    const V near_quotient = hn::Div(hn::Sub(x, rest), y);
    const auto below = hn::And(hn::Ne(rest, zero), hn::Xor(hn::Lt(y, zero), hn::Lt(rest, zero)));
    const V quotient = hn::MaskedSubOr(near_quotient, below, near_quotient, one);
    const V whole = hn::Floor(quotient);
    const auto rounded_down = hn::Gt(hn::Sub(quotient, whole), hn::Set(d, 0.5f));
    const V result = hn::MaskedAddOr(whole, rounded_down, whole, one);
    const V exact = hn::Div(x, y);
    const V nonzero = hn::IfThenElse(hn::Eq(quotient, zero), hn::CopySign(zero, exact), result);
    return hn::IfThenElse(hn::Eq(y, zero), exact, nonzero);
  }
};
struct TruncDivOf {
  HWY_INLINE V operator()(V x, V y) const { return hn::Trunc(hn::Div(x, y)); }
};
struct PowOf {
  HWY_INLINE V operator()(V x, V y) const { return pow_f32(D(), x, y); }
};
struct GluOf {
  HWY_INLINE V operator()(V x, V y) const { return hn::Mul(x, sigmoid_f32(D(), y)); }
};

using I = VecOf<int64_t>;
struct ShiftLeftOf {
  HWY_INLINE I operator()(I x, I y) const {
    const hn::RebindToUnsigned<TagOf<int64_t>> d;
    const auto most = hn::Set(d, 63);
    const auto by = hn::BitCast(d, y);
    const auto shifted = hn::Shl(hn::BitCast(d, x), hn::And(by, most));
    return hn::BitCast(TagOf<int64_t>(), hn::IfThenElseZero(hn::Le(by, most), shifted));
  }
};
struct ShiftRightOf {
  HWY_INLINE I operator()(I x, I y) const {
    const hn::RebindToUnsigned<TagOf<int64_t>> d;
    return hn::Shr(x, hn::BitCast(TagOf<int64_t>(), hn::Min(hn::BitCast(d, y), hn::Set(d, 63))));
  }
};

// Functions of one or two instructions, for all types; false for the others.
template <typename T>
bool light_rows(Binary f, float alpha, const BinaryRows<T>& rows) {
  const auto run = [&](const auto& functor) {
    rows_of(functor, rows);
    return true;
  };
  switch (f) {
    case Binary::kAdd:
      return alpha == 1.0f ? run(AddOf()) : run(AddScaled{hn::Set(D(), alpha)});
    case Binary::kSub:
      return alpha == 1.0f ? run(SubOf()) : run(AddScaled{hn::Set(D(), -alpha)});
    case Binary::kMul:
      return run(MulOf());
    case Binary::kDiv:
      return run(DivOf());
    case Binary::kMax:
      return run(MaxOf());
    case Binary::kMin:
      return run(MinOf());
    default:
      return false;
  }
}

template <typename T>
BinaryRows<T> as(const BinaryRows<uint16_t>& r) {
  return {reinterpret_cast<const T*>(r.x), r.x_array, r.x_step,
          reinterpret_cast<const T*>(r.y), r.y_array, r.y_step,
          reinterpret_cast<T*>(r.out),     r.n,       r.count};
}

void half_rows(Binary f, float alpha, const BinaryRows<uint16_t>& rows) {
  light_rows(f, alpha, as<hwy::float16_t>(rows));
}

void bfloat16_rows(Binary f, float alpha, const BinaryRows<uint16_t>& rows) {
  light_rows(f, alpha, as<hwy::bfloat16_t>(rows));
}

void binary_rows(Binary f, float alpha, const BinaryRows<float>& rows) {
  switch (f) {
    case Binary::kAtan2:
      return rows_of(Atan2Of(), rows);
    case Binary::kFmod:
      return rows_of(FmodOf(), rows);
    case Binary::kRemainder:
      return rows_of(RemainderOf(), rows);
    case Binary::kFloorDiv:
      return rows_of(FloorDivOf(), rows);
    case Binary::kTruncDiv:
      return rows_of(TruncDivOf(), rows);
    case Binary::kGlu:
      return rows_of(GluOf(), rows);
    case Binary::kPow:
      return rows_of(PowOf(), rows);
    default:
      light_rows(f, alpha, rows);
  }
}

// 0 or 1 a byte from comparisons of lanes.
template <class F, class X, class Y>
HWY_INLINE void compare_loop(const F& f, const X& x, const Y& y, uint8_t* out, int64_t n) {
  const D d;
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<uint8_t, D> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto truths = [&](V a, V b) HWY_ATTR {
    const auto ones = hn::And(hn::BitCast(bits, hn::VecFromMask(d, f(a, b))), hn::Set(bits, 1u));
    return hn::TruncateTo(bytes, ones);
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(truths(x.load(i), y.load(i)), bytes, out + i);
  }
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    HWY_ALIGN uint8_t last[hn::MaxLanes(D())];
    hn::Store(truths(x.load(i, rest), y.load(i, rest)), bytes, last);
    std::copy_n(last, rest, out + i);
  }
}

template <class F, typename T>
void compare_rows_by(const F& f, const BinaryRows<T, uint8_t>& r) {
  for_each_row(r, [&](const auto& x, const auto& y, uint8_t* out)
                      HWY_ATTR { compare_loop(f, x, y, out, r.n); });
}

template <typename T>
void compare_rows_of(Compare f, const BinaryRows<T, uint8_t>& rows) {
  const auto run = [&](auto compare) { compare_rows_by(compare, rows); };
  switch (f) {
    case Compare::kEq:
      return run([](auto a, auto b) HWY_ATTR { return hn::Eq(a, b); });
    case Compare::kNe:  // NaN differs from everything; Highway's Ne says it does not on some
                        // targets
      return run([](auto a, auto b) HWY_ATTR { return hn::Not(hn::Eq(a, b)); });
    case Compare::kLt:
      return run([](auto a, auto b) HWY_ATTR { return hn::Lt(a, b); });
    case Compare::kLe:
      return run([](auto a, auto b) HWY_ATTR { return hn::Le(a, b); });
    case Compare::kGt:
      return run([](auto a, auto b) HWY_ATTR { return hn::Gt(a, b); });
    case Compare::kGe:
      return run([](auto a, auto b) HWY_ATTR { return hn::Ge(a, b); });
  }
}

void compare_rows(ScalarType type, Compare f, const Broadcast& walk, const WalkRows& rows,
                  const void* x, const void* y, uint8_t* out) {
  const auto run = [&](auto value) {
    using T = decltype(value);
    compare_rows_of(
        f, of_operands(walk, rows, static_cast<const T*>(x), static_cast<const T*>(y), out));
  };
  type == ScalarType::Half       ? run(hwy::float16_t())
  : type == ScalarType::BFloat16 ? run(hwy::bfloat16_t())
                                 : run(float());
}

void shift_rows(Shift f, const BinaryRows<int64_t>& rows) {
  f == Shift::kLeft ? rows_of(ShiftLeftOf(), rows) : rows_of(ShiftRightOf(), rows);
}

// Lanes of U are the bits of any elements of its size.
template <typename U>
void choose_row(const bool* condition, int64_t c_step, const U* x, int64_t x_step, const U* y,
                int64_t y_step, U* out, int64_t n) {
  using Signed = hwy::MakeSigned<U>;
  const hn::ScalableTag<Signed> d;
  const hn::Rebind<int8_t, decltype(d)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* chosen = reinterpret_cast<const int8_t*>(condition);
  const auto load = [&](const U* from, int64_t i, int64_t step) HWY_ATTR {
    const auto* lane = reinterpret_cast<const Signed*>(from);
    return step != 0 ? hn::LoadU(d, lane + i) : hn::Set(d, *lane);
  };
  int64_t i = 0;
  for (; c_step != 0 && i + lanes <= n; i += lanes) {
    const auto flags = hn::LoadU(bytes, chosen + i);
    const auto a = load(x, i, x_step), b = load(y, i, y_step);
    auto* const to = reinterpret_cast<Signed*>(out + i);
    if constexpr (sizeof(U) == 1) {
      hn::StoreU(hn::IfThenElse(hn::Ne(flags, hn::Zero(d)), a, b), d, to);
    } else {
      const auto mask = hn::Ne(hn::PromoteTo(d, flags), hn::Zero(d));
      hn::StoreU(hn::IfThenElse(mask, a, b), d, to);
    }
  }
  for (; i < n; ++i) {
    out[i] = chosen[i * c_step] != 0 ? x[i * x_step] : y[i * y_step];
  }
}

void where_row(size_t element_size, const Broadcast& walk, const int64_t* from, int64_t at,
               int64_t n, const bool* condition, const void* x, const void* y, void* out) {
  const auto run = [&](auto value) {
    using U = decltype(value);
    choose_row(condition + from[0], walk.inner[0], static_cast<const U*>(x) + from[1],
               walk.inner[1], static_cast<const U*>(y) + from[2], walk.inner[2],
               static_cast<U*>(out) + at, n);
  };
  switch (element_size) {
    case 1:
      return run(uint8_t());
    case 2:
      return run(uint16_t());
    case 4:
      return run(uint32_t());
    default:
      return run(uint64_t());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(binary_rows);
HWY_EXPORT(half_rows);
HWY_EXPORT(bfloat16_rows);
HWY_EXPORT(compare_rows);
HWY_EXPORT(shift_rows);
HWY_EXPORT(where_row);

using executorch::aten::ScalarType;

void map_binary(Binary f, float alpha, const Broadcast& walk, const float* x, const float* y,
                float* out) {
  walk_parallel(walk, [&](const WalkRows& rows) {
    HWY_DYNAMIC_DISPATCH(binary_rows)(f, alpha, of_operands(walk, rows, x, y, out));
  });
}

bool map_binary_narrow(ScalarType type, Binary f, float alpha, const Broadcast& walk,
                       const uint16_t* x, const uint16_t* y, uint16_t* out) {
  if (f > Binary::kMin) {
    return false;
  }
  const auto run = type == ScalarType::Half ? HWY_DYNAMIC_POINTER(half_rows)
                                            : HWY_DYNAMIC_POINTER(bfloat16_rows);
  walk_parallel(walk,
                [&](const WalkRows& rows) { run(f, alpha, of_operands(walk, rows, x, y, out)); });
  return true;
}

void map_binary_row(Binary f, float alpha, const float* x, bool x_array, const float* y,
                    bool y_array, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(binary_rows)(f, alpha, {x, x_array, 0, y, y_array, 0, out, n, 1});
}

void map_compare(ScalarType type, Compare f, const Broadcast& walk, const void* x, const void* y,
                 bool* out) {
  walk_parallel(walk, [&](const WalkRows& rows) {
    HWY_DYNAMIC_DISPATCH(compare_rows)
    (type, f, walk, rows, x, y, reinterpret_cast<uint8_t*>(out));
  });
}

void map_shift(Shift f, const Broadcast& walk, const int64_t* x, const int64_t* y, int64_t* out) {
  walk_parallel(walk, [&](const WalkRows& rows) {
    HWY_DYNAMIC_DISPATCH(shift_rows)(f, of_operands(walk, rows, x, y, out));
  });
}

void map_where(size_t element_size, const Broadcast& walk, const bool* condition, const void* x,
               const void* y, void* out) {
  walk_by_row(walk, [&](const int64_t* from, int64_t at, int64_t n) {
    HWY_DYNAMIC_DISPATCH(where_row)(element_size, walk, from, at, n, condition, x, y, out);
  });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
