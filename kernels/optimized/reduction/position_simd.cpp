// SPDX-License-Identifier: BSD-3-Clause
// Where the extremes of neighbouring lines are, a vector of lines at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/reduction/position_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/reduction/columns-inl.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {

// One vector of lines or some side by side. A number or NaN replaces what it exceeds; NaN stays.
template <int kVectors, bool kLargest>
HWY_INLINE void position_across(const float* in, float* values, int64_t* positions, int64_t n,
                                int64_t inner, size_t count) {
  const hn::RebindToSigned<ColumnTag> di;
  ColumnVec best[kVectors];
  hn::Vec<decltype(di)> place[kVectors];
  for (int k = 0; k < kVectors; ++k) {
    best[k] = load_column<kVectors>(in, k, count);
    place[k] = hn::Zero(di);
  }
  for (int64_t i = 1; i < n; ++i) {
    const auto here = hn::Set(di, static_cast<int32_t>(i));
    for (int k = 0; k < kVectors; ++k) {
      const ColumnVec x = load_column<kVectors>(in + i * inner, k, count);
      const auto kept = kLargest ? hn::Le(x, best[k]) : hn::Ge(x, best[k]);
      const auto better = hn::Not(hn::Or(kept, hn::IsNaN(best[k])));
      best[k] = hn::IfThenElse(better, x, best[k]);
      place[k] = hn::IfThenElse(hn::RebindMask(di, better), here, place[k]);
    }
  }
  HWY_ALIGN int32_t found[hn::MaxLanes(di)];
  for (int k = 0; k < kVectors; ++k) {
    if (values != nullptr) {
      store_column<kVectors>(best[k], values, k, count);
    }
    hn::Store(place[k], di, found);
    for (size_t j = 0; j < count; ++j) {
      positions[k * column_lanes() + static_cast<int64_t>(j)] = found[j];
    }
  }
}

int64_t position_tasks(const InnerLoops& p) {
  return column_tasks(p);
}

void position_range(const InnerLoops& p, bool largest, const float* in, float* values,
                    int64_t* positions, int64_t first, int64_t last) {
  for_each_columns(p, first, last, [&](auto vectors, const Columns& c) HWY_ATTR {
    const float* const from = in + c.outer * p.n * p.inner + c.first;
    const int64_t to = c.outer * p.inner + c.first;
    float* const best = values != nullptr ? values + to : nullptr;
    if (largest) {
      position_across<vectors(), true>(from, best, positions + to, p.n, p.inner, c.count);
    } else {
      position_across<vectors(), false>(from, best, positions + to, p.n, p.inner, c.count);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(position_tasks);
HWY_EXPORT(position_range);

void position_dim(const InnerLoops& loops, bool largest, const float* in, float* values,
                  int64_t* positions) {
  constexpr int64_t kGrain = 16384;  // elements worth a thread
  const int64_t tasks = HWY_DYNAMIC_DISPATCH(position_tasks)(loops);
  const int64_t size = loops.outer * loops.n * loops.inner / std::max<int64_t>(1, tasks);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size));
  executorch::extension::parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(position_range)(loops, largest, in, values, positions, first, last);
  });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
