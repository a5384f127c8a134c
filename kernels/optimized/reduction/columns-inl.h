// SPDX-License-Identifier: BSD-3-Clause
// Walks over the lines of reduction.h that do not lie along the last dimension: vectors run across
// neighbouring lines, four at a time where there are so many. Included once per target.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_ROWS_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_ROWS_COLUMNS_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_ROWS_COLUMNS_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_ROWS_COLUMNS_INL_H_
#endif

#include <executorch/kernels/optimized/reduction/reduction.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using ColumnTag = hn::ScalableTag<float>;
using ColumnVec = hn::Vec<ColumnTag>;

inline int64_t column_lanes() {
  return static_cast<int64_t>(hn::Lanes(ColumnTag()));
}

// Vectors of columns of one outer index.
inline int64_t column_tasks(const InnerLoops& p) {
  return p.outer * ((p.inner + column_lanes() - 1) / column_lanes());
}

// The first column of a task: its outer index, its inner one, and how many of its lanes are real.
struct Columns {
  int64_t outer, first;
  size_t count;
};
inline Columns columns_at(const InnerLoops& p, int64_t task) {
  const int64_t blocks = (p.inner + column_lanes() - 1) / column_lanes();
  const int64_t first = task % blocks * column_lanes();
  return {task / blocks, first, static_cast<size_t>(std::min(column_lanes(), p.inner - first))};
}

// kVectors neighbouring vectors of one row; a single one may have fewer than all lanes.
template <int kVectors>
HWY_INLINE ColumnVec load_column(const float* row, int k, size_t count) {
  const ColumnTag d;
  return kVectors > 1 ? hn::LoadU(d, row + k * column_lanes()) : hn::LoadN(d, row, count);
}
template <int kVectors>
HWY_INLINE void store_column(ColumnVec value, float* row, int k, size_t count) {
  const ColumnTag d;
  if constexpr (kVectors > 1) {
    hn::StoreU(value, d, row + k * column_lanes());
  } else {
    hn::StoreN(value, d, row, count);
  }
}

// Calls body(std::integral_constant<int, vectors>, columns) for groups of the tasks [first, last).
template <class Body>
HWY_INLINE void for_each_columns(const InnerLoops& p, int64_t first, int64_t last, Body&& body) {
  constexpr int kGroup = 4;
  for (int64_t t = first; t < last;) {
    const Columns columns = columns_at(p, t);
    if (t + kGroup <= last && columns.first + kGroup * column_lanes() <= p.inner) {
      body(std::integral_constant<int, kGroup>(), columns);
      t += kGroup;
    } else {
      body(std::integral_constant<int, 1>(), columns);
      ++t;
    }
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
