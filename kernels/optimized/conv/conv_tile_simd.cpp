// SPDX-License-Identifier: BSD-3-Clause
// Register tiles of direct convolution: 8x3 vectors where there are 32 registers, 4x3 where there
// are 16. Positions run on over the ends of padded rows; what lies between two rows is computed and
// squeezed out when the tile is stored.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/conv_tile_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 4;
#else
constexpr int kTileRows = kConvTileRows;
#endif

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

template <int kRows, int kVectors>
void tile(const ConvTile& t) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const V bias = t.bias != nullptr ? hn::Set(d, t.bias[i]) : hn::Zero(d);
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = t.accumulate ? load_positions(t.vectors[j], t.out + i * t.out_stride) : bias;
    }
  }
  const float* HWY_RESTRICT weight = t.weight;
  const int64_t stride = t.weight_stride;
  const int64_t k = t.k;
#pragma GCC unroll 1
  for (int64_t p = 0; p < k; ++p) {
    const float* HWY_RESTRICT from = t.input + t.offset[p];
    V in[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      in[j] = hn::LoadU(d, from + j * lanes);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, weight[i * stride + p]);
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) {
        sum[i][j] = hn::MulAdd(factor, in[j], sum[i][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      store_positions(sum[i][j], t.vectors[j], t.out + i * t.out_stride);
    }
  }
}

void split_pairs(const float* in, int64_t n, float* even, float* odd) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    V first, second;
    hn::LoadInterleaved2(d, in + 2 * i, first, second);
    const auto count = static_cast<size_t>(n - i < lanes ? n - i : lanes);
    hn::StoreN(first, d, even + i, count);
    hn::StoreN(second, d, odd + i, count);
  }
}

template <int kRows>
void fill_rows(ConvKernels& kernels) {
  kernels.tile[kRows - 1][0] = &tile<kRows, 1>;
  kernels.tile[kRows - 1][1] = &tile<kRows, 2>;
  kernels.tile[kRows - 1][2] = &tile<kRows, 3>;
  if constexpr (kRows > 1) {
    fill_rows<kRows - 1>(kernels);
  }
}

ConvKernels make_conv_kernels() {
  ConvKernels kernels = {};
  kernels.rows = kTileRows;
  kernels.lanes = static_cast<int64_t>(hn::Lanes(D()));
  kernels.split_pairs = &split_pairs;
  fill_rows<kTileRows>(kernels);
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(make_conv_kernels);

const ConvKernels& conv_kernels() {
  static const ConvKernels kernels = HWY_DYNAMIC_DISPATCH(make_conv_kernels)();
  return kernels;
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
