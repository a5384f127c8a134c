// SPDX-License-Identifier: BSD-3-Clause
// bfloat16 convolution with the processor's own dot products: a matrix multiply of the weights with
// the unfolded input, which is only ever written a piece of a panel at a time.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/conv/conv_columns.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using runtime::Error;

namespace {

// Of a group. Fewer outputs do not fill a tile; for fewer inputs unfolding takes longer than f32.
constexpr int64_t kMinOutChannels = 8;
constexpr int64_t kMinInChannels = 8;

// NCHW: one line of output positions for each term, in the order of the weights.
void unfold_planes(const NarrowGemm& g, const GemmPanel& p, uint16_t* out) {
  const Conv& c = *static_cast<const Conv*>(g.layout);
  const auto* planes = static_cast<const uint16_t*>(g.b);
  const int64_t taps = c.kernel_h * c.kernel_w;
  for (int64_t k = p.k_begin; k < p.k_end; ++k) {
    const uint16_t* plane = planes + k / taps * c.in_h * c.in_w;
    const int64_t shift_h = k % taps / c.kernel_w * c.dilation_h - c.pad_h;
    const int64_t shift_w = k % c.kernel_w * c.dilation_w - c.pad_w;
    uint16_t* line = out + (k - p.k_begin) * p.width;
    int64_t oh = p.n_begin / c.out_w;
    int64_t ow = p.n_begin % c.out_w;
    for (int64_t n = p.n_begin; n < p.n_end; ++oh, ow = 0) {
      const int64_t count = std::min(c.out_w - ow, p.n_end - n);
      const int64_t ih = oh * c.stride_h + shift_h;
      if (ih < 0 || ih >= c.in_h) {
        std::fill(line, line + count, uint16_t{0});
      } else {
        copy_columns(plane + ih * c.in_w, c.in_w, ow * c.stride_w + shift_w, c.stride_w, count,
                     line);
      }
      line += count;
      n += count;
    }
  }
}

// NHWC: one column of terms for each output position: the rows of the filter, or its taps where
// these are not contiguous in the input.
void unfold_pixels(const NarrowGemm& g, const GemmPanel& p, uint16_t* out) {
  const Conv& c = *static_cast<const Conv*>(g.layout);
  const auto* pixels = static_cast<const uint16_t*>(g.b);
  const int64_t channels = c.in_channels / c.groups;
  const int64_t together = c.groups == 1 && c.dilation_w == 1 ? c.kernel_w : 1;
  const int64_t run = together * channels;
  for (int64_t n = p.n_begin; n < p.n_end; ++n) {
    const int64_t top = n / c.out_w * c.stride_h - c.pad_h;
    const int64_t left = n % c.out_w * c.stride_w - c.pad_w;
    uint16_t* to = out + (n - p.n_begin) * p.width;
    for (int64_t k = p.k_begin; k < p.k_end;) {
      const int64_t tap = k / run * together;
      const int64_t from = k % run;
      const int64_t count = std::min(run - from, p.k_end - k);
      const int64_t ih = top + tap / c.kernel_w * c.dilation_h;
      const int64_t iw = left + tap % c.kernel_w * c.dilation_w;
      const bool inside = ih >= 0 && ih < c.in_h;
      const int64_t low = std::clamp<int64_t>(-iw, 0, together) * channels;
      const int64_t high = inside ? std::clamp<int64_t>(c.in_w - iw, 0, together) * channels : 0;
      const int64_t begin = std::clamp(low - from, int64_t{0}, count);
      const int64_t end = std::clamp(high - from, begin, count);
      std::fill(to, to + begin, uint16_t{0});
      if (end > begin) {
        const uint16_t* first = pixels + (ih * c.in_w + iw) * c.in_channels + from;
        std::copy(first + begin, first + end, to + begin);
      }
      std::fill(to + end, to + count, uint16_t{0});
      to += count;
      k += count;
    }
  }
}

// The weights with their channels innermost, or outermost, when they are stored so.
void turn_weights(const Conv& c, const uint16_t* from, uint16_t* to) {
  const int64_t channels = c.in_channels / c.groups;
  const int64_t taps = c.kernel_h * c.kernel_w;
  const int64_t rows = c.channels_last ? channels : taps;  // of what is transposed
  const int64_t cols = c.channels_last ? taps : channels;
  extension::parallel_for(0, c.out_channels, 8, [&](int64_t first, int64_t last) {
    for (int64_t o = first; o < last; ++o) {
      const uint16_t* filter = from + o * rows * cols;
      uint16_t* turned = to + o * rows * cols;
      for (int64_t i = 0; i < rows * cols; ++i) {
        turned[i] = filter[i % rows * cols + i / rows];
      }
    }
  });
}

NarrowGemm group_problem(const Conv& c, const BFloat16Conv& values, const uint16_t* weight,
                         int64_t index) {
  const int64_t image = index / c.groups;
  const int64_t group = index % c.groups;
  const int64_t channels = c.in_channels / c.groups;
  const int64_t out_channels = c.out_channels / c.groups;
  const int64_t in_plane = c.in_h * c.in_w;
  const int64_t out_plane = c.out_h * c.out_w;
  NarrowGemm g;
  g.m = out_channels;
  g.n = out_plane;
  g.k = channels * c.kernel_h * c.kernel_w;
  g.a = weight + group * out_channels * g.k;
  g.lda = g.k;
  g.b = values.input + image * c.in_channels * in_plane +
        group * channels * (c.channels_last ? 1 : in_plane);
  g.b_in_columns = c.channels_last;
  g.ldb = c.channels_last ? c.in_channels : in_plane;
  g.layout = &c;
  if (!is_pointwise(c)) {
    g.unfold = c.channels_last ? unfold_pixels : unfold_planes;
  }
  g.c = values.output + image * c.out_channels * out_plane +
        group * out_channels * (c.channels_last ? 1 : out_plane);
  g.c_transposed = c.channels_last;
  g.ldc = c.channels_last ? c.out_channels : out_plane;
  g.row_bias = c.bias == nullptr ? nullptr : c.bias + group * out_channels;
  return g;
}

}  // namespace

bool has_bfloat16_conv(const Conv& c) {
  return has_bfloat16_matmul() && c.in_d == 1 && c.kernel_d == 1 && c.out_d == 1 &&
         c.out_channels / c.groups >= kMinOutChannels && c.in_channels / c.groups >= kMinInChannels;
}

Error bfloat16_conv(runtime::KernelRuntimeContext& ctx, const Conv& c, const BFloat16Conv& values) {
  const uint16_t* weight = values.weight;
  if (c.weight_channels_last != c.channels_last && c.kernel_h * c.kernel_w > 1 &&
      c.in_channels > c.groups) {
    const int64_t terms = c.in_channels / c.groups * c.kernel_h * c.kernel_w;
    auto memory =
        ctx.allocate_temp(static_cast<size_t>(c.out_channels * terms) * sizeof(uint16_t), 64);
    if (!memory.ok()) {
      return memory.error();
    }
    auto* turned = static_cast<uint16_t*>(memory.get());
    turn_weights(c, weight, turned);
    weight = turned;
  }
  return gemm_narrow(ctx, c.batch * c.groups,
                     [&](int64_t index) { return group_problem(c, values, weight, index); });
}

}  // namespace executorch::kernels::optimized
