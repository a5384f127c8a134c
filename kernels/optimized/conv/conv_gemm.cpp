// SPDX-License-Identifier: BSD-3-Clause
// Convolution on the matrix multiply: C[channel][position] = W[channel][k] * B[k][position], where
// k runs over input channels and taps and B is never stored: each panel is gathered from the input
// when the multiply asks for it. The weights are the operand read in place, so nothing is packed
// twice.
#include <algorithm>
#include <cstring>
#include <utility>

#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/gemm.h>
#include <executorch/kernels/optimized/gemm_simd.h>

namespace executorch::kernels::optimized {

using runtime::Error;

namespace {

int64_t taps(const Conv& c) {
  return c.kernel_h * c.kernel_w;
}

bool is_pointwise(const Conv& c) {
  return taps(c) == 1 && c.stride_h == 1 && c.stride_w == 1 && c.pad_h == 0 && c.pad_w == 0;
}

// Part of one output row: positions [first, last) of row oh.
struct Run {
  int64_t oh, first, last;
};

// Calls f(run, offset) for the pieces that rows of the output cut [n_begin, n_end) into.
template <typename Fn>
void for_each_run(const Conv& c, const GemmPanel& panel, Fn&& f) {
  int64_t oh = panel.n_begin / c.out_w;
  int64_t ow = panel.n_begin % c.out_w;
  for (int64_t n = panel.n_begin; n < panel.n_end;) {
    const int64_t last = std::min(c.out_w, ow + panel.n_end - n);
    f(Run{oh, ow, last}, n - panel.n_begin);
    n += last - ow;
    ow = 0;
    ++oh;
  }
}

// Output positions ow of [run.first, run.last) whose input column ow * stride + shift lies inside
// the input.
void valid_columns(const Conv& c, int64_t shift, const Run& run, int64_t& begin, int64_t& end) {
  const int64_t lowest = shift >= 0 ? 0 : (-shift + c.stride_w - 1) / c.stride_w;
  const int64_t room = c.in_w - 1 - shift;
  const int64_t highest = room < 0 ? 0 : room / c.stride_w + 1;
  begin = std::clamp(lowest, run.first, run.last);
  end = std::clamp(highest, begin, run.last);
}

void gather_run(const Conv& c, const float* plane, int64_t kh, int64_t kw, const Run& run,
                float* out) {
  const int64_t ih = run.oh * c.stride_h - c.pad_h + kh * c.dilation_h;
  if (ih < 0 || ih >= c.in_h) {
    std::fill(out, out + (run.last - run.first), 0.0f);
    return;
  }
  const int64_t shift = kw * c.dilation_w - c.pad_w;
  int64_t begin, end;
  valid_columns(c, shift, run, begin, end);
  const float* row = plane + ih * c.in_w + shift;
  for (int64_t ow = run.first; ow < begin; ++ow) {
    *out++ = 0.0f;
  }
  if (c.stride_w == 1) {
    std::memcpy(out, row + begin, static_cast<size_t>(end - begin) * sizeof(float));
    out += end - begin;
  } else {
    for (int64_t ow = begin; ow < end; ++ow) {
      *out++ = row[ow * c.stride_w];
    }
  }
  for (int64_t ow = end; ow < run.last; ++ow) {
    *out++ = 0.0f;
  }
}

// NCHW: k = (channel * kernel_h + kh) * kernel_w + kw, as the weights lie.
void pack_nchw(const Gemm& g, const GemmPanel& panel, float* out) {
  const Conv& c = *static_cast<const Conv*>(g.layout);
  const auto* input = static_cast<const float*>(g.b);
  const int64_t cols = panel.n_end - panel.n_begin;
  int64_t tap = panel.k_begin % taps(c);
  const float* plane = input + panel.k_begin / taps(c) * c.in_h * c.in_w;
  for (int64_t k = panel.k_begin; k < panel.k_end; ++k, out += panel.width) {
    for_each_run(c, panel, [&](const Run& run, int64_t offset) {
      gather_run(c, plane, tap / c.kernel_w, tap % c.kernel_w, run, out + offset);
    });
    std::fill(out + cols, out + panel.width, 0.0f);
    if (++tap == taps(c)) {
      tap = 0;
      plane += c.in_h * c.in_w;
    }
  }
}

// NHWC: k = (kh * kernel_w + kw) * channels + channel, the order the weights are brought into.
void pack_nhwc(const Gemm& g, const GemmPanel& panel, float* out) {
  const Conv& c = *static_cast<const Conv*>(g.layout);
  const auto* input = static_cast<const float*>(g.b);
  const int64_t channels = c.in_channels / c.groups;
  const GemmKernels& kernels = gemm_kernels();
  for (int64_t k = panel.k_begin; k < panel.k_end;) {
    const int64_t tap = k / channels;
    const int64_t channel = k % channels;
    const int64_t count = std::min(channels - channel, panel.k_end - k);
    float* to = out + (k - panel.k_begin) * panel.width;
    for (int64_t i = 0; i < count; ++i) {
      std::fill(to + i * panel.width, to + (i + 1) * panel.width, 0.0f);
    }
    for_each_run(c, panel, [&](const Run& run, int64_t offset) {
      const int64_t ih = run.oh * c.stride_h - c.pad_h + tap / c.kernel_w * c.dilation_h;
      const int64_t shift = tap % c.kernel_w * c.dilation_w - c.pad_w;
      int64_t begin, end;
      valid_columns(c, shift, run, begin, end);
      if (ih < 0 || ih >= c.in_h || begin == end) {
        return;
      }
      const int64_t iw = begin * c.stride_w + shift;
      const float* from = input + (ih * c.in_w + iw) * c.in_channels + channel;
      kernels.transpose(from, c.stride_w * c.in_channels, end - begin, count,
                        to + offset + begin - run.first, panel.width, /*add=*/false);
    });
    k += count;
  }
}

// Brings the weights from [out][in][tap] to [out][tap][in], or back.
void reorder_weights(const Conv& c, float* out) {
  const int64_t channels = c.in_channels / c.groups;
  const int64_t rows = c.weight_channels_last ? taps(c) : channels;
  const int64_t cols = c.weight_channels_last ? channels : taps(c);
  for (int64_t o = 0; o < c.out_channels; ++o) {
    const int64_t filter = o * channels * taps(c);
    gemm_kernels().transpose(c.weight + filter, cols, rows, cols, out + filter, rows,
                             /*add=*/false);
  }
}

Gemm group_problem(const Conv& c, const float* weight, int64_t index) {
  const int64_t image = index / c.groups;
  const int64_t group = index % c.groups;
  const int64_t in_channels = c.in_channels / c.groups;
  const int64_t out_channels = c.out_channels / c.groups;
  const int64_t in_plane = c.in_h * c.in_w;
  const int64_t out_plane = c.out_h * c.out_w;
  const float* input = c.input + image * c.in_channels * in_plane +
                       group * in_channels * (c.channels_last ? 1 : in_plane);
  const float* bias = c.bias == nullptr ? nullptr : c.bias + group * out_channels;
  Gemm g;
  g.m = out_channels;
  g.n = out_plane;
  g.k = in_channels * taps(c);
  g.a = weight + group * out_channels * g.k;
  g.lda = g.k;
  g.row_bias = bias;
  g.b = input;
  g.layout = &c;
  g.c = c.output + image * c.out_channels * out_plane +
        group * out_channels * (c.channels_last ? 1 : out_plane);
  if (!c.channels_last) {
    g.b_in_rows = is_pointwise(c);
    g.pack = is_pointwise(c) ? pack_rows : pack_nchw;
    g.ldb = in_plane;
    g.ldc = out_plane;
    return g;
  }
  g.ldc = c.out_channels;
  if (!is_pointwise(c)) {
    g.pack = pack_nhwc;
    g.c_transposed = true;
    return g;
  }
  // Pixels are rows of k channels as they lie: multiply them by the packed weights instead.
  g.b = g.a;
  g.ldb = g.k;
  g.pack = pack_columns;
  g.a = input;
  g.lda = c.in_channels;
  std::swap(g.m, g.n);
  g.row_bias = nullptr;
  g.col_bias = bias;
  return g;
}

}  // namespace

void unfold(const Conv& c, const float* planes, int64_t first, int64_t last, float* out) {
  const int64_t positions = c.out_h * c.out_w;
  Gemm g;
  g.b = planes;
  g.layout = &c;
  pack_nchw(g, GemmPanel{first, last, 0, positions, positions}, out);
}

Error gemm_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv) {
  const float* weight = conv.weight;
  if (conv.channels_last != conv.weight_channels_last && taps(conv) > 1) {
    const int64_t count = conv.out_channels * conv.in_channels / conv.groups * taps(conv);
    auto memory = ctx.allocate_temp(static_cast<size_t>(count) * sizeof(float), 64);
    if (!memory.ok()) {
      return memory.error();
    }
    auto* reordered = static_cast<float*>(memory.get());
    reorder_weights(conv, reordered);
    weight = reordered;
  }
  return gemm(ctx, conv.batch * conv.groups,
              [&](int64_t index) { return group_problem(conv, weight, index); });
}

}  // namespace executorch::kernels::optimized
