// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512: include nothing here whose inline functions others may link to.
#include <executorch/backends/xnnpack/library/winograd/winograd.h>

#include <immintrin.h>

namespace executorch::backends::xnnpack::winograd {

namespace {

/// In each direction a tile is multiplied by [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1].
void transform_pixels(__m512& a, __m512& b, __m512& c, __m512& d) {
  const __m512 sum = _mm512_add_ps(b, c);
  const __m512 difference = _mm512_sub_ps(c, b);
  a = _mm512_sub_ps(a, c);
  d = _mm512_sub_ps(b, d);
  b = sum;
  c = difference;
}

/// In each direction a filter is multiplied by [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1].
void transform_taps(const __m512 (&taps)[kFilter], __m512* points, size_t step) {
  const __m512 half = _mm512_set1_ps(0.5f);
  const __m512 outer = _mm512_mul_ps(half, _mm512_add_ps(taps[0], taps[2]));
  const __m512 inner = _mm512_mul_ps(half, taps[1]);
  points[0] = taps[0];
  points[step] = _mm512_add_ps(outer, inner);
  points[2 * step] = _mm512_sub_ps(outer, inner);
  points[3 * step] = taps[2];
}

/// In each direction a product is multiplied by [1 1 1 0; 0 1 -1 -1].
void transform_points(__m512 a, __m512 b, __m512 c, __m512 d, __m512& first, __m512& second) {
  first = _mm512_add_ps(a, _mm512_add_ps(b, c));
  second = _mm512_sub_ps(b, _mm512_add_ps(c, d));
}

}  // namespace

void transform_filter(const float* filter, size_t channels, float* points, size_t stride) {
  for (size_t at = 0; at < channels; at += kLanes) {
    __m512 by_row[kTile][kFilter];
    for (size_t column = 0; column < kFilter; ++column) {
      __m512 taps[kFilter];
      for (size_t row = 0; row < kFilter; ++row) {
        taps[row] = _mm512_loadu_ps(filter + (row * kFilter + column) * channels + at);
      }
      transform_taps(taps, &by_row[0][column], kFilter);
    }
    for (size_t row = 0; row < kTile; ++row) {
      __m512 transformed[kTile];
      transform_taps(by_row[row], transformed, 1);
      for (size_t column = 0; column < kTile; ++column) {
        _mm512_storeu_ps(points + (row * kTile + column) * stride + at, transformed[column]);
      }
    }
  }
}

void transform_tile(const float* const (&pixels)[kPoints], size_t channels, float* points,
                    size_t stride) {
  for (size_t at = 0; at < channels; at += kLanes) {
    __m512 tile[kTile][kTile];
#pragma GCC unroll 4
    for (size_t row = 0; row < kTile; ++row) {
#pragma GCC unroll 4
      for (size_t column = 0; column < kTile; ++column) {
        tile[row][column] = _mm512_loadu_ps(pixels[row * kTile + column] + at);
      }
      transform_pixels(tile[row][0], tile[row][1], tile[row][2], tile[row][3]);
    }
#pragma GCC unroll 4
    for (size_t column = 0; column < kTile; ++column) {
      transform_pixels(tile[0][column], tile[1][column], tile[2][column], tile[3][column]);
#pragma GCC unroll 4
      for (size_t row = 0; row < kTile; ++row) {
        _mm512_storeu_ps(points + (row * kTile + column) * stride + at, tile[row][column]);
      }
    }
  }
}

void transform_product(const float* points, size_t stride, size_t channels, float min, float max,
                       float* const (&pixels)[kOutputs * kOutputs]) {
  const __m512 low = _mm512_set1_ps(min);
  const __m512 high = _mm512_set1_ps(max);
  for (size_t at = 0; at < channels; at += kLanes) {
    __m512 by_row[kOutputs][kTile];
#pragma GCC unroll 4
    for (size_t column = 0; column < kTile; ++column) {
      const auto point = [&](size_t row) {
        return _mm512_loadu_ps(points + (row * kTile + column) * stride + at);
      };
      transform_points(point(0), point(1), point(2), point(3), by_row[0][column],
                       by_row[1][column]);
    }
#pragma GCC unroll 2
    for (size_t row = 0; row < kOutputs; ++row) {
      __m512 outputs[kOutputs];
      transform_points(by_row[row][0], by_row[row][1], by_row[row][2], by_row[row][3], outputs[0],
                       outputs[1]);
#pragma GCC unroll 2
      for (size_t column = 0; column < kOutputs; ++column) {
        float* const pixel = pixels[row * kOutputs + column];
        if (pixel != nullptr) {
          // In this order a NaN stays one.
          _mm512_storeu_ps(pixel + at, _mm512_min_ps(high, _mm512_max_ps(low, outputs[column])));
        }
      }
    }
  }
}

}  // namespace executorch::backends::xnnpack::winograd
