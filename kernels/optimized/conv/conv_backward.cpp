// SPDX-License-Identifier: BSD-3-Clause
// Gradients of a convolution (NCHW), on the same matrix multiply. The input's is the transposed
// convolution of the output's gradient. The weights' is the matmul of the unfolded input, some
// channels at a time, with the output's gradient.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/conv/conv_columns.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <utility>

namespace executorch::kernels::optimized {

using runtime::Error;

namespace {

constexpr int64_t kUnfoldedRows = 192;  // about as many rows of the unfolded input are made at once

// Rows [first, last) of the unfolded input, one for each tap of each channel from `planes` on: the
// value that every output position sees through that tap, 0 outside the input.
void unfold(const Conv& c, const float* planes, int64_t first, int64_t last, float* out) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  for (int64_t row = first; row < last; ++row) {
    const float* plane = planes + row / taps * c.in_h * c.in_w;
    const int64_t shift_h = row % taps / c.kernel_w * c.dilation_h - c.pad_h;
    const int64_t shift_w = row % c.kernel_w * c.dilation_w - c.pad_w;
    for (int64_t oh = 0; oh < c.out_h; ++oh, out += c.out_w) {
      const int64_t ih = oh * c.stride_h + shift_h;
      if (ih < 0 || ih >= c.in_h) {
        std::fill(out, out + c.out_w, 0.0f);
      } else {
        copy_columns(plane + ih * c.in_w, c.in_w, shift_w, c.stride_w, c.out_w, out);
      }
    }
  }
}

}  // namespace

Error conv_input_gradient(runtime::KernelRuntimeContext& ctx, const Conv& conv,
                          const float* grad_output, float* grad_input) {
  Conv c = conv;
  std::swap(c.in_channels, c.out_channels);
  std::swap(c.in_h, c.out_h);
  std::swap(c.in_w, c.out_w);
  c.input = grad_output;
  c.bias = nullptr;
  c.output = grad_input;
  return transposed_conv(ctx, c);
}

Error conv_weight_gradient(runtime::KernelRuntimeContext& ctx, const Conv& c,
                           const float* grad_output, float* grad_weight) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  const int64_t plane = c.out_h * c.out_w;
  const int64_t in_channels = c.in_channels / c.groups;
  const int64_t out_channels = c.out_channels / c.groups;
  const int64_t step = std::clamp<int64_t>(kUnfoldedRows / taps, 1, in_channels);
  float* unfolded = scratch<float>(ctx, step * taps * plane);
  if (unfolded == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  // Steps of channels within each group of each image.
  const int64_t steps = (in_channels + step - 1) / step;
  for (int64_t i = 0; i < c.batch * c.groups * steps; ++i) {
    const int64_t image = i / steps / c.groups;
    const int64_t group = i / steps % c.groups;
    const int64_t channel = i % steps * step;
    const int64_t rows = std::min(step, in_channels - channel) * taps;
    const int64_t first_plane = image * c.in_channels + group * in_channels + channel;
    const float* planes = c.input + first_plane * c.in_h * c.in_w;
    extension::parallel_for(0, rows, 8, [&](int64_t first, int64_t last) {
      unfold(c, planes, first, last, unfolded + first * plane);
    });
    Gemm g;
    g.m = rows;
    g.n = out_channels;
    g.k = plane;
    g.a = unfolded;
    g.lda = plane;
    g.b = grad_output + (image * c.out_channels + group * out_channels) * plane;
    g.ldb = plane;
    g.pack = pack_columns;
    g.c = grad_weight + (group * out_channels * in_channels + channel) * taps;
    g.ldc = in_channels * taps;
    g.c_transposed = true;
    g.accumulate = image > 0;
    const Error error = gemm(ctx, 1, [&](int64_t) { return g; });
    if (error != Error::Ok) {
      return error;
    }
  }
  return Error::Ok;
}

Error conv_bias_gradient(runtime::KernelRuntimeContext& ctx, const Conv& c,
                         const float* grad_output, float* grad_bias) {
  float* sums = scratch<float>(ctx, c.out_channels);
  if (sums == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  const InnerLoops loops{c.out_channels, c.out_h * c.out_w, 1};
  sum_dim(loops, 1.0f, grad_output, grad_bias);
  for (int64_t image = 1; image < c.batch; ++image) {
    sum_dim(loops, 1.0f, grad_output + image * c.out_channels * loops.n, sums);
    for (int64_t i = 0; i < c.out_channels; ++i) {
      grad_bias[i] += sums[i];
    }
  }
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
