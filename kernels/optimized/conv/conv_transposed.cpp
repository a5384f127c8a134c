// SPDX-License-Identifier: BSD-3-Clause
// Transposed convolution (NCHW). Of stride 1 it is a convolution with the filters turned around. Of
// others, one matrix multiply gives what every input position adds to the output through every tap;
// those values are then summed where they fall.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using runtime::Error;

namespace {

// Adds a tap's values, one for each input position, to the output plane.
void add_tap(const Conv& c, const float* values, int64_t kh, int64_t kw, float* plane) {
  const int64_t shift = kw * c.dilation_w - c.pad_w;
  const int64_t first = shift >= 0 ? 0 : (-shift + c.stride_w - 1) / c.stride_w;
  const int64_t room = c.out_w - 1 - shift;
  const int64_t last = room < 0 ? 0 : std::min(c.in_w, room / c.stride_w + 1);
  for (int64_t ih = 0; ih < c.in_h; ++ih) {
    const int64_t oh = ih * c.stride_h + kh * c.dilation_h - c.pad_h;
    if (oh < 0 || oh >= c.out_h) {
      continue;
    }
    float* row = plane + oh * c.out_w + shift;
    const float* from = values + ih * c.in_w;
    for (int64_t iw = first; iw < last; ++iw) {
      row[iw * c.stride_w] += from[iw];
    }
  }
}

// All output planes of one image and group from the product [out channel][tap][input position].
void sum_taps(const Conv& c, const float* product, int64_t first_channel, float* out) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  const int64_t in_plane = c.in_h * c.in_w;
  const int64_t out_plane = c.out_h * c.out_w;
  extension::parallel_for(0, c.out_channels / c.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      float* plane = out + o * out_plane;
      std::fill(plane, plane + out_plane, c.bias != nullptr ? c.bias[first_channel + o] : 0.0f);
      for (int64_t t = 0; t < taps; ++t) {
        add_tap(c, product + (o * taps + t) * in_plane, t / c.kernel_w, t % c.kernel_w, plane);
      }
    }
  });
}

float* allocate(runtime::KernelRuntimeContext& ctx, int64_t count) {
  auto memory = ctx.allocate_temp(static_cast<size_t>(count) * sizeof(float), 64);
  return memory.ok() ? static_cast<float*>(memory.get()) : nullptr;
}

// [in][out][taps] of each group to [out][in][taps in reverse].
void turn_filters(const Conv& c, float* out) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  const int64_t ins = c.in_channels / c.groups;
  const int64_t outs = c.out_channels / c.groups;
  for (int64_t channel = 0; channel < c.out_channels; ++channel) {
    const float* from = c.weight + (channel / outs * ins * outs + channel % outs) * taps;
    for (int64_t i = 0; i < ins; ++i, from += outs * taps, out += taps) {
      std::reverse_copy(from, from + taps, out);
    }
  }
}

bool is_turned_convolution(const Conv& c) {
  return c.stride_h == 1 && c.stride_w == 1 && c.dilation_h * (c.kernel_h - 1) >= c.pad_h &&
         c.dilation_w * (c.kernel_w - 1) >= c.pad_w;
}

Error turned_convolution(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const int64_t channels = c.in_channels / c.groups;
  float* weight = allocate(ctx, c.out_channels * channels * c.kernel_h * c.kernel_w);
  if (weight == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  turn_filters(c, weight);
  Conv turned = c;
  turned.weight = weight;
  turned.pad_h = c.dilation_h * (c.kernel_h - 1) - c.pad_h;
  turned.pad_w = c.dilation_w * (c.kernel_w - 1) - c.pad_w;
  return direct_conv(ctx, turned);
}

}  // namespace

Error transposed_conv(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  if (is_turned_convolution(c)) {
    return turned_convolution(ctx, c);
  }
  const int64_t channels = c.in_channels / c.groups;
  const int64_t rows = c.out_channels / c.groups * c.kernel_h * c.kernel_w;
  const int64_t in_plane = c.in_h * c.in_w;
  float* weight = allocate(ctx, rows * channels);
  float* product = allocate(ctx, rows * in_plane);
  if (weight == nullptr || product == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  for (int64_t group = 0; group < c.groups; ++group) {
    gemm_kernels().transpose(c.weight + group * channels * rows, rows, channels, rows, weight,
                             channels, /*add=*/false);
    for (int64_t image = 0; image < c.batch; ++image) {
      Gemm g;
      g.m = rows;
      g.n = in_plane;
      g.k = channels;
      g.a = weight;
      g.lda = channels;
      g.b = c.input + (image * c.in_channels + group * channels) * in_plane;
      g.ldb = in_plane;
      g.pack = pack_rows;
      g.b_in_rows = true;
      g.c = product;
      g.ldc = in_plane;
      const Error error = gemm(ctx, 1, [&](int64_t) { return g; });
      if (error != Error::Ok) {
        return error;
      }
      const int64_t first_channel = group * (c.out_channels / c.groups);
      sum_taps(c, product, first_channel,
               c.output + (image * c.out_channels + first_channel) * c.out_h * c.out_w);
    }
  }
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
