// SPDX-License-Identifier: BSD-3-Clause
// Vectors of output positions of a convolution, some lanes of which may lie between two rows.
// Included once per target.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_CONV_CONV_POSITIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_CONV_CONV_POSITIONS_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_CONV_CONV_POSITIONS_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_CONV_CONV_POSITIONS_INL_H_
#endif

#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kConvLanes>;
using V = hn::Vec<D>;

HWY_INLINE V load_positions(const ConvVector& where, const float* HWY_RESTRICT out) {
  const D d;
  const auto count = static_cast<size_t>(where.count);
  if (count == hn::Lanes(d)) {
    return hn::LoadU(d, out + where.first);
  }
  return hn::Expand(hn::LoadN(d, out + where.first, count), hn::LoadMaskBits(d, where.bits));
}

HWY_INLINE void store_positions(V value, const ConvVector& where, float* HWY_RESTRICT out) {
  const D d;
  const auto count = static_cast<size_t>(where.count);
  if (count == hn::Lanes(d)) {
    hn::StoreU(value, d, out + where.first);
    return;
  }
  hn::StoreN(hn::Compress(value, hn::LoadMaskBits(d, where.bits)), d, out + where.first, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif
