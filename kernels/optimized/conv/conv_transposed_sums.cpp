// SPDX-License-Identifier: BSD-3-Clause
// Transposed convolution (NCHW) of few positions by many weights, which are read in place: one
// matrix multiply gives what every input position adds to the output through every tap, and those
// values are summed where they fall.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using extension::get_num_threads;
using extension::get_thread_num;
using extension::parallel_for;
using runtime::Error;

namespace {

// Inputs [first, last) of an axis that a tap adds to outputs of it; the first output.
struct Reach {
  int64_t first, last, out;
};

Reach reach(int64_t in, int64_t out, int64_t stride, int64_t shift) {
  const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t room = out - 1 - shift;
  const int64_t last = room < 0 ? 0 : std::min(in, room / stride + 1);
  return {first, std::max(first, last), first * stride + shift};
}

// Adds a tap's values, one for each input position, to the output planes of a channel.
void add_tap(const Conv& c, const float* values, int64_t tap, float* out) {
  const int64_t kw = tap % c.kernel_w, kh = tap / c.kernel_w % c.kernel_h;
  const int64_t kd = tap / (c.kernel_w * c.kernel_h);
  const Reach d = reach(c.in_d, c.out_d, c.stride_d, kd * c.dilation_d - c.pad_d);
  const Reach h = reach(c.in_h, c.out_h, c.stride_h, kh * c.dilation_h - c.pad_h);
  const Reach w = reach(c.in_w, c.out_w, c.stride_w, kw * c.dilation_w - c.pad_w);
  for (int64_t i = d.first; i < d.last; ++i) {
    for (int64_t j = h.first; j < h.last; ++j) {
      const float* from = values + (i * c.in_h + j) * c.in_w;
      float* row =
          out +
          ((d.out + (i - d.first) * c.stride_d) * c.out_h + h.out + (j - h.first) * c.stride_h) *
              c.out_w +
          w.out;
      for (int64_t x = w.first; x < w.last; ++x, row += c.stride_w) {
        *row += from[x];
      }
    }
  }
}

// All output planes of one image and group, from the product [position][channel][tap].
void sum_taps(const Conv& c, const float* product, int64_t first_channel, float* turned,
              float* out) {
  const int64_t taps = c.kernel_d * c.kernel_h * c.kernel_w;
  const int64_t positions = c.in_d * c.in_h * c.in_w;
  const int64_t plane = c.out_d * c.out_h * c.out_w;
  const int64_t channels = c.out_channels / c.groups;
  parallel_for(0, channels, 1, [&](int64_t begin, int64_t end) {
    float* values = turned + get_thread_num() * taps * positions;
    for (int64_t o = begin; o < end; ++o) {
      std::fill(out + o * plane, out + (o + 1) * plane,
                c.bias != nullptr ? c.bias[first_channel + o] : 0.0f);
      gemm_kernels().transpose(product + o * taps, channels * taps, positions, taps, values,
                               positions, /*add=*/false);
      for (int64_t t = 0; t < taps; ++t) {
        add_tap(c, values + t * positions, t, out + o * plane);
      }
    }
  });
}

}  // namespace

Error transposed_sums(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const int64_t ins = c.in_channels / c.groups, outs = c.out_channels / c.groups;
  const int64_t taps = c.kernel_d * c.kernel_h * c.kernel_w;
  const int64_t positions = c.in_d * c.in_h * c.in_w;
  float* pixels = scratch<float>(ctx, positions * ins);
  float* product = scratch<float>(ctx, positions * outs * taps);
  float* turned = scratch<float>(ctx, get_num_threads() * positions * taps);
  if (pixels == nullptr || product == nullptr || turned == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  for (int64_t i = 0; i < c.batch * c.groups; ++i) {
    const int64_t group = i % c.groups;
    gemm_kernels().transpose(c.input + i * ins * positions, positions, ins, positions, pixels, ins,
                             /*add=*/false);
    Gemm g;
    g.m = positions;
    g.n = outs * taps;
    g.k = ins;
    g.a = pixels;
    g.lda = ins;
    g.b = c.weight + group * ins * g.n;
    g.ldb = g.n;
    g.pack = pack_rows;
    g.b_in_rows = true;
    g.c = product;
    g.ldc = g.n;
    const Error error = gemm(ctx, 1, [&](int64_t) { return g; });
    if (error != Error::Ok) {
      return error;
    }
    sum_taps(c, product, group * outs, turned, c.output + i * outs * c.out_d * c.out_h * c.out_w);
  }
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
