// SPDX-License-Identifier: BSD-3-Clause
// Dot products of rows, whatever floats they are of, with a few vectors of f32. Included once per
// target, as simd_math-inl.h is.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_GEMM_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_GEMM_DOTS_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_GEMM_DOTS_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_GEMM_DOTS_INL_H_
#endif

#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kMaxTileWidth / 4>;
using V = hn::Vec<D>;

// Block by block of four lanes.
template <class Tag>
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> sum_of_blocks(Tag tag, hn::Vec<Tag> v) {
  if constexpr (hn::MaxLanes(tag) == 4) {
    return v;
  } else {
    const hn::Half<Tag> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Up to a vector of T as f32.
template <typename T>
HWY_INLINE V load_widened(const T* from, size_t valid) {
  const D d;
  if constexpr (std::is_same_v<T, float>) {
    return valid == hn::Lanes(d) ? hn::LoadU(d, from) : hn::LoadN(d, from, valid);
  } else {
    const hn::Rebind<T, D> narrow;
    if (valid == hn::Lanes(d)) {
      return hn::PromoteTo(d, hn::LoadU(narrow, from));
    }
    HWY_ALIGN T rest[hn::MaxLanes(narrow)] = {};
    std::memcpy(rest, from, valid * sizeof(T));
    return hn::PromoteTo(d, hn::Load(narrow, rest));
  }
}

// Adds one step of products, of `valid` values, to the sums of each row with each x.
template <typename T, int kRows, int kX>
HWY_INLINE void add_products(const DotRows& p, const T* rows, int64_t q, size_t valid,
                             V (&sum)[kX][kRows]) {
  V x[kX];
#pragma GCC unroll 4
  for (int i = 0; i < kX; ++i) {
    x[i] = load_widened(p.x + i * p.x_stride + q, valid);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const V row = load_widened(rows + r * p.row_stride + q, valid);
#pragma GCC unroll 4
    for (int i = 0; i < kX; ++i) {
      sum[i][r] = hn::MulAdd(row, x[i], sum[i][r]);
    }
  }
}

// The sums of four vectors' lanes, side by side. A vector is added up in blocks of four lanes: a
// sum of its own for each would take three times as many instructions.
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> totals_of_four(const V (&sum)[4]) {
  const D d;
  const hn::Repartition<uint64_t, D> pairs;
  const auto halves = [&](V a, V b) HWY_ATTR {
    return hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  };
  const auto first = halves(sum[0], sum[1]), second = halves(sum[2], sum[3]);
  return sum_of_blocks(d, hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, first, second)),
                                  hn::BitCast(d, hn::InterleaveUpper(pairs, first, second))));
}

template <typename T, int kRows, int kX>
HWY_INLINE void dot_block(const DotRows& p, int64_t first) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sum[kX][kRows];
#pragma GCC unroll 4
  for (int i = 0; i < kX; ++i) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sum[i][r] = hn::Zero(d);
    }
  }
  const T* rows = static_cast<const T*>(p.rows) + first * p.row_stride;
  int64_t q = 0;
  for (; q + lanes <= p.k; q += lanes) {
    add_products(p, rows, q, static_cast<size_t>(lanes), sum);
  }
  if (q < p.k) {
    add_products(p, rows, q, static_cast<size_t>(p.k - q), sum);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kX; ++i) {
    float* out = p.out + i * p.out_stride + first;
    if constexpr (kRows == kRowsOfDots) {
      const hn::FixedTag<float, 4> four;
      const auto total = totals_of_four(sum[i]);
      hn::StoreU(p.bias == nullptr ? total : hn::Add(total, hn::LoadU(four, p.bias + first)), four,
                 out);
    } else {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        out[r] = hn::ReduceSum(d, sum[i][r]) + (p.bias != nullptr ? p.bias[first + r] : 0.0f);
      }
    }
  }
}

template <typename T, int kX>
void dot_rows_for(const DotRows& p, int64_t first, int64_t last) {
  for (; first + kRowsOfDots <= last; first += kRowsOfDots) {
    dot_block<T, kRowsOfDots, kX>(p, first);
  }
  for (; first < last; ++first) {
    dot_block<T, 1, kX>(p, first);
  }
}

template <typename T>
void dot_rows_of(const DotRows& p, int64_t first, int64_t last) {
  switch (p.num_x) {
    case 1:
      return dot_rows_for<T, 1>(p, first, last);
    case 2:
      return dot_rows_for<T, 2>(p, first, last);
    case 3:
      return dot_rows_for<T, 3>(p, first, last);
    default:
      return dot_rows_for<T, 4>(p, first, last);
  }
}

template <typename T>
struct RowType {
  using Type = T;
};

// body(RowType<T>()) with the T that stands for a type of rows.
template <class Body>
void with_row_type(executorch::aten::ScalarType type, const Body& body) {
  switch (type) {
    case executorch::aten::ScalarType::Half:
      return body(RowType<hwy::float16_t>());
    case executorch::aten::ScalarType::BFloat16:
      return body(RowType<hwy::bfloat16_t>());
    default:
      return body(RowType<float>());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif
