// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of NHWC images, directly along the channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/conv_depthwise.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

// kPositions output positions (NHWC) side by side: tap t of the first reads in + offset[t], that of
// the next `step` further on. weight is [tap][channel].
template <int kPositions>
HWY_INLINE void position_block(const float* in, const int64_t* offset, int64_t step,
                               const float* weight, int64_t taps, const float* bias, float* out,
                               int64_t channels) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const auto valid = static_cast<size_t>(std::min(lanes, channels - c));
    auto sum0 = bias != nullptr ? hn::LoadN(d, bias + c, valid) : hn::Zero(d);
    auto sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (int64_t t = 0; t < taps; ++t) {
      const auto w = hn::LoadN(d, weight + t * channels + c, valid);
      const float* from = in + offset[t] + c;
      sum0 = hn::MulAdd(w, hn::LoadN(d, from, valid), sum0);
      if constexpr (kPositions == 4) {
        sum1 = hn::MulAdd(w, hn::LoadN(d, from + step, valid), sum1);
        sum2 = hn::MulAdd(w, hn::LoadN(d, from + 2 * step, valid), sum2);
        sum3 = hn::MulAdd(w, hn::LoadN(d, from + 3 * step, valid), sum3);
      }
    }
    hn::StoreN(sum0, d, out + c, valid);
    if constexpr (kPositions == 4) {
      hn::StoreN(sum1, d, out + channels + c, valid);
      hn::StoreN(sum2, d, out + 2 * channels + c, valid);
      hn::StoreN(sum3, d, out + 3 * channels + c, valid);
    }
  }
}

constexpr int kSlide = 6;  // output positions side by side that share what they read

// kSlide output positions of stride 1, each with kWidth columns in every row of the filter: a
// column of the input is loaded once for all of them.
template <int kWidth>
void slide_positions(const float* in, const int64_t* offset, const float* weight, int64_t taps,
                     const float* bias, float* out, int64_t channels) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const auto valid = static_cast<size_t>(std::min(lanes, channels - c));
    V sum[kSlide];
#pragma GCC unroll 8
    for (int i = 0; i < kSlide; ++i) {
      sum[i] = bias != nullptr ? hn::LoadN(d, bias + c, valid) : hn::Zero(d);
    }
#pragma GCC unroll 1
    for (int64_t t = 0; t < taps; t += kWidth) {
      V w[kWidth];
#pragma GCC unroll 8
      for (int kw = 0; kw < kWidth; ++kw) {
        w[kw] = hn::LoadN(d, weight + (t + kw) * channels + c, valid);
      }
      const float* from = in + offset[t] + c;
#pragma GCC unroll 16
      for (int column = 0; column < kSlide + kWidth - 1; ++column) {
        const V value = hn::LoadN(d, from + column * channels, valid);
#pragma GCC unroll 8
        for (int i = 0; i < kSlide; ++i) {
          if (column - i >= 0 && column - i < kWidth) {
            sum[i] = hn::MulAdd(w[column - i], value, sum[i]);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kSlide; ++i) {
      hn::StoreN(sum[i], d, out + i * channels + c, valid);
    }
  }
}

// `positions` output positions whose taps all lie inside the input. width: columns of the filter
// when its positions overlap column by column, else 0.
void output_positions(const float* in, const int64_t* offset, int64_t step, int64_t width,
                      const float* weight, int64_t taps, const float* bias, float* out,
                      int64_t channels, int64_t positions) {
  const auto slide = width == 3   ? &slide_positions<3>
                     : width == 5 ? &slide_positions<5>
                     : width == 7 ? &slide_positions<7>
                                  : nullptr;
  for (; slide != nullptr && positions >= kSlide; positions -= kSlide) {
    slide(in, offset, weight, taps, bias, out, channels);
    in += kSlide * step;
    out += kSlide * channels;
  }
  for (; positions >= 4; positions -= 4, in += 4 * step, out += 4 * channels) {
    position_block<4>(in, offset, step, weight, taps, bias, out, channels);
  }
  for (; positions > 0; --positions, in += step, out += channels) {
    position_block<1>(in, offset, step, weight, taps, bias, out, channels);
  }
}

// One output position of which some taps lie outside: in[t] is nullptr there.
void output_edge(const float* const* in, const float* weight, int64_t taps, const float* bias,
                 float* out, int64_t channels) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < channels; c += lanes) {
    const auto valid = static_cast<size_t>(std::min(lanes, channels - c));
    auto sum = bias != nullptr ? hn::LoadN(d, bias + c, valid) : hn::Zero(d);
    for (int64_t t = 0; t < taps; ++t) {
      if (in[t] != nullptr) {
        sum = hn::MulAdd(hn::LoadN(d, weight + t * channels + c, valid),
                         hn::LoadN(d, in[t] + c, valid), sum);
      }
    }
    hn::StoreN(sum, d, out + c, valid);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(output_positions);
HWY_EXPORT(output_edge);

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kMinWorkPerTask = 1 << 15;  // multiply-adds worth waking a thread for

// What the loops share: weights as [tap][channel] and, for each thread, lists of taps.
struct TapScratch {
  const float* weight;
  int64_t* offsets;    // of the taps inside, relative to the first element read
  const float** taps;  // elements read at the edge
};

void edge_position(const Conv& c, const TapScratch& s, const float* input, int64_t oh, int64_t ow,
                   float* out) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t ih = oh * c.stride_h - c.pad_h + t / c.kernel_w * c.dilation_h;
    const int64_t iw = ow * c.stride_w - c.pad_w + t % c.kernel_w * c.dilation_w;
    const bool inside = ih >= 0 && ih < c.in_h && iw >= 0 && iw < c.in_w;
    s.taps[t] = inside ? input + (ih * c.in_w + iw) * c.in_channels : nullptr;
  }
  HWY_DYNAMIC_DISPATCH(output_edge)(s.taps, s.weight, taps, c.bias, out, c.out_channels);
}

// One output row: positions with all columns inside together, the others one by one. Taps in rows
// outside are left out.
void convolve_positions(const Conv& c, const TapScratch& s, int64_t row) {
  const int64_t oh = row % c.out_h;
  const float* input = c.input + row / c.out_h * c.in_h * c.in_w * c.in_channels;
  float* out = c.output + row * c.out_w * c.out_channels;
  const int64_t top = oh * c.stride_h - c.pad_h;
  const int64_t kh_begin = top >= 0 ? 0 : (-top + c.dilation_h - 1) / c.dilation_h;
  const int64_t room = c.in_h - 1 - top;
  const int64_t kh_end = room < 0 ? 0 : std::min(c.kernel_h, room / c.dilation_h + 1);
  const int64_t first = std::min(c.out_w, (c.pad_w + c.stride_w - 1) / c.stride_w);
  const int64_t span = c.in_w - (c.kernel_w - 1) * c.dilation_w - 1 + c.pad_w;
  const int64_t last = std::clamp(span < 0 ? 0 : span / c.stride_w + 1, first, c.out_w);
  int64_t taps = 0;
  for (int64_t kh = kh_begin; kh < kh_end; ++kh) {
    for (int64_t kw = 0; kw < c.kernel_w; ++kw) {
      s.offsets[taps++] = (kh * c.dilation_h * c.in_w + kw * c.dilation_w) * c.in_channels;
    }
  }
  for (int64_t ow = 0; ow < first; ++ow) {
    edge_position(c, s, input, oh, ow, out + ow * c.out_channels);
  }
  if (first < last) {
    const float* from = input + (top * c.in_w + first * c.stride_w - c.pad_w) * c.in_channels;
    HWY_DYNAMIC_DISPATCH(output_positions)
    (from, s.offsets, c.stride_w * c.in_channels,
     c.stride_w == 1 && c.dilation_w == 1 ? c.kernel_w : 0,
     s.weight + kh_begin * c.kernel_w * c.out_channels, taps, c.bias, out + first * c.out_channels,
     c.out_channels, last - first);
  }
  for (int64_t ow = last; ow < c.out_w; ++ow) {
    edge_position(c, s, input, oh, ow, out + ow * c.out_channels);
  }
}

}  // namespace

Error depthwise_nhwc_conv(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  const int64_t threads = get_num_threads();
  auto weight_memory =
      ctx.allocate_temp(static_cast<size_t>(taps * c.out_channels) * sizeof(float), 64);
  auto offset_memory = ctx.allocate_temp(static_cast<size_t>(taps * threads) * sizeof(int64_t), 64);
  auto tap_memory = ctx.allocate_temp(static_cast<size_t>(taps * threads) * sizeof(float*), 64);
  if (!weight_memory.ok() || !offset_memory.ok() || !tap_memory.ok()) {
    return Error::MemoryAllocationFailed;
  }
  auto* weight = static_cast<float*>(weight_memory.get());
  auto* offsets = static_cast<int64_t*>(offset_memory.get());
  auto** edge_inputs = static_cast<const float**>(tap_memory.get());
  for (int64_t channel = 0; channel < c.out_channels; ++channel) {
    for (int64_t t = 0; t < taps; ++t) {
      weight[t * c.out_channels + channel] = c.weight[channel * taps + t];
    }
  }
  const int64_t work = c.out_w * taps * c.out_channels;
  parallel_for(0, c.batch * c.out_h, std::max<int64_t>(1, kMinWorkPerTask / work),
               [&](int64_t first, int64_t last) {
                 const int64_t own = get_thread_num() * taps;
                 for (int64_t row = first; row < last; ++row) {
                   convolve_positions(c, {weight, offsets + own, edge_inputs + own}, row);
                 }
               });
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
