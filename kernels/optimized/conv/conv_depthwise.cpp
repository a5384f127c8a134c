// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution, directly: along a row for NCHW, along the channels for NHWC.
//
// NCHW: a block of input rows is copied into scratch with its padding, split by column modulo the
// stride; then every tap is a contiguous load at a fixed offset from the output position, whatever
// stride, padding and dilation are.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/conv_depthwise.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/conv/conv_columns.h>
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

// out[x] = bias + sum over taps of weight[t] * in[offset[t] + x], for kVectors vectors from x on.
template <int kVectors>
HWY_INLINE void row_block(const float* HWY_RESTRICT in, const int64_t* HWY_RESTRICT offset,
                          const float* HWY_RESTRICT weight, int64_t taps, float bias,
                          float* HWY_RESTRICT out, size_t last_lanes) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Set(d, bias), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (int64_t t = 0; t < taps; ++t) {
    const auto w = hn::Set(d, weight[t]);
    const float* from = in + offset[t];
    sum0 = hn::MulAdd(w, hn::LoadU(d, from), sum0);
    if constexpr (kVectors == 4) {
      sum1 = hn::MulAdd(w, hn::LoadU(d, from + lanes), sum1);
      sum2 = hn::MulAdd(w, hn::LoadU(d, from + 2 * lanes), sum2);
      sum3 = hn::MulAdd(w, hn::LoadU(d, from + 3 * lanes), sum3);
    }
  }
  if constexpr (kVectors == 4) {
    hn::StoreU(sum0, d, out);
    hn::StoreU(sum1, d, out + lanes);
    hn::StoreU(sum2, d, out + 2 * lanes);
    hn::StoreU(sum3, d, out + 3 * lanes);
  } else {
    hn::StoreN(sum0, d, out, last_lanes);
  }
}

// One output row. The input may be read up to a vector beyond what the last position needs.
void output_row(const float* in, const int64_t* offset, const float* weight, int64_t taps,
                float bias, float* out, int64_t width) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t x = 0;
  for (; x + 4 * lanes <= width; x += 4 * lanes) {
    row_block<4>(in + x, offset, weight, taps, bias, out + x, 0);
  }
  for (; x < width; x += lanes) {
    row_block<1>(in + x, offset, weight, taps, bias, out + x,
                 static_cast<size_t>(std::min(lanes, width - x)));
  }
}

// kPixels NHWC pixels side by side: tap t of the first reads in + offset[t], that of the next
// `step` further on. weight is [tap][channel].
template <int kPixels>
HWY_INLINE void pixel_block(const float* in, const int64_t* offset, int64_t step,
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
      if constexpr (kPixels == 4) {
        sum1 = hn::MulAdd(w, hn::LoadN(d, from + step, valid), sum1);
        sum2 = hn::MulAdd(w, hn::LoadN(d, from + 2 * step, valid), sum2);
        sum3 = hn::MulAdd(w, hn::LoadN(d, from + 3 * step, valid), sum3);
      }
    }
    hn::StoreN(sum0, d, out + c, valid);
    if constexpr (kPixels == 4) {
      hn::StoreN(sum1, d, out + channels + c, valid);
      hn::StoreN(sum2, d, out + 2 * channels + c, valid);
      hn::StoreN(sum3, d, out + 3 * channels + c, valid);
    }
  }
}

// `pixels` pixels whose taps all lie inside the input.
void output_pixels(const float* in, const int64_t* offset, int64_t step, const float* weight,
                   int64_t taps, const float* bias, float* out, int64_t channels, int64_t pixels) {
  for (; pixels >= 4; pixels -= 4, in += 4 * step, out += 4 * channels) {
    pixel_block<4>(in, offset, step, weight, taps, bias, out, channels);
  }
  for (; pixels > 0; --pixels, in += step, out += channels) {
    pixel_block<1>(in, offset, step, weight, taps, bias, out, channels);
  }
}

// One pixel of which some taps lie outside: in[t] is nullptr there.
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

HWY_EXPORT(output_row);
HWY_EXPORT(output_pixels);
HWY_EXPORT(output_edge);

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kScratchFloats = 16 * 1024;  // of input rows at a time, for the L2 cache
constexpr int64_t kOverread = 64;              // at least a vector of any target
constexpr int64_t kMinWorkPerTask = 1 << 15;   // multiply-adds worth waking a thread for

// How a block of rows lies in scratch: `phases` rows of phase_width for each input row.
struct Rows {
  int64_t phases, phase_width, row;
  int64_t out_rows;  // output rows computed from one block
  int64_t in_rows;   // input rows of a block
};

Rows plan_rows(const Conv& c) {
  Rows r;
  const int64_t reach = (c.kernel_w - 1) * c.dilation_w + 1;
  r.phases = std::min(c.stride_w, reach);
  r.phase_width = c.out_w + (reach - 1) / c.stride_w;
  r.row = r.phases * r.phase_width;
  const int64_t reach_h = (c.kernel_h - 1) * c.dilation_h + 1;
  const int64_t rows_that_fit = std::max(reach_h, kScratchFloats / r.row);
  r.out_rows = std::min(c.out_h, (rows_that_fit - reach_h) / c.stride_h + 1);
  r.in_rows = (r.out_rows - 1) * c.stride_h + reach_h;
  return r;
}

// Copies input row ih with its padding: position x of phase p is column x * stride_w + p - pad_w.
// `line` holds a padded row.
void copy_row(const Conv& c, const Rows& r, const float* plane, int64_t ih, float* line,
              float* out) {
  const float* row = plane + ih * c.in_w;
  if (ih < 0 || ih >= c.in_h) {
    std::fill(out, out + r.row, 0.0f);
  } else if (r.phases == 2 && c.stride_w == 2) {
    copy_columns(row, c.in_w, -c.pad_w, 1, 2 * r.phase_width, line);
    conv_kernels().split_pairs(line, r.phase_width, out, out + r.phase_width);
  } else {
    for (int64_t p = 0; p < r.phases; ++p) {
      copy_columns(row, c.in_w, p - c.pad_w, c.stride_w, r.phase_width, out + p * r.phase_width);
    }
  }
}

void convolve_plane(const Conv& c, const Rows& r, const int64_t* offsets, int64_t plane,
                    float* scratch) {
  const int64_t channel = plane % c.out_channels;
  const int64_t taps = c.kernel_h * c.kernel_w;
  const float* in = c.input + plane * c.in_h * c.in_w;
  float* out = c.output + plane * c.out_h * c.out_w;
  const float bias = c.bias != nullptr ? c.bias[channel] : 0.0f;
  for (int64_t oh = 0; oh < c.out_h; oh += r.out_rows) {
    const int64_t last = std::min(oh + r.out_rows, c.out_h);
    const int64_t first_in = oh * c.stride_h - c.pad_h;
    const int64_t in_rows = r.in_rows - (oh + r.out_rows - last) * c.stride_h;
    float* line = scratch + r.in_rows * r.row + kOverread;
    for (int64_t i = 0; i < in_rows; ++i) {
      copy_row(c, r, in, first_in + i, line, scratch + i * r.row);
    }
    for (int64_t y = oh; y < last; ++y) {
      HWY_DYNAMIC_DISPATCH(output_row)
      (scratch + (y - oh) * c.stride_h * r.row, offsets, c.weight + channel * taps, taps, bias,
       out + y * c.out_w, c.out_w);
    }
  }
}

Error depthwise_nchw(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  const Rows r = plan_rows(c);
  const int64_t per_thread = r.in_rows * r.row + kOverread + 2 * r.phase_width + kOverread;
  const int64_t planes = c.batch * c.out_channels;
  const int64_t threads = std::min(get_num_threads(), planes);
  auto offset_memory = ctx.allocate_temp(static_cast<size_t>(taps) * sizeof(int64_t), 64);
  auto memory = ctx.allocate_temp(static_cast<size_t>(threads * per_thread) * sizeof(float), 64);
  if (!offset_memory.ok() || !memory.ok()) {
    return Error::MemoryAllocationFailed;
  }
  auto* offsets = static_cast<int64_t*>(offset_memory.get());
  auto* scratch = static_cast<float*>(memory.get());
  std::memset(scratch, 0, static_cast<size_t>(threads * per_thread) * sizeof(float));
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t column = t % c.kernel_w * c.dilation_w;
    offsets[t] = t / c.kernel_w * c.dilation_h * r.row + column % c.stride_w * r.phase_width +
                 column / c.stride_w;
  }
  const int64_t work = c.out_h * c.out_w * taps;
  parallel_for(0, planes, std::max<int64_t>(1, kMinWorkPerTask / work),
               [&](int64_t first, int64_t last) {
                 float* own = scratch + get_thread_num() * per_thread;
                 for (int64_t plane = first; plane < last; ++plane) {
                   convolve_plane(c, r, offsets, plane, own);
                 }
               });
  return Error::Ok;
}

// What the NHWC loops share: weights as [tap][channel] and, for each thread, lists of taps.
struct PixelScratch {
  const float* weight;
  int64_t* offsets;    // of the taps inside, relative to the first pixel read
  const float** taps;  // pixels read at the edge
};

void edge_pixel(const Conv& c, const PixelScratch& s, const float* input, int64_t oh, int64_t ow,
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

// One output row: pixels with all columns inside together, the others one by one. Taps in rows
// outside are left out.
void convolve_pixels(const Conv& c, const PixelScratch& s, int64_t row) {
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
    edge_pixel(c, s, input, oh, ow, out + ow * c.out_channels);
  }
  if (first < last) {
    const float* from = input + (top * c.in_w + first * c.stride_w - c.pad_w) * c.in_channels;
    HWY_DYNAMIC_DISPATCH(output_pixels)
    (from, s.offsets, c.stride_w * c.in_channels, s.weight + kh_begin * c.kernel_w * c.out_channels,
     taps, c.bias, out + first * c.out_channels, c.out_channels, last - first);
  }
  for (int64_t ow = last; ow < c.out_w; ++ow) {
    edge_pixel(c, s, input, oh, ow, out + ow * c.out_channels);
  }
}

Error depthwise_nhwc(runtime::KernelRuntimeContext& ctx, const Conv& c) {
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
  auto** pixels = static_cast<const float**>(tap_memory.get());
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
                   convolve_pixels(c, {weight, offsets + own, pixels + own}, row);
                 }
               });
  return Error::Ok;
}

}  // namespace

Error depthwise_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv) {
  return conv.channels_last ? depthwise_nhwc(ctx, conv) : depthwise_nchw(ctx, conv);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
