// SPDX-License-Identifier: BSD-3-Clause
// Pointwise convolution on the matrix multiply, the input read in place: of NCHW the planes are
// rows of the right operand, of NHWC the pixels are rows of the left one.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/gemm/gemm.h>

#include <utility>

namespace executorch::kernels::optimized {

using runtime::Error;

namespace {

Gemm group_problem(const Conv& c, int64_t index) {
  const int64_t image = index / c.groups;
  const int64_t group = index % c.groups;
  const int64_t in_channels = c.in_channels / c.groups;
  const int64_t out_channels = c.out_channels / c.groups;
  const int64_t plane = c.in_d * c.in_h * c.in_w;
  const float* bias = c.bias == nullptr ? nullptr : c.bias + group * out_channels;
  Gemm g;
  g.m = out_channels;
  g.n = plane;
  g.k = in_channels;
  g.a = c.weight + group * out_channels * in_channels;
  g.lda = in_channels;
  g.b =
      c.input + image * c.in_channels * plane + group * in_channels * (c.channels_last ? 1 : plane);
  g.c = c.output + image * c.out_channels * plane +
        group * out_channels * (c.channels_last ? 1 : plane);
  if (!c.channels_last) {
    g.row_bias = bias;
    g.b_in_rows = true;
    g.pack = pack_rows;
    g.ldb = plane;
    g.ldc = plane;
    return g;
  }
  std::swap(g.m, g.n);
  const auto* weight = g.a;
  g.a = static_cast<const float*>(g.b);
  g.lda = c.in_channels;
  g.b = weight;
  g.ldb = in_channels;
  g.pack = pack_columns;
  g.ldc = c.out_channels;
  g.col_bias = bias;
  return g;
}

}  // namespace

bool is_pointwise(const Conv& c) {
  return c.kernel_d == 1 && c.kernel_h == 1 && c.kernel_w == 1 && c.stride_d == 1 &&
         c.stride_h == 1 && c.stride_w == 1 && c.pad_d == 0 && c.pad_h == 0 && c.pad_w == 0;
}

Error pointwise_conv(runtime::KernelRuntimeContext& ctx, const Conv& conv) {
  return gemm(ctx, conv.batch * conv.groups,
              [&](int64_t index) { return group_problem(conv, index); });
}

}  // namespace executorch::kernels::optimized
