// SPDX-License-Identifier: BSD-3-Clause
// Max pooling along output rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/pool/pool_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/pool/pool_simd.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void max_row(const MaxPoolRow& p) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RepartitionToWide<decltype(di)> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto spread = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(p.stride)));
  for (int64_t x = 0; x < p.count; x += lanes) {
    auto most = hn::Set(d, -std::numeric_limits<float>::infinity());
    auto where =
        hn::Add(hn::LoadU(di, p.first + x), hn::Set(di, static_cast<int32_t>(p.first_row)));
    const float* line = p.lines + x;
    for (int64_t row = 0; row < p.rows; ++row) {
      int64_t index = p.origin + row * p.row_step + x * p.stride;
      for (int64_t col = 0; col < p.cols; ++col, line += p.line, index += p.col_step) {
        const auto value = hn::LoadU(d, line);
        const auto better = hn::Or(hn::Gt(value, most), hn::IsNaN(value));
        most = hn::IfThenElse(better, value, most);
        where = hn::IfThenElse(hn::RebindMask(di, better),
                               hn::Add(spread, hn::Set(di, static_cast<int32_t>(index))), where);
      }
    }
    const int64_t count = std::min(lanes, p.count - x);
    const int64_t low = std::min(lanes / 2, count);
    hn::StoreN(most, d, p.out + x, static_cast<size_t>(count));
    hn::StoreN(hn::PromoteLowerTo(wide, where), wide, p.indices + x, static_cast<size_t>(low));
    hn::StoreN(hn::PromoteUpperTo(wide, where), wide, p.indices + x + low,
               static_cast<size_t>(count - low));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(max_row);

void max_pool_row(const MaxPoolRow& row) {
  HWY_DYNAMIC_DISPATCH(max_row)(row);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
