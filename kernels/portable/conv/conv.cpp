// SPDX-License-Identifier: BSD-3-Clause
// Convolution of one to three spatial dimensions, with groups, dilation and the transposed form, as
// the readable reference: one row of the output at a time in the compute type.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/binary.h>
#include <executorch/kernels/portable/conv/conv.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch {
namespace kernels {

using executorch::aten::IntArrayRef;

namespace {

// One entry stands for all dimensions; none for the default.
bool parameter(const OpCall& call, const char* name, IntArrayRef values, int dim, int spatial,
               int64_t least, int64_t fallback, int64_t& value) {
  const bool single = values.size() == 1;
  ET_KERNEL_CHECK_MSG(call.ctx, values.size() <= 1 || values.size() == static_cast<size_t>(spatial),
                      InvalidArgument, false, "%s: expected 1 or %d entries of %s, found %zu",
                      call.op, spatial, name, values.size());
  value = values.empty() ? fallback : values[single ? 0 : dim];
  ET_KERNEL_CHECK_MSG(call.ctx, value >= least && value <= INT32_MAX, InvalidArgument, false,
                      "%s: expected %s >= %" PRId64 ", found %" PRId64, call.op, name, least,
                      value);
  return true;
}

// The size of one output dimension, or a failure when the kernel does not fit.
bool output_size(const OpCall& call, const Conv& conv, int d, int64_t in_size, int64_t kernel,
                 int64_t output_padding, int64_t& size) {
  const int64_t reach = conv.dilation[d] * (kernel - 1) + 1;
  if (conv.transposed) {
    size = (in_size - 1) * conv.stride[d] - 2 * conv.padding[d] + reach + output_padding;
  } else {
    const int64_t room = in_size + 2 * conv.padding[d] - reach;
    size = room < 0 ? 0 : room / conv.stride[d] + 1;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, kernel > 0 && size > 0, InvalidArgument, false,
                      "%s: expected a kernel that fits input, found size %" PRId64
                      " for an input of size %" PRId64,
                      call.op, kernel, in_size);
  return true;
}

// More of it would be outputs that no input reaches.
bool check_output_padding(const OpCall& call, const Conv& conv, int d, int64_t output_padding) {
  const int64_t bound = std::max(conv.stride[d], conv.dilation[d]);
  ET_KERNEL_CHECK_MSG(call.ctx, !conv.transposed || output_padding < bound, InvalidArgument, false,
                      "%s: expected output_padding smaller than stride or dilation, which are at "
                      "most %" PRId64 ", found %" PRId64,
                      call.op, static_cast<int64_t>(bound), output_padding);
  return true;
}

bool check_channels(const OpCall& call, const Tensor& input, const Tensor& weight,
                    const std::optional<Tensor>& bias, const ConvArgs& args,
                    int64_t& out_channels) {
  const int64_t groups = args.groups;
  ET_KERNEL_CHECK_MSG(
      call.ctx, groups > 0 && groups <= INT32_MAX && input.dim() >= 3 && input.dim() <= 5,
      InvalidArgument, false,
      "%s: expected 3 to 5 dims for input and 1 to %d groups, found %d dims and %" PRId64 " groups",
      call.op, static_cast<int>(INT32_MAX), static_cast<int>(input.dim()), groups);
  if (!check_rank(call, "weight", weight, input.dim())) {
    return false;
  }
  const int64_t in_channels = input.sizes()[1];
  const int64_t expected = args.transposed ? weight.sizes()[0] : weight.sizes()[1] * groups;
  out_channels = args.transposed ? weight.sizes()[1] * groups : weight.sizes()[0];
  ET_KERNEL_CHECK_MSG(
      call.ctx, in_channels == expected && in_channels % groups == 0 && out_channels % groups == 0,
      InvalidArgument, false,
      "%s: expected input to have %" PRId64 " channels in %" PRId64 " groups, found %" PRId64,
      call.op, expected, groups, in_channels);
  ET_KERNEL_CHECK_MSG(
      call.ctx, !bias.has_value() || (bias->dim() == 1 && bias->sizes()[0] == out_channels),
      InvalidArgument, false, "%s: expected bias to have %" PRId64 " elements, found shape %s",
      call.op, out_channels, ShapeText(*bias).text);
  return true;
}

}  // namespace

StridedView with_three_spatial_dims(StridedView view) {
  while (view.ndim < 2 + kSpatial) {
    view = view.inserted(2, 1, 0);
  }
  return view;
}

bool plan_convolution(const OpCall& call, const Tensor& input, const Tensor& weight,
                      const std::optional<Tensor>& bias, const ConvArgs& args, Shape& shape,
                      Conv& conv) {
  int64_t out_channels = 0;
  if (!check_computable(call, "input", input) ||
      !check_same_dtype(call, "weight", weight, "input", input) ||
      (bias.has_value() && !check_computable(call, "bias", *bias)) ||
      !check_channels(call, input, weight, bias, args, out_channels)) {
    return false;
  }
  conv.groups = args.groups;
  conv.transposed = args.transposed;
  const int spatial = static_cast<int>(input.dim()) - 2;
  shape = Shape();
  shape.push(input.sizes()[0]);
  shape.push(out_channels);
  for (int d = 0; d < kSpatial; ++d) {
    conv.stride[d] = conv.dilation[d] = 1;
    conv.padding[d] = 0;
    const int own = d - (kSpatial - spatial);
    if (own < 0) {
      continue;
    }
    int64_t output_padding = 0;
    int64_t size = 0;
    if (!parameter(call, "stride", args.stride, own, spatial, 1, 1, conv.stride[d]) ||
        !parameter(call, "padding", args.padding, own, spatial, 0, 0, conv.padding[d]) ||
        !parameter(call, "dilation", args.dilation, own, spatial, 1, 1, conv.dilation[d]) ||
        !parameter(call, "output_padding", args.output_padding, own, spatial, 0, 0,
                   output_padding) ||
        !check_output_padding(call, conv, d, output_padding) ||
        !output_size(call, conv, d, input.sizes()[2 + own], weight.sizes()[2 + own], output_padding,
                     size)) {
      return false;
    }
    shape.push(size);
  }
  conv.in = with_three_spatial_dims(StridedView::of(input));
  conv.weight = with_three_spatial_dims(StridedView::of(weight));
  return true;
}

}  // namespace kernels
}  // namespace executorch

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// For one kernel tap: which output positions o of [first, last) it touches and the input position
// of the first. Forward: i = o * stride - padding + k * dilation. Transposed: o = i * stride -
// padding + k * dilation.
struct TapRange {
  int64_t out_first;
  int64_t count;
  int64_t in_first;
};

int64_t ceil_div(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

TapRange tap_range(const Conv& conv, int d, int64_t tap, int64_t first, int64_t last) {
  const int64_t shift = tap * conv.dilation[d] - conv.padding[d];
  const int64_t stride = conv.stride[d];
  const int64_t in_size = conv.in.sizes[2 + d];
  if (conv.transposed) {
    const int64_t i0 = std::max<int64_t>(0, ceil_div(first - shift, stride));
    const int64_t i1 = std::min(in_size, ceil_div(last - shift, stride));
    return {i0 * stride + shift, std::max<int64_t>(0, i1 - i0), i0};
  }
  const int64_t o0 = std::max(first, ceil_div(-shift, stride));
  const int64_t o1 = std::min(last, ceil_div(in_size - shift, stride));
  return {o0, std::max<int64_t>(0, o1 - o0), o0 * stride + shift};
}

struct Row {
  int64_t batch;
  int64_t channel;
  int64_t d;
  int64_t h;
};

template <typename C>
struct ConvRow {
  const Conv& conv;
  const StridedReader<C>& in;
  const StridedReader<C>& weight;

  // Adds to acc[0..n) the outputs at w0 + [0, n).
  void accumulate(const Row& row, int64_t w0, int64_t n, C* acc) const {
    const StridedView& w = conv.weight;
    const int64_t in_per_group = conv.in.sizes[1] / conv.groups;
    const int64_t out_per_group = conv.out.sizes[1] / conv.groups;
    const int64_t group = row.channel / out_per_group;
    for (int64_t kd = 0; kd < w.sizes[2]; ++kd) {
      const TapRange d = tap_range(conv, 0, kd, row.d, row.d + 1);
      for (int64_t kh = 0; d.count > 0 && kh < w.sizes[3]; ++kh) {
        const TapRange h = tap_range(conv, 1, kh, row.h, row.h + 1);
        if (h.count == 0) {
          continue;
        }
        for (int64_t ic = 0; ic < in_per_group; ++ic) {
          const int64_t in_channel = group * in_per_group + ic;
          const int64_t in_offset =
              row.batch * conv.in.strides[0] + in_channel * conv.in.strides[1] +
              d.in_first * conv.in.strides[2] + h.in_first * conv.in.strides[3];
          const int64_t first = conv.transposed ? in_channel : row.channel;
          const int64_t second = conv.transposed ? row.channel % out_per_group : ic;
          const int64_t w_offset =
              first * w.strides[0] + second * w.strides[1] + kd * w.strides[2] + kh * w.strides[3];
          accumulate_taps(in_offset, w_offset, w0, n, acc);
        }
      }
    }
  }

 private:
  void accumulate_taps(int64_t in_offset, int64_t w_offset, int64_t w0, int64_t n, C* acc) const {
    C buffer[kChunk];
    const int64_t in_step = conv.in.strides[4] * (conv.transposed ? 1 : conv.stride[2]);
    const int64_t out_step = conv.transposed ? conv.stride[2] : 1;
    for (int64_t kw = 0; kw < conv.weight.sizes[4]; ++kw) {
      const TapRange range = tap_range(conv, 2, kw, w0, w0 + n);
      if (range.count == 0) {
        continue;
      }
      const C factor = weight.at(w_offset + kw * conv.weight.strides[4]);
      const C* values =
          in.read(in_offset + range.in_first * conv.in.strides[4], in_step, range.count, buffer);
      C* sums = acc + (range.out_first - w0);
      if (out_step == 1) {
        for (int64_t i = 0; i < range.count; ++i) {
          sums[i] = wrap_add(sums[i], wrap_mul(factor, values[i]));
        }
      } else {
        for (int64_t i = 0; i < range.count; ++i) {
          C& sum = sums[i * out_step];
          sum = wrap_add(sum, wrap_mul(factor, values[i]));
        }
      }
    }
  }
};

template <typename C>
void convolve(const Conv& conv, const Tensor& input, const Tensor& weight,
              const std::optional<Tensor>& bias, const Tensor& out) {
  const StridedReader<C> in_reader(input);
  const StridedReader<C> weight_reader(weight);
  const StridedReader<C> bias_reader(bias.has_value() ? *bias : input);
  const StridedWriter<C> writer(out);
  const ConvRow<C> worker{conv, in_reader, weight_reader};
  const int64_t* sizes = conv.out.sizes;
  const int64_t rows = sizes[0] * sizes[1] * sizes[2] * sizes[3];
  ::executorch::extension::parallel_for(0, rows, 16, [&](int64_t first, int64_t last) {
    C acc[kChunk];
    for (int64_t i = first; i < last; ++i) {
      const Row row{i / (sizes[3] * sizes[2] * sizes[1]), i / (sizes[3] * sizes[2]) % sizes[1],
                    i / sizes[3] % sizes[2], i % sizes[3]};
      const int64_t offset = row.batch * conv.out.strides[0] + row.channel * conv.out.strides[1] +
                             row.d * conv.out.strides[2] + row.h * conv.out.strides[3];
      for (int64_t w0 = 0; w0 < sizes[4]; w0 += kChunk) {
        const int64_t n = std::min(kChunk, sizes[4] - w0);
        std::fill_n(acc, n, bias.has_value() ? bias_reader.at(row.channel) : C(0));
        worker.accumulate(row, w0, n, acc);
        writer.write(offset + w0 * conv.out.strides[4], conv.out.strides[4], n, acc);
      }
    }
  });
}

}  // namespace

Tensor& convolution_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                        int64_t groups, Tensor& out) {
  const OpCall call{ctx, "convolution.out"};
  const ConvArgs args{stride, padding, dilation, output_padding, transposed, groups};
  Conv conv;
  Shape shape;
  ET_KERNEL_CHECK_MSG(ctx, input.scalar_type() != ScalarType::Bool, InvalidArgument, out,
                      "%s: expected input to be of numbers, found Bool", call.op);
  if (!check_same_dtype(call, "out", out, "input", input) ||
      !plan_convolution(call, input, weight, bias, args, shape, conv) ||
      !resize_output(call, out, shape)) {
    return out;
  }
  conv.out = with_three_spatial_dims(StridedView::of(out));
  with_compute_type(compute_type_of(input.scalar_type()),
                    [&](auto zero) { convolve<decltype(zero)>(conv, input, weight, bias, out); });
  return out;
}

}  // namespace torch::executor::native
