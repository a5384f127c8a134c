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

template <class F, typename T>
void rows_of(const F& f, const BinaryRows<T>& r) {
  const auto array = [](const T* data) HWY_ATTR { return Array<T>{data}; };
  const auto value = [](const T* data) HWY_ATTR { return value_at(data); };
  const auto each = [&](const auto& x_of, const auto& y_of) HWY_ATTR {
    for (int64_t i = 0; i < r.count; ++i) {
      loop(f, x_of(r.x + i * r.x_step), y_of(r.y + i * r.y_step), r.out + i * r.n, r.n);
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

struct AddOf {
  HWY_INLINE V operator()(V x, V y) const { return hn::Add(x, y); }
};
struct SubOf {
  HWY_INLINE V operator()(V x, V y) const { return hn::Sub(x, y); }
};
struct AddScaled {
  V alpha;
  HWY_INLINE V operator()(V x, V y) const { return hn::Add(x, hn::Mul(alpha, y)); }
};
struct MulOf {
  HWY_INLINE V operator()(V x, V y) const { return hn::Mul(x, y); }
};
struct DivOf {
  HWY_INLINE V operator()(V x, V y) const { return hn::Div(x, y); }
};
struct MaxOf {  // NaN wins
  HWY_INLINE V operator()(V x, V y) const {
    return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Gt(x, y)), x, y);
  }
};
struct MinOf {
  HWY_INLINE V operator()(V x, V y) const {
    return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Lt(x, y)), x, y);
  }
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
template <class F>
void compare_loop(const F& f, const float* x, int64_t x_step, const float* y, int64_t y_step,
                  bool* out, int64_t n) {
  const D d;
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<uint8_t, D> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto* to = reinterpret_cast<uint8_t*>(out);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V a = x_step != 0 ? hn::LoadU(d, x + i) : hn::Set(d, *x);
    const V b = y_step != 0 ? hn::LoadU(d, y + i) : hn::Set(d, *y);
    const auto ones = hn::And(hn::BitCast(bits, hn::VecFromMask(d, f(a, b))), hn::Set(bits, 1u));
    hn::StoreU(hn::TruncateTo(bytes, ones), bytes, to + i);
  }
  for (; i < n; ++i) {
    const hn::CappedTag<float, 1> one;
    const auto mask = f(hn::Set(one, x[i * x_step]), hn::Set(one, y[i * y_step]));
    to[i] = hn::AllFalse(one, mask) ? 0 : 1;
  }
}

void compare_row(Compare f, const float* x, int64_t x_step, const float* y, int64_t y_step,
                 bool* out, int64_t n) {
  const auto run = [&](auto compare) { compare_loop(compare, x, x_step, y, y_step, out, n); };
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

void shift_rows(Shift f, const BinaryRows<int64_t>& rows) {
  f == Shift::kLeft ? rows_of(ShiftLeftOf(), rows) : rows_of(ShiftRightOf(), rows);
}

void where_row(const bool* condition, int64_t c_step, const float* x, int64_t x_step,
               const float* y, int64_t y_step, float* out, int64_t n) {
  const D d;
  const hn::RebindToSigned<D> bits;
  const hn::Rebind<int8_t, D> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* chosen = reinterpret_cast<const int8_t*>(condition);
  int64_t i = 0;
  for (; c_step != 0 && i + lanes <= n; i += lanes) {
    const auto flags = hn::PromoteTo(bits, hn::LoadU(bytes, chosen + i));
    const auto mask = hn::RebindMask(d, hn::Ne(flags, hn::Zero(bits)));
    const V a = x_step != 0 ? hn::LoadU(d, x + i) : hn::Set(d, *x);
    const V b = y_step != 0 ? hn::LoadU(d, y + i) : hn::Set(d, *y);
    hn::StoreU(hn::IfThenElse(mask, a, b), d, out + i);
  }
  for (; i < n; ++i) {
    out[i] = chosen[i * c_step] != 0 ? x[i * x_step] : y[i * y_step];
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
HWY_EXPORT(compare_row);
HWY_EXPORT(shift_rows);
HWY_EXPORT(where_row);

using executorch::aten::ScalarType;

namespace {

constexpr int64_t kGrain = 32768;  // elements worth a thread

// Rows of n elements, one behind the other in the output, or a part of one.
struct Rows {
  int64_t from[kMaxOperands];
  int64_t steps[kMaxOperands];  // from row to row
  int64_t at;                   // in the output
  int64_t n;
  int64_t count;
};

// Calls f(rows) for the rows that make up output elements [begin, end).
template <typename Fn>
void walk_range(const Broadcast& walk, int64_t begin, int64_t end, Fn&& f) {
  int64_t index[kMaxOuterDims];
  int64_t offset[kMaxOperands] = {};
  int64_t rest = begin / walk.row;
  for (int dim = walk.outer_dims - 1; dim >= 0; --dim) {
    index[dim] = rest % walk.outer_sizes[dim];
    rest /= walk.outer_sizes[dim];
    for (int i = 0; i < kMaxOperands; ++i) {
      offset[i] += index[dim] * walk.outer_strides[i][dim];
    }
  }
  int64_t column = begin % walk.row;
  const int last = walk.outer_dims - 1;
  for (int64_t at = begin; at < end;) {
    Rows rows{{}, {}, at, std::min(walk.row - column, end - at), 1};
    if (rows.n == walk.row && last >= 0) {
      rows.count = std::min(walk.outer_sizes[last] - index[last], (end - at) / walk.row);
    }
    for (int i = 0; i < kMaxOperands; ++i) {
      rows.from[i] = offset[i] + column * walk.inner[i];
      rows.steps[i] = last >= 0 ? walk.outer_strides[i][last] : 0;
    }
    f(rows);
    at += rows.n * rows.count;
    column = 0;
    for (int dim = last; dim >= 0; --dim) {
      const int64_t by = dim == last ? rows.count : 1;
      index[dim] += by;
      const bool carry = index[dim] == walk.outer_sizes[dim];
      const int64_t steps = carry ? by - walk.outer_sizes[dim] : by;
      for (int i = 0; i < kMaxOperands; ++i) {
        offset[i] += steps * walk.outer_strides[i][dim];
      }
      if (!carry) {
        break;
      }
      index[dim] = 0;
    }
  }
}

template <typename Fn>
void walk_parallel(const Broadcast& walk, Fn&& f) {
  executorch::extension::parallel_for(
      0, walk.rows * walk.row, kGrain,
      [&](int64_t begin, int64_t end) { walk_range(walk, begin, end, f); });
}

// The same for f(offsets, out_offset, n), a row at a time.
template <typename Fn>
void walk_by_row(const Broadcast& walk, Fn&& f) {
  walk_parallel(walk, [&](Rows rows) {
    for (; rows.count > 0; --rows.count, rows.at += rows.n) {
      f(rows.from, rows.at, rows.n);
      for (int i = 0; i < kMaxOperands; ++i) {
        rows.from[i] += rows.steps[i];
      }
    }
  });
}

template <typename T>
BinaryRows<T> of_operands(const Broadcast& walk, const Rows& rows, const T* x, const T* y, T* out) {
  return {x + rows.from[0], walk.inner[0] != 0, rows.steps[0], y + rows.from[1], walk.inner[1] != 0,
          rows.steps[1],    out + rows.at,      rows.n,        rows.count};
}

bool merges(int num_operands, const int64_t (*strides)[kMaxOuterDims], int outer, int64_t size,
            const int64_t* inner_strides) {
  for (int i = 0; i < num_operands; ++i) {
    if (strides[i][outer] != inner_strides[i] * size) {
      return false;
    }
  }
  return true;
}

}  // namespace

Broadcast plan_broadcast(int num_dims, const int64_t* sizes, int num_operands,
                         const int64_t (*strides)[kMaxOuterDims]) {
  Broadcast walk;
  // Groups of dimensions, innermost first.
  int groups = 0;
  int64_t group_sizes[kMaxOuterDims];
  int64_t group_strides[kMaxOuterDims][kMaxOperands] = {};
  for (int dim = num_dims - 1; dim >= 0; --dim) {
    if (sizes[dim] == 1) {
      continue;
    }
    if (groups > 0 &&
        merges(num_operands, strides, dim, group_sizes[groups - 1], group_strides[groups - 1])) {
      group_sizes[groups - 1] *= sizes[dim];
      continue;
    }
    group_sizes[groups] = sizes[dim];
    for (int i = 0; i < num_operands; ++i) {
      group_strides[groups][i] = strides[i][dim];
    }
    ++groups;
  }
  if (groups == 0) {
    return walk;
  }
  walk.row = group_sizes[0];
  for (int i = 0; i < num_operands; ++i) {
    walk.inner[i] = group_strides[0][i];
  }
  walk.outer_dims = groups - 1;
  for (int group = 1; group < groups; ++group) {
    const int dim = walk.outer_dims - group;
    walk.outer_sizes[dim] = group_sizes[group];
    walk.rows *= group_sizes[group];
    for (int i = 0; i < num_operands; ++i) {
      walk.outer_strides[i][dim] = group_strides[group][i];
    }
  }
  return walk;
}

void map_binary(Binary f, float alpha, const Broadcast& walk, const float* x, const float* y,
                float* out) {
  walk_parallel(walk, [&](const Rows& rows) {
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
  walk_parallel(walk, [&](const Rows& rows) { run(f, alpha, of_operands(walk, rows, x, y, out)); });
  return true;
}

void map_binary_row(Binary f, float alpha, const float* x, bool x_array, const float* y,
                    bool y_array, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(binary_rows)(f, alpha, {x, x_array, 0, y, y_array, 0, out, n, 1});
}

void map_compare(Compare f, const Broadcast& walk, const float* x, const float* y, bool* out) {
  walk_by_row(walk, [&](const int64_t* from, int64_t at, int64_t n) {
    HWY_DYNAMIC_DISPATCH(compare_row)
    (f, x + from[0], walk.inner[0], y + from[1], walk.inner[1], out + at, n);
  });
}

void map_shift(Shift f, const Broadcast& walk, const int64_t* x, const int64_t* y, int64_t* out) {
  walk_parallel(walk, [&](const Rows& rows) {
    HWY_DYNAMIC_DISPATCH(shift_rows)(f, of_operands(walk, rows, x, y, out));
  });
}

void map_where(const Broadcast& walk, const bool* condition, const float* x, const float* y,
               float* out) {
  walk_by_row(walk, [&](const int64_t* from, int64_t at, int64_t n) {
    HWY_DYNAMIC_DISPATCH(where_row)
    (condition + from[0], walk.inner[0], x + from[1], walk.inner[1], y + from[2], walk.inner[2],
     out + at, n);
  });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
