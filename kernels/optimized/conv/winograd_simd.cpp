// SPDX-License-Identifier: BSD-3-Clause
// The transforms of F(2x2, 3x3).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/winograd_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/bounds-inl.h>
#include <executorch/kernels/optimized/conv/winograd_tile.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <hwy/highway.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr int kTaps = kWinogradTaps;
constexpr int kOutputs = kWinogradOutputs;
constexpr int kTile = kWinogradTile;

// Calls transform(load, store, channel) for each vector of channels; the last one is cut.
template <typename Transform>
HWY_INLINE void for_each_vector(int64_t channels, Transform transform) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + lanes <= channels; at += lanes) {
    transform([&](const float* from) HWY_ATTR { return hn::LoadU(d, from); },
              [&](V value, float* to) HWY_ATTR { hn::StoreU(value, d, to); }, at);
  }
  if (at < channels) {
    const auto left = static_cast<size_t>(channels - at);
    transform([&](const float* from) HWY_ATTR { return hn::LoadN(d, from, left); },
              [&](V value, float* to) HWY_ATTR { hn::StoreN(value, d, to, left); }, at);
  }
}

// In each direction a tile is multiplied by [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1],
template <int kRow, typename Value>
HWY_INLINE V transformed_position(const Value& value) {
  if constexpr (kRow == 0) {
    return hn::Sub(value(0), value(2));
  } else if constexpr (kRow == 1) {
    return hn::Add(value(1), value(2));
  } else if constexpr (kRow == 2) {
    return hn::Sub(value(2), value(1));
  } else {
    return hn::Sub(value(1), value(3));
  }
}

// a filter by [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1],
HWY_INLINE void transform_taps(V a, V b, V c, V* points, int step) {
  const V half = hn::Set(D(), 0.5f);
  const V outer = hn::Mul(half, hn::Add(a, c));
  const V inner = hn::Mul(half, b);
  points[0] = a;
  points[step] = hn::Add(outer, inner);
  points[2 * step] = hn::Sub(outer, inner);
  points[3 * step] = c;
}

// and a product by [1 1 1 0; 0 1 -1 -1].
HWY_INLINE void transform_points(V a, V b, V c, V d, V& first, V& second) {
  first = hn::Add(a, hn::Add(b, c));
  second = hn::Sub(b, hn::Add(c, d));
}

void filter_to_points(const float* filter, int64_t tap_stride, int64_t channels, float* points,
                      int64_t stride) {
  for_each_vector(channels, [&](auto load, auto store, int64_t at) HWY_ATTR {
    V by_row[kTile][kTaps];
    for (int col = 0; col < kTaps; ++col) {
      const auto tap = [&](int row) HWY_ATTR {
        return load(filter + (row * kTaps + col) * tap_stride + at);
      };
      transform_taps(tap(0), tap(1), tap(2), &by_row[0][col], kTaps);
    }
    for (int row = 0; row < kTile; ++row) {
      V transformed[kTile];
      transform_taps(by_row[row][0], by_row[row][1], by_row[row][2], transformed, 1);
      for (int col = 0; col < kTile; ++col) {
        store(transformed[col], points + (row * kTile + col) * stride + at);
      }
    }
  });
}

// What is read twice is nearer than what would be kept: some processors have 16 registers.
void tile_to_points(const float* HWY_RESTRICT tile, int64_t row_step, int64_t col_step,
                    int64_t channels, float* HWY_RESTRICT points, int64_t stride) {
  for_each_vector(channels, [&](auto load, auto store, int64_t at) HWY_ATTR {
    const auto transform_row = [&](auto row) HWY_ATTR {
      constexpr int kRow = decltype(row)::value;
      V by_row[kTile];
#pragma GCC unroll 4
      for (int col = 0; col < kTile; ++col) {
        by_row[col] = transformed_position<kRow>(
            [&](int i) HWY_ATTR { return load(tile + i * row_step + col * col_step + at); });
      }
      const auto value = [&](int col) HWY_ATTR { return by_row[col]; };
      float* const to = points + kRow * kTile * stride + at;
      store(transformed_position<0>(value), to);
      store(transformed_position<1>(value), to + stride);
      store(transformed_position<2>(value), to + 2 * stride);
      store(transformed_position<3>(value), to + 3 * stride);
    };
    transform_row(std::integral_constant<int, 0>());
    transform_row(std::integral_constant<int, 1>());
    transform_row(std::integral_constant<int, 2>());
    transform_row(std::integral_constant<int, 3>());
  });
}

void points_to_outputs(const float* HWY_RESTRICT points, int64_t stride, int64_t channels,
                       float min, float max, float* const outputs[kOutputs * kOutputs]) {
  const D d;
  const V low = hn::Set(d, min);
  const V high = hn::Set(d, max);
  for_each_vector(channels, [&](auto load, auto store, int64_t at) HWY_ATTR {
    V by_row[kOutputs][kTile];
#pragma GCC unroll 4
    for (int col = 0; col < kTile; ++col) {
      const auto point = [&](int row)
                             HWY_ATTR { return load(points + (row * kTile + col) * stride + at); };
      transform_points(point(0), point(1), point(2), point(3), by_row[0][col], by_row[1][col]);
    }
#pragma GCC unroll 2
    for (int row = 0; row < kOutputs; ++row) {
      V out[kOutputs];
      transform_points(by_row[row][0], by_row[row][1], by_row[row][2], by_row[row][3], out[0],
                       out[1]);
#pragma GCC unroll 2
      for (int col = 0; col < kOutputs; ++col) {
        float* const to = outputs[row * kOutputs + col];
        if (to != nullptr) {
          store(keep_within(low, high, out[col]), to + at);
        }
      }
    }
  });
}

const WinogradKernels* winograd_kernels_of_target() {
  static constexpr WinogradKernels kKernels = {filter_to_points, tile_to_points, points_to_outputs};
  return &kKernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(WinogradKernels, winograd_kernels)
#endif  // HWY_ONCE
