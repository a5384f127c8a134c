// SPDX-License-Identifier: BSD-3-Clause
// Lanes are rows of y, turned so that a column of them is one vector: sums need no reduction.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/reduction/distance_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/reduction/distance.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int64_t kRows = 8;  // of x at a time: each vector of y serves them all

int64_t panel_lanes() {
  return static_cast<int64_t>(hn::Lanes(D()));
}

struct Squared {
  HWY_INLINE V add(V sum, V difference) const { return hn::MulAdd(difference, difference, sum); }
  HWY_INLINE V finish(V sum) const { return hn::Sqrt(sum); }
};
struct Absolute {
  HWY_INLINE V add(V sum, V difference) const { return hn::Add(sum, hn::Abs(difference)); }
  HWY_INLINE V finish(V sum) const { return sum; }
};

// Distances of kRows rows of x, from row i on, or of row i alone, to all lanes of the panel.
template <class Norm>
HWY_INLINE void distance_row(const Distances& p, int64_t i, const float* panel, float* result) {
  const D d;
  const Norm norm;
  const float* x = p.x + i * p.columns;
  V sum = hn::Zero(d);
  for (int64_t c = 0; c < p.columns; ++c) {
    sum = norm.add(sum, hn::Sub(hn::Set(d, x[c]), hn::LoadU(d, panel + c * panel_lanes())));
  }
  hn::StoreU(norm.finish(sum), d, result);
}

template <class Norm>
HWY_INLINE void distance_rows(const Distances& p, int64_t i, const float* panel, float* result) {
  const D d;
  const Norm norm;
  const int64_t lanes = panel_lanes();
  const float* x0 = p.x + i * p.columns;
  const float* x4 = x0 + 4 * p.columns;
  const int64_t row1 = p.columns, row2 = 2 * row1, row3 = 3 * row1;
  V sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  V sum4 = sum0, sum5 = sum0, sum6 = sum0, sum7 = sum0;
  for (int64_t c = 0; c < p.columns; ++c) {
    const V y = hn::LoadU(d, panel + c * lanes);
    sum0 = norm.add(sum0, hn::Sub(hn::Set(d, x0[c]), y));
    sum1 = norm.add(sum1, hn::Sub(hn::Set(d, x0[c + row1]), y));
    sum2 = norm.add(sum2, hn::Sub(hn::Set(d, x0[c + row2]), y));
    sum3 = norm.add(sum3, hn::Sub(hn::Set(d, x0[c + row3]), y));
    sum4 = norm.add(sum4, hn::Sub(hn::Set(d, x4[c]), y));
    sum5 = norm.add(sum5, hn::Sub(hn::Set(d, x4[c + row1]), y));
    sum6 = norm.add(sum6, hn::Sub(hn::Set(d, x4[c + row2]), y));
    sum7 = norm.add(sum7, hn::Sub(hn::Set(d, x4[c + row3]), y));
  }
  hn::StoreU(norm.finish(sum0), d, result);
  hn::StoreU(norm.finish(sum1), d, result + lanes);
  hn::StoreU(norm.finish(sum2), d, result + 2 * lanes);
  hn::StoreU(norm.finish(sum3), d, result + 3 * lanes);
  hn::StoreU(norm.finish(sum4), d, result + 4 * lanes);
  hn::StoreU(norm.finish(sum5), d, result + 5 * lanes);
  hn::StoreU(norm.finish(sum6), d, result + 6 * lanes);
  hn::StoreU(norm.finish(sum7), d, result + 7 * lanes);
}

// Lanes [first, last) of row i's distances to the rows of y from k on.
void put(const Distances& p, int64_t i, int64_t k, const float* lane, int64_t first, int64_t last) {
  if (first >= last) {
    return;
  }
  // Before row i of the upper triangle lie i rows, of rows_y - 1, rows_y - 2, ... pairs.
  const int64_t row = p.upper ? i * (2 * p.rows_y - i - 3) / 2 - 1 : i * p.rows_y;
  std::copy(lane + first, lane + last, p.out + row + k + first);
}

template <class Norm>
void panel_of(const Distances& p, int64_t k, float* panel) {
  const int64_t step = panel_lanes();
  const int64_t count = std::min(step, p.rows_y - k);
  for (int64_t c = 0; c < p.columns; ++c) {
    for (int64_t lane = 0; lane < step; ++lane) {
      panel[c * step + lane] = p.y[(k + std::min(lane, count - 1)) * p.columns + c];
    }
  }
  const int64_t end = p.upper ? std::min(p.rows_x, k + count - 1) : p.rows_x;
  HWY_ALIGN float result[kRows * hn::MaxLanes(D())];
  for (int64_t i = 0; i < end;) {
    const int64_t rows = i + kRows <= end ? kRows : 1;
    rows == kRows ? distance_rows<Norm>(p, i, panel, result)
                  : distance_row<Norm>(p, i, panel, result);
    for (int64_t r = 0; r < rows; ++r, ++i) {
      put(p, i, k, result + r * step, p.upper ? std::max<int64_t>(0, i + 1 - k) : 0, count);
    }
  }
}

void distance_panel(const Distances& p, int64_t k, float* panel) {
  p.squared ? panel_of<Squared>(p, k, panel) : panel_of<Absolute>(p, k, panel);
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(panel_lanes);
HWY_EXPORT(distance_panel);

runtime::Error distances(runtime::KernelRuntimeContext& ctx, const Distances& p) {
  const int64_t lane_count = HWY_DYNAMIC_DISPATCH(panel_lanes)();
  const int64_t panels = (p.rows_y + lane_count - 1) / lane_count;
  // One piece of scratch memory for each share of the panels.
  const int64_t shares = std::min<int64_t>(panels, 16);
  const int64_t panel_size = lane_count * p.columns;
  auto memory = ctx.allocate_temp(static_cast<size_t>(shares * panel_size) * sizeof(float), 64);
  if (!memory.ok()) {
    return runtime::Error::MemoryAllocationFailed;
  }
  auto* scratch = static_cast<float*>(memory.get());
  const int64_t work = p.rows_x * p.rows_y * p.columns / std::max<int64_t>(1, shares);
  const int64_t grain = std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(1, work));
  extension::parallel_for(0, shares, grain, [&](int64_t first, int64_t last) {
    for (int64_t share = first; share < last; ++share) {
      for (int64_t panel = share; panel < panels; panel += shares) {
        HWY_DYNAMIC_DISPATCH(distance_panel)
        (p, panel * lane_count, scratch + share * panel_size);
      }
    }
  });
  return runtime::Error::Ok;
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
