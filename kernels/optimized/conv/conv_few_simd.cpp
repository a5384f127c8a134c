// SPDX-License-Identifier: BSD-3-Clause
// Four outputs of up to four channels at a time, each sum in a vector until its end.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/conv_few_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/conv/conv_few.h>
#include <executorch/kernels/optimized/gemm/dots-inl.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The sums of kRows vectors.
template <int kRows>
HWY_INLINE void totals_of(const V (&sum)[kRows], float (&out)[kRows]) {
  if constexpr (kRows == kRowsOfDots) {
    hn::StoreU(totals_of_four(sum), hn::FixedTag<float, 4>(), out);
  } else {
    for (int r = 0; r < kRows; ++r) {
      out[r] = hn::ReduceSum(D(), sum[r]);
    }
  }
}

template <int kRows, int kChannels>
HWY_INLINE void few_outputs(const FewRow& f, int64_t first, int64_t channel) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  V sum[kChannels][kRows];
#pragma GCC unroll 4
  for (int j = 0; j < kChannels; ++j) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sum[j][r] = hn::Zero(D());
    }
  }
  DotRows p;
  p.row_stride = f.step;
  p.x_stride = f.weight_step;
  for (int64_t piece = 0; piece < f.pieces; ++piece) {
    const float* const rows = f.input + first * f.step + f.offsets[piece];
    p.x = f.weights + channel * f.weight_step + piece * f.piece_step;
    int64_t q = 0;
    for (; q + lanes <= f.length; q += lanes) {
      add_products(p, rows, q, static_cast<size_t>(lanes), sum);
    }
    if (q < f.length) {
      add_products(p, rows, q, static_cast<size_t>(f.length - q), sum);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kChannels; ++j) {
    float totals[kRows];
    totals_of(sum[j], totals);
    const float bias = f.bias == nullptr ? 0.0f : f.bias[channel + j];
    for (int r = 0; r < kRows; ++r) {
      const float value = totals[r] + bias;
      const float lower = value > f.max ? f.max : value;
      f.output[(first + r) * f.output_step + channel + j] = lower < f.min ? f.min : lower;
    }
  }
}

template <int kChannels>
void few_channels(const FewRow& f, int64_t channel) {
  int64_t first = 0;
  for (; first + kRowsOfDots <= f.outputs; first += kRowsOfDots) {
    few_outputs<kRowsOfDots, kChannels>(f, first, channel);
  }
  for (; first < f.outputs; ++first) {
    few_outputs<1, kChannels>(f, first, channel);
  }
}

void few_row_simd(const FewRow& row) {
  const FewRow f = row;  // what is written cannot change it
  for (int64_t channel = 0; channel < f.channels; channel += kMaxDotVectors) {
    switch (f.channels - channel) {
      case 1:
        few_channels<1>(f, channel);
        break;
      case 2:
        few_channels<2>(f, channel);
        break;
      case 3:
        few_channels<3>(f, channel);
        break;
      default:
        few_channels<4>(f, channel);
    }
  }
}

// In instructions: one for each vector of products, and some to add up its lanes.
bool are_few_simd(int64_t channels, int64_t pieces, int64_t length) {
  constexpr int64_t kAddLanes = 6;
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  return channels <= kMaxFewChannels &&
         channels * (pieces * ((length + lanes - 1) / lanes) + kAddLanes) <
             pieces * length * ((channels + lanes - 1) / lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(are_few_simd);
HWY_EXPORT(few_row_simd);

void few_row(const FewRow& row) {
  HWY_DYNAMIC_DISPATCH(few_row_simd)(row);
}

bool are_few_channels(int64_t channels, int64_t pieces, int64_t length) {
  return HWY_DYNAMIC_DISPATCH(are_few_simd)(channels, pieces, length);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
