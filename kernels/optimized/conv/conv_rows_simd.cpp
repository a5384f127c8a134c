// SPDX-License-Identifier: BSD-3-Clause
// Convolution of one plane with one filter, some rows of outputs at a time: an input row is loaded
// once for all of them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/conv_rows_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kConvLanes>;
using V = hn::Vec<D>;

constexpr int kRowsTogether = 4;

// kRows rows of outputs by kVectors vectors from one column on; `tail` lanes of the last are valid.
template <int kHeight, int kRows, int kVectors>
HWY_INLINE void row_tile(const ConvRows& p, const float* HWY_RESTRICT in, float* HWY_RESTRICT out,
                         size_t tail) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = hn::Set(d, p.bias);
    }
  }
#pragma GCC unroll 1
  for (int64_t kw = 0; kw < p.width; ++kw) {
    V w[kHeight];
#pragma GCC unroll 8
    for (int kh = 0; kh < kHeight; ++kh) {
      w[kh] = hn::Set(d, p.weight[kh * p.width + kw]);
    }
#pragma GCC unroll 16
    for (int y = 0; y < kRows + kHeight - 1; ++y) {
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        const V value = hn::LoadU(d, in + y * p.pitch + kw + j * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          if (y - i >= 0 && y - i < kHeight) {
            sum[i][j] = hn::MulAdd(w[y - i], value, sum[i][j]);
          }
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors - 1; ++j) {
      hn::StoreU(sum[i][j], d, out + i * p.cols + j * lanes);
    }
    hn::StoreN(sum[i][kVectors - 1], d, out + i * p.cols + (kVectors - 1) * lanes, tail);
  }
}

template <int kHeight, int kRows>
void row_band(const ConvRows& p, int64_t row) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const float* in = p.input + row * p.pitch;
  float* out = p.out + row * p.cols;
  int64_t x = 0;
  for (; x + lanes < p.cols; x += 2 * lanes) {
    const int64_t tail = p.cols - x - lanes < lanes ? p.cols - x - lanes : lanes;
    row_tile<kHeight, kRows, 2>(p, in + x, out + x, static_cast<size_t>(tail));
  }
  if (x < p.cols) {
    row_tile<kHeight, kRows, 1>(p, in + x, out + x, static_cast<size_t>(p.cols - x));
  }
}

template <int kHeight>
void all_rows(const ConvRows& p) {
  int64_t row = 0;
  for (; row + kRowsTogether <= p.rows; row += kRowsTogether) {
    row_band<kHeight, kRowsTogether>(p, row);
  }
  for (; row < p.rows; ++row) {
    row_band<kHeight, 1>(p, row);
  }
}

void convolve_rows(const ConvRows& p) {
  switch (p.height) {
    case 3:
      return all_rows<3>(p);
    case 5:
      return all_rows<5>(p);
    default:
      return all_rows<7>(p);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(convolve_rows);

void conv_rows(const ConvRows& rows) {
  HWY_DYNAMIC_DISPATCH(convolve_rows)(rows);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
