// SPDX-License-Identifier: BSD-3-Clause
// Register tiles of direct convolution: 8x3 vectors where there are 32 registers, 4x3 where there
// are 16, and 1x8 for one channel. A vector may run on over the end of a padded row; what lies
// between two rows is computed and squeezed out when the tile is stored.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/conv_tile_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/conv/conv_positions-inl.h>
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 4;
#else
constexpr int kTileRows = kConvTileRows;
#endif

template <int kRows, int kVectors>
void tile(const ConvTile& t) {
  const D d;
  V sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const V bias = t.bias != nullptr ? hn::Set(d, t.bias[i]) : hn::Zero(d);
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = t.accumulate ? load_positions(t.vectors[j], t.out + i * t.out_stride) : bias;
    }
  }
  const float* HWY_RESTRICT input[kVectors];
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    input[j] = t.input + t.vectors[j].at;
  }
  const int64_t stride = t.weight_stride;
#pragma GCC unroll 1
  for (int64_t run = 0; run < t.runs; ++run) {
    const float* HWY_RESTRICT weight = t.weight + run * t.run_step;
    const int32_t* HWY_RESTRICT offsets = t.offset + run * t.offset_step;
    const int64_t terms = t.run;
#pragma GCC unroll 1
    for (int64_t p = 0; p < terms; ++p) {
      const int64_t offset = offsets[p];
      V in[kVectors];
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        in[j] = hn::LoadU(d, input[j] + offset);
      }
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const V factor = hn::Set(d, weight[i * stride + p]);
#pragma GCC unroll 8
        for (int j = 0; j < kVectors; ++j) {
          sum[i][j] = hn::MulAdd(factor, in[j], sum[i][j]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      store_positions(sum[i][j], t.vectors[j], t.out + i * t.out_stride);
    }
  }
}

// Every second value: what is loaded and stored behind whole vectors is
// the same for all rows. Reads nothing behind the last one.
void copy_pairs(const PlaneCopy& c) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = (c.cols - 1) / lanes * lanes;  // a column at least is left
  const auto values = static_cast<size_t>(2 * (c.cols - whole) - 1);
  const size_t low = std::min(values, hn::Lanes(d)), high = values - low;
  const auto kept = static_cast<size_t>(c.cols - whole);
  for (int64_t plane = 0; plane < c.planes; ++plane) {
    const float* from = c.from + plane * c.from_plane;
    float* to = c.to + plane * c.to_plane;
    for (int64_t row = 0; row < c.rows; ++row, from += c.from_row, to += c.to_row) {
      for (int64_t i = 0; i < whole; i += lanes) {
        const float* at = from + 2 * i;
        hn::StoreU(hn::ConcatEven(d, hn::LoadU(d, at + lanes), hn::LoadU(d, at)), d, to + i);
      }
      // Not by masks: without instructions for them whole vectors would be read.
      const V first = hn::LoadN(d, from + 2 * whole, low);
      const V second = hn::LoadN(d, from + 2 * whole + low, high);
      hn::StoreN(hn::ConcatEven(d, second, first), d, to + whole, kept);
    }
  }
}

void copy_rows(const PlaneCopy& c) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = c.cols / lanes * lanes;
  const auto rest = static_cast<size_t>(c.cols - whole);
  for (int64_t plane = 0; plane < c.planes; ++plane) {
    const float* from = c.from + plane * c.from_plane;
    float* to = c.to + plane * c.to_plane;
    for (int64_t row = 0; row < c.rows; ++row, from += c.from_row, to += c.to_row) {
      for (int64_t i = 0; i < whole; i += lanes) {
        hn::StoreU(hn::LoadU(d, from + i), d, to + i);
      }
      hn::StoreN(hn::LoadN(d, from + whole, rest), d, to + whole, rest);
    }
  }
}

// Both halves of the columns at once.
void copy_both(const PlaneCopy& c) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = c.between_cols / lanes * lanes;
  const int64_t evens = c.cols - whole, odds = c.between_cols - whole;  // behind whole vectors
  const auto values = static_cast<size_t>(evens + odds);
  const size_t low = std::min(values, hn::Lanes(d)), high = values - low;
  for (int64_t plane = 0; plane < c.planes; ++plane) {
    const float* from = c.from + plane * c.from_plane;
    float* to = c.to + plane * c.to_plane;
    float* between = c.between + plane * c.to_plane;
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t i = 0; i < whole; i += lanes) {
        const V first = hn::LoadU(d, from + 2 * i);
        const V second = hn::LoadU(d, from + 2 * i + lanes);
        hn::StoreU(hn::ConcatEven(d, second, first), d, to + i);
        hn::StoreU(hn::ConcatOdd(d, second, first), d, between + i);
      }
      if (values > 0) {
        const float* rest = from + 2 * whole;
        const V first = hn::LoadN(d, rest, low);
        const V second = hn::LoadN(d, rest + low, high);
        hn::StoreN(hn::ConcatEven(d, second, first), d, to + whole, static_cast<size_t>(evens));
        hn::StoreN(hn::ConcatOdd(d, second, first), d, between + whole, static_cast<size_t>(odds));
      }
      from += c.from_row;
      to += c.to_row;
      between += c.to_row;
    }
  }
}

void copy_planes(const PlaneCopy& c) {
  if (c.between != nullptr) {
    return copy_both(c);
  }
  if (c.cols <= 0) {
    return;
  }
  if (c.from_col <= 2) {
    return c.from_col == 1 ? copy_rows(c) : copy_pairs(c);
  }
  for (int64_t plane = 0; plane < c.planes; ++plane) {
    for (int64_t row = 0; row < c.rows; ++row) {
      const float* from = c.from + plane * c.from_plane + row * c.from_row;
      float* to = c.to + plane * c.to_plane + row * c.to_row;
      for (int64_t col = 0; col < c.cols; ++col) {
        to[col] = from[col * c.from_col];
      }
    }
  }
}

void split_triples(const float* in, int64_t n, float* out, int64_t step) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V first, second, third;
    hn::LoadInterleaved3(d, in + 3 * i, first, second, third);
    hn::StoreU(first, d, out + i);
    hn::StoreU(second, d, out + step + i);
    hn::StoreU(third, d, out + 2 * step + i);
  }
  for (; i < n; ++i) {
    for (int64_t channel = 0; channel < 3; ++channel) {
      out[channel * step + i] = in[3 * i + channel];
    }
  }
}

void interleave_pairs(const float* even, const float* odd, int64_t n, float* out) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    hn::StoreInterleaved2(hn::LoadU(d, even + i / 2), hn::LoadU(d, odd + i / 2), d, out + i);
  }
  for (; i < n; ++i) {
    out[i] = i % 2 == 0 ? even[i / 2] : odd[i / 2];
  }
}

ConvKernels make_conv_kernels() {
  ConvKernels kernels = {};
  kernels.rows = kTileRows;
  kernels.lanes = static_cast<int64_t>(hn::Lanes(D()));
  kernels.copy_planes = &copy_planes;
  kernels.split_triples = &split_triples;
  kernels.interleave_pairs = &interleave_pairs;
  fill_tiles<kTileRows, kConvTileVectors>(
      kernels.tile, [](auto rows, auto vectors) { return &tile<rows(), vectors()>; });
  fill_tiles<1, kConvRowVectors>(kernels.row,
                                 [](auto rows, auto vectors) { return &tile<rows(), vectors()>; });
  return kernels;
}

const ConvKernels* conv_kernels_of_target() {
  static const ConvKernels made = make_conv_kernels();
  return &made;
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(ConvKernels, conv_kernels)
#endif  // HWY_ONCE
