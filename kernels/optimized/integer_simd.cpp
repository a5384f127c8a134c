// SPDX-License-Identifier: BSD-3-Clause
// Functions of one and two arguments and comparisons of integers and Bool, in their own type: the
// functors of the portable kernels in loops that compilers vectorize for each target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/integer_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/binary.h>
#include <executorch/kernels/optimized/unary.h>
#include <executorch/kernels/portable/binary.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {

using executorch::aten::ScalarType;

constexpr int64_t kBlock = 256;

// An operand of a row as an array: its own memory, or a block that repeats its one value.
template <typename T>
class RowOperand {
 public:
  RowOperand(const T* data, bool array, int64_t n) : data_(data), array_(array) {
    if (!array) {
      std::fill_n(block_, std::min(n, kBlock), *data);
    }
  }
  const T* at(int64_t i) const { return array_ ? data_ + i : block_; }

 private:
  const T* data_;
  bool array_;
  T block_[kBlock];
};

// One loop for a functor and a type: values of an operand come from a block like arrays do.
template <class F, typename T, typename R>
void rows_of(const F& f, const BinaryRows<T, R>& r) {
  const int64_t step = r.x_array && r.y_array ? r.n : std::min(r.n, kBlock);
  for (int64_t row = 0; row < r.count; ++row) {
    const RowOperand<T> x_row(r.x + row * r.x_step, r.x_array, r.n);
    const RowOperand<T> y_row(r.y + row * r.y_step, r.y_array, r.n);
    for (int64_t begin = 0; begin < r.n; begin += step) {
      const T* const x = x_row.at(begin);
      const T* const y = y_row.at(begin);
      R* const out = r.out + row * r.n + begin;
      const int64_t n = std::min(step, r.n - begin);
      for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<R>(f(x[i], y[i]));
      }
    }
  }
}

template <typename T>
void arithmetic_rows(Binary f, int64_t alpha, const BinaryRows<T>& rows) {
  const T factor = static_cast<T>(alpha);
  switch (f) {
    case Binary::kAdd:
      return factor == T(1) ? rows_of(Add(), rows) : rows_of(AddScaled<T>{factor}, rows);
    case Binary::kSub:
      return factor == T(1) ? rows_of(Sub(), rows)
                            : rows_of(AddScaled<T>{Sub()(T(0), factor)}, rows);
    case Binary::kMul:
      return rows_of(Mul(), rows);
    default:
      return;
  }
}

template <typename T>
void choice_rows(Binary f, const BinaryRows<T>& rows) {
  switch (f) {
    case Binary::kMax:
      return rows_of(Maximum(), rows);
    case Binary::kMin:
      return rows_of(Minimum(), rows);
    case Binary::kAnd:
      return rows_of(BitAnd(), rows);
    case Binary::kOr:
      return rows_of(BitOr(), rows);
    default:
      return rows_of(BitXor(), rows);
  }
}

// x < y is y > x, and what is not below is equal or above: two loops are all six comparisons.
template <class F>
struct Perhaps {
  uint8_t inverted;
  template <typename T>
  uint8_t operator()(T x, T y) const {
    return static_cast<uint8_t>(F()(x, y) ^ inverted);
  }
};

template <typename T>
void comparison_rows(Compare f, const BinaryRows<T, uint8_t>& rows) {
  BinaryRows<T, uint8_t> turned = rows;
  std::swap(turned.x, turned.y);
  std::swap(turned.x_array, turned.y_array);
  std::swap(turned.x_step, turned.y_step);
  switch (f) {
    case Compare::kEq:
      return rows_of(Perhaps<Equal>{0}, rows);
    case Compare::kNe:
      return rows_of(Perhaps<Equal>{1}, rows);
    case Compare::kLt:
      return rows_of(Perhaps<Less>{0}, rows);
    case Compare::kGe:
      return rows_of(Perhaps<Less>{1}, rows);
    case Compare::kGt:
      return rows_of(Perhaps<Less>{0}, turned);
    case Compare::kLe:
      return rows_of(Perhaps<Less>{1}, turned);
  }
}

// Calls body(value of the type) for the integers; Bool is what Byte is.
template <class Body>
void with_integer_type(ScalarType type, const Body& body) {
  switch (type) {
    case ScalarType::Char:
      return body(int8_t());
    case ScalarType::Short:
      return body(int16_t());
    case ScalarType::Int:
      return body(int32_t());
    case ScalarType::Long:
      return body(int64_t());
    default:
      return body(uint8_t());
  }
}

void whole_rows(ScalarType type, Binary f, int64_t alpha, const Broadcast& walk,
                const WalkRows& rows, const void* x, const void* y, void* out) {
  with_integer_type(type, [&](auto zero) {
    using T = decltype(zero);
    const BinaryRows<T> typed = of_operands(walk, rows, static_cast<const T*>(x),
                                            static_cast<const T*>(y), static_cast<T*>(out));
    f <= Binary::kMul ? arithmetic_rows(f, alpha, typed) : choice_rows(f, typed);
  });
}

void integer_comparison_rows(ScalarType type, Compare f, const Broadcast& walk,
                             const WalkRows& rows, const void* x, const void* y, bool* out) {
  with_integer_type(type, [&](auto zero) {
    using T = decltype(zero);
    comparison_rows(f, of_operands(walk, rows, static_cast<const T*>(x), static_cast<const T*>(y),
                                   reinterpret_cast<uint8_t*>(out)));
  });
}

template <class F, typename T>
void map_values(const F& f, const T* in, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = f(in[i]);
  }
}

void integer_unary_range(ScalarType type, IntegerUnary f, int64_t low, int64_t high, const void* in,
                         void* out, int64_t first, int64_t last) {
  with_integer_type(type, [&](auto zero) {
    using T = decltype(zero);
    constexpr int64_t kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    const T least = static_cast<T>(std::clamp(low, kLow, kHigh));
    const T most = static_cast<T>(std::clamp(high, kLow, kHigh));
    const T* const from = static_cast<const T*>(in) + first;
    T* const to = static_cast<T*>(out) + first;
    const auto negative = [](T x) { return Sub()(T(0), x); };
    switch (f) {
      case IntegerUnary::kAbs:
        return map_values([&](T x) { return x < T(0) ? negative(x) : x; }, from, to, last - first);
      case IntegerUnary::kNeg:
        return map_values(negative, from, to, last - first);
      case IntegerUnary::kClamp:
        return map_values([&](T x) { return std::min(std::max(x, least), most); }, from, to,
                          last - first);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(whole_rows);
HWY_EXPORT(integer_comparison_rows);
HWY_EXPORT(integer_unary_range);

using executorch::aten::ScalarType;

bool has_integer_loop(ScalarType type, Binary f) {
  const bool chooses = f == Binary::kMax || f == Binary::kMin || f >= Binary::kAnd;
  return chooses || (type != ScalarType::Bool &&
                     (f == Binary::kAdd || f == Binary::kSub || f == Binary::kMul));
}

void map_binary_integer(ScalarType type, Binary f, int64_t alpha, const Broadcast& walk,
                        const void* x, const void* y, void* out) {
  walk_parallel(walk, [&](const WalkRows& rows) {
    HWY_DYNAMIC_DISPATCH(whole_rows)(type, f, alpha, walk, rows, x, y, out);
  });
}

void map_unary_integer(ScalarType type, IntegerUnary f, int64_t low, int64_t high, const void* in,
                       void* out, int64_t n) {
  extension::parallel_for(0, n, kWalkGrain, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(integer_unary_range)(type, f, low, high, in, out, first, last);
  });
}

void map_compare_integer(ScalarType type, Compare f, const Broadcast& walk, const void* x,
                         const void* y, bool* out) {
  walk_parallel(walk, [&](const WalkRows& rows) {
    HWY_DYNAMIC_DISPATCH(integer_comparison_rows)(type, f, walk, rows, x, y, out);
  });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
