// SPDX-License-Identifier: BSD-3-Clause
// Convolution of one channel with one filter, some neighbours on one axis at a time: what they
// share of the input is loaded once for all of them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/conv_rows_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/conv/conv_positions-inl.h>
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kRowsTogether = 4;

// Keeps the compiler from reading a value again for each of its uses: loads that cross cache lines
// are what these tiles wait for.
HWY_INLINE void keep_loaded(V& value) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(value.raw));
#else
  (void)value;  // other compilers keep it
#endif
}

// kRows outputs on the axis by kVectors vectors of positions.
template <int kHeight, int kRows, int kVectors>
HWY_INLINE void row_tile(const ConvRows& p, const float* HWY_RESTRICT input,
                         const ConvVector* vectors, float* HWY_RESTRICT out) {
  const D d;
  V sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = hn::Set(d, p.bias);
    }
  }
#pragma GCC unroll 1
  for (int64_t tap = 0; tap < p.taps; ++tap) {
    V w[kHeight];
#pragma GCC unroll 8
    for (int s = 0; s < kHeight; ++s) {
      w[s] = hn::Set(d, p.weight[s * p.taps + tap]);
    }
    const float* in = input + p.offset[tap];
#pragma GCC unroll 16
    for (int y = 0; y < kRows + kHeight - 1; ++y) {
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        V value = hn::LoadU(d, in + vectors[j].at);
        keep_loaded(value);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          if (y - i >= 0 && y - i < kHeight) {
            sum[i][j] = hn::MulAdd(w[y - i], value, sum[i][j]);
          }
        }
      }
      in += p.step;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      store_positions(sum[i][j], vectors[j], out + i * p.out_step);
    }
  }
}

template <int kHeight, int kRows>
void row_band(const ConvRows& p, int64_t row) {
  const float* in = p.input + row * p.step;
  float* out = p.out + row * p.out_step;
  int64_t first = 0;
  for (; first + 1 < p.num_vectors; first += 2) {
    row_tile<kHeight, kRows, 2>(p, in, p.vectors + first, out);
  }
  if (first < p.num_vectors) {
    row_tile<kHeight, kRows, 1>(p, in, p.vectors + first, out);
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
