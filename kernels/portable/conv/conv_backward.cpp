// SPDX-License-Identifier: BSD-3-Clause
// The gradient of convolution. Both forms relate a small and a big image by big = small * stride -
// padding + tap * dilation: forward, the output is the small one; transposed, the input is. Every
// element of a gradient is one sum, so that no memory is needed.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/conv/conv.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <tuple>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

struct Image {
  StridedReader<double> reader;
  StridedView view;

  double at(int64_t n, int64_t channel, const int64_t* position) const {
    int64_t offset = n * view.strides[0] + channel * view.strides[1];
    for (int d = 0; d < kSpatial; ++d) {
      offset += position[d] * view.strides[2 + d];
    }
    return reader.at(offset);
  }
};

struct Gradient {
  const Conv& conv;
  Image small;
  Image big;
  Image weight;  // (small channel, big channel of its group, taps)

  int64_t small_per_group() const { return small.view.sizes[1] / conv.groups; }
  int64_t big_per_group() const { return big.view.sizes[1] / conv.groups; }
};

// Calls visit(position) for all positions of a spatial shape.
template <typename Visit>
void for_each_position(const int64_t* sizes, const Visit& visit) {
  for (int64_t d = 0; d < sizes[0]; ++d) {
    for (int64_t h = 0; h < sizes[1]; ++h) {
      for (int64_t w = 0; w < sizes[2]; ++w) {
        const int64_t position[kSpatial] = {d, h, w};
        visit(position);
      }
    }
  }
}

bool to_big(const Gradient& g, const int64_t* small, const int64_t* tap, int64_t* big) {
  bool inside = true;
  for (int d = 0; d < kSpatial; ++d) {
    big[d] = small[d] * g.conv.stride[d] - g.conv.padding[d] + tap[d] * g.conv.dilation[d];
    inside = inside && big[d] >= 0 && big[d] < g.big.view.sizes[2 + d];
  }
  return inside;
}

bool to_small(const Gradient& g, const int64_t* big, const int64_t* tap, int64_t* small) {
  bool inside = true;
  for (int d = 0; d < kSpatial; ++d) {
    const int64_t steps = big[d] + g.conv.padding[d] - tap[d] * g.conv.dilation[d];
    small[d] = steps / g.conv.stride[d];
    inside = inside && steps >= 0 && steps % g.conv.stride[d] == 0 &&
             small[d] < g.small.view.sizes[2 + d];
  }
  return inside;
}

double weight_gradient(const Gradient& g, int64_t small_channel, int64_t big_channel,
                       const int64_t* tap) {
  const int64_t channel = small_channel / g.small_per_group() * g.big_per_group() + big_channel;
  double sum = 0;
  for (int64_t n = 0; n < g.small.view.sizes[0]; ++n) {
    for_each_position(g.small.view.sizes + 2, [&](const int64_t* position) {
      int64_t target[kSpatial];
      if (to_big(g, position, tap, target)) {
        sum += g.small.at(n, small_channel, position) * g.big.at(n, channel, target);
      }
    });
  }
  return sum;
}

double small_gradient(const Gradient& g, int64_t n, int64_t channel, const int64_t* position) {
  const int64_t first = channel / g.small_per_group() * g.big_per_group();
  double sum = 0;
  for (int64_t b = 0; b < g.big_per_group(); ++b) {
    for_each_position(g.weight.view.sizes + 2, [&](const int64_t* tap) {
      int64_t target[kSpatial];
      if (to_big(g, position, tap, target)) {
        sum += g.big.at(n, first + b, target) * g.weight.at(channel, b, tap);
      }
    });
  }
  return sum;
}

double big_gradient(const Gradient& g, int64_t n, int64_t channel, const int64_t* position) {
  const int64_t first = channel / g.big_per_group() * g.small_per_group();
  double sum = 0;
  for (int64_t s = 0; s < g.small_per_group(); ++s) {
    for_each_position(g.weight.view.sizes + 2, [&](const int64_t* tap) {
      int64_t source[kSpatial];
      if (to_small(g, position, tap, source)) {
        sum += g.small.at(n, first + s, source) *
               g.weight.at(first + s, channel % g.big_per_group(), tap);
      }
    });
  }
  return sum;
}

// out[i, k, position] = value(i, k, position), in parallel.
template <typename Value>
void fill(Tensor& out, const Value& value) {
  const StridedView view = with_three_spatial_dims(StridedView::of(out));
  const StridedWriter<double> writer(out);
  ::executorch::extension::parallel_for(
      0, view.sizes[0] * view.sizes[1], 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t row = i / view.sizes[1];
          const int64_t column = i % view.sizes[1];
          for_each_position(view.sizes + 2, [&](const int64_t* position) {
            int64_t offset = row * view.strides[0] + column * view.strides[1];
            for (int d = 0; d < kSpatial; ++d) {
              offset += position[d] * view.strides[2 + d];
            }
            writer.put(offset, value(row, column, position));
          });
        }
      });
}

void fill_bias(const Image& grad_output, Tensor& out) {
  const StridedWriter<double> writer(out);
  for (int64_t channel = 0; channel < out.numel(); ++channel) {
    double sum = 0;
    for (int64_t n = 0; n < grad_output.view.sizes[0]; ++n) {
      for_each_position(grad_output.view.sizes + 2, [&](const int64_t* position) {
        sum += grad_output.at(n, channel, position);
      });
    }
    writer.put(channel, sum);
  }
}

bool prepare_output(const OpCall& call, bool wanted, const char* name, const Tensor& out,
                    const Tensor& input, const Shape& shape) {
  return !wanted ||
         (check_same_dtype(call, name, out, "input", input) && resize_output(call, out, shape));
}

bool check_grad_output(const OpCall& call, const Tensor& grad_output, const Tensor& input,
                       const Shape& shape) {
  bool same = grad_output.dim() == shape.ndim;
  for (int d = 0; same && d < shape.ndim; ++d) {
    same = grad_output.sizes()[d] == shape[d];
  }
  ET_KERNEL_CHECK_MSG(call.ctx, same, InvalidArgument, false,
                      "%s: expected grad_output of shape %s, found %s", call.op,
                      ShapeText(shape).text, ShapeText(grad_output).text);
  return check_same_dtype(call, "grad_output", grad_output, "input", input);
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> convolution_backward_out(
    KernelRuntimeContext& ctx, const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    OptionalArrayRef<int64_t> bias_sizes, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups,
    ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1, Tensor& out2) {
  (void)bias_sizes;  // the channels of the output
  const OpCall call{ctx, "convolution_backward.out"};
  const std::tuple<Tensor&, Tensor&, Tensor&> result(out0, out1, out2);
  const ConvArgs args{stride, padding, dilation, output_padding, transposed, groups};
  Conv conv;
  Shape shape;
  Shape bias_shape;
  if (!check_count(call, "entries of output_mask", static_cast<int64_t>(output_mask.size()), 3) ||
      !check_floating(call, "input", input) ||
      !plan_convolution(call, input, weight, std::nullopt, args, shape, conv) ||
      !check_grad_output(call, grad_output, input, shape)) {
    return result;
  }
  bias_shape.push(shape[1]);
  if (!prepare_output(call, output_mask[0], "out0", out0, input, Shape(input)) ||
      !prepare_output(call, output_mask[1], "out1", out1, input, Shape(weight)) ||
      !prepare_output(call, output_mask[2], "out2", out2, input, bias_shape)) {
    return result;
  }
  const Image in{StridedReader<double>(input), conv.in};
  const Image grad{StridedReader<double>(grad_output),
                   with_three_spatial_dims(StridedView::of(grad_output))};
  const Gradient gradient{conv,
                          transposed ? in : grad,
                          transposed ? grad : in,
                          {StridedReader<double>(weight), conv.weight}};
  if (output_mask[0]) {
    fill(out0, [&](int64_t n, int64_t channel, const int64_t* position) {
      return transposed ? small_gradient(gradient, n, channel, position)
                        : big_gradient(gradient, n, channel, position);
    });
  }
  if (output_mask[1]) {
    fill(out1, [&](int64_t small, int64_t big, const int64_t* tap) {
      return weight_gradient(gradient, small, big, tap);
    });
  }
  if (output_mask[2]) {
    fill_bias(grad, out2);
  }
  return result;
}

}  // namespace torch::executor::native
