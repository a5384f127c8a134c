// SPDX-License-Identifier: BSD-3-Clause
// Two-dimensional pooling: maximum with positions, average, and average to a given size. Any dim
// order.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/lines.h>
#include <executorch/kernels/portable/loops/strided.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch {
namespace executor {
namespace native {

using namespace ::executorch::kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;
using ::executorch::runtime::KernelRuntimeContext;

namespace {

// One spatial dimension of a pooling window.
struct Window {
  int64_t kernel;
  int64_t stride;
  int64_t padding;
  int64_t dilation;
};

struct PoolArgs {
  IntArrayRef kernel_size;
  IntArrayRef stride;
  IntArrayRef padding;
  IntArrayRef dilation;
  bool ceil_mode;
};

int64_t entry(IntArrayRef values, int d, int64_t fallback) {
  return values.empty() ? fallback : values[values.size() == 1 ? 0 : d];
}

bool make_window(const OpCall& call, const PoolArgs& args, int d, Window& window) {
  const IntArrayRef lists[] = {args.kernel_size, args.stride, args.padding, args.dilation};
  bool valid = !args.kernel_size.empty();
  for (const IntArrayRef& list : lists) {
    valid = valid && list.size() <= 2;
  }
  if (valid) {
    window.kernel = entry(args.kernel_size, d, 1);
    window.stride = entry(args.stride, d, window.kernel);
    window.padding = entry(args.padding, d, 0);
    window.dilation = entry(args.dilation, d, 1);
    valid = window.kernel > 0 && window.kernel <= INT32_MAX && window.stride > 0 &&
            window.stride <= INT32_MAX && window.padding >= 0 &&
            window.padding <= window.kernel / 2 && window.dilation > 0 &&
            window.dilation <= INT32_MAX;
  }
  ET_KERNEL_CHECK_MSG(
      call.ctx, valid, InvalidArgument, false,
      "%s: expected 1 or 2 positive entries of kernel_size, stride and dilation, and padding of at "
      "most half the kernel",
      call.op);
  return true;
}

int64_t pooled_size(int64_t size, const Window& window, bool ceil_mode) {
  const int64_t reach = window.dilation * (window.kernel - 1) + 1;
  const int64_t room = size + 2 * window.padding - reach;
  if (room < 0) {
    return ceil_mode && room > -window.stride ? 1 : 0;
  }
  int64_t count = (room + (ceil_mode ? window.stride - 1 : 0)) / window.stride + 1;
  // The last window must start inside the input or its left padding.
  if (ceil_mode && (count - 1) * window.stride >= size + window.padding) {
    --count;
  }
  return count;
}

// Input and output as (batch, channel, h, w).
struct Planes {
  StridedView in;
  StridedView out;
};

bool make_planes(const OpCall& call, const Tensor& self, const Tensor& out, int64_t h, int64_t w,
                 Planes& planes) {
  Shape shape(self);
  shape.sizes[shape.ndim - 2] = h;
  shape.sizes[shape.ndim - 1] = w;
  ET_KERNEL_CHECK_MSG(call.ctx, h > 0 && w > 0, InvalidArgument, false,
                      "%s: the result would be empty: the window does not fit self", call.op);
  if (!resize_output(call, out, shape)) {
    return false;
  }
  planes.in = StridedView::of(self);
  planes.out = StridedView::of(out);
  if (planes.in.ndim == 3) {
    planes.in = planes.in.inserted(0, 1, 0);
    planes.out = planes.out.inserted(0, 1, 0);
  }
  return true;
}

bool check_planes(const OpCall& call, const Tensor& self, const Tensor& out) {
  ET_KERNEL_CHECK_MSG(call.ctx, self.dim() == 3 || self.dim() == 4, InvalidArgument, false,
                      "%s: expected 3 or 4 dims for self, got %d", call.op,
                      static_cast<int>(self.dim()));
  return check_computable(call, "self", self) && check_same_dtype(call, "out", out, "self", self);
}

// Calls body(in_offset, out_offset, oh, ow) for every output position, in parallel over planes.
template <typename Body>
void for_each_output(const Planes& planes, const Body& body) {
  const int64_t* sizes = planes.out.sizes;
  const int64_t per_plane = sizes[2] * sizes[3];
  const int64_t grain = std::max<int64_t>(1, (1 << 11) / std::max<int64_t>(1, per_plane));
  ::executorch::extension::parallel_for(
      0, sizes[0] * sizes[1], grain, [&](int64_t first, int64_t last) {
        for (int64_t plane = first; plane < last; ++plane) {
          const int64_t n = plane / sizes[1];
          const int64_t c = plane % sizes[1];
          const int64_t in = n * planes.in.strides[0] + c * planes.in.strides[1];
          const int64_t out = n * planes.out.strides[0] + c * planes.out.strides[1];
          for (int64_t oh = 0; oh < sizes[2]; ++oh) {
            for (int64_t ow = 0; ow < sizes[3]; ++ow) {
              body(in, out + oh * planes.out.strides[2] + ow * planes.out.strides[3], oh, ow);
            }
          }
        }
      });
}

}  // namespace

std::tuple<Tensor&, Tensor&> max_pool2d_with_indices_out(
    KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, Tensor& out, Tensor& indices) {
  const OpCall call{ctx, "max_pool2d_with_indices.out"};
  const std::tuple<Tensor&, Tensor&> result{out, indices};
  const PoolArgs args{kernel_size, stride, padding, dilation, ceil_mode};
  Window h;
  Window w;
  if (!check_planes(call, self, out) || !check_dtype(call, "indices", indices, ScalarType::Long) ||
      !make_window(call, args, 0, h) || !make_window(call, args, 1, w)) {
    return result;
  }
  const int64_t in_h = self.sizes()[self.dim() - 2];
  const int64_t in_w = self.sizes()[self.dim() - 1];
  Planes planes;
  if (!make_planes(call, self, out, pooled_size(in_h, h, ceil_mode),
                   pooled_size(in_w, w, ceil_mode), planes) ||
      !resize_output(call, indices, Shape(out))) {
    return result;
  }
  ET_KERNEL_CHECK_MSG(ctx, ::executorch::runtime::tensors_have_same_dim_order(out, indices),
                      InvalidArgument, result,
                      "max_pool2d_with_indices.out: out and indices differ in dim order");
  int64_t* positions = indices.mutable_data_ptr<int64_t>();
  with_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const LineReader<C> in(self);
    const LineWriter<C> writer(out);
    for_each_output(planes, [&](int64_t in_offset, int64_t out_offset, int64_t oh, int64_t ow) {
      using Limits = std::numeric_limits<C>;
      C best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      int64_t position = -1;
      for (int64_t kh = 0; kh < h.kernel; ++kh) {
        const int64_t ih = oh * h.stride - h.padding + kh * h.dilation;
        if (ih < 0 || ih >= in_h) {
          continue;
        }
        for (int64_t kw = 0; kw < w.kernel; ++kw) {
          const int64_t iw = ow * w.stride - w.padding + kw * w.dilation;
          if (iw < 0 || iw >= in_w) {
            continue;
          }
          const C x = in.at(in_offset + ih * planes.in.strides[2] + iw * planes.in.strides[3]);
          if (x > best || position < 0 || x != x) {
            best = x;
            position = ih * in_w + iw;
          }
        }
      }
      writer.put(out_offset, best);
      positions[out_offset] = position < 0 ? 0 : position;
    });
  });
  return result;
}

Tensor& max_pool2d_with_indices_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_output,
                                             const Tensor& self, IntArrayRef kernel_size,
                                             IntArrayRef stride, IntArrayRef padding,
                                             IntArrayRef dilation, bool ceil_mode,
                                             const Tensor& indices, Tensor& grad_input) {
  const OpCall call{ctx, "max_pool2d_with_indices_backward.grad_input"};
  const PoolArgs args{kernel_size, stride, padding, dilation, ceil_mode};
  Window h;
  Window w;
  if (!check_planes(call, self, grad_input) || !check_floating(call, "self", self) ||
      !check_same_dtype(call, "grad_output", grad_output, "self", self) ||
      !check_dtype(call, "indices", indices, ScalarType::Long) || !make_window(call, args, 0, h) ||
      !make_window(call, args, 1, w)) {
    return grad_input;
  }
  const int64_t in_h = self.sizes()[self.dim() - 2];
  const int64_t in_w = self.sizes()[self.dim() - 1];
  Shape pooled(self);
  pooled.sizes[pooled.ndim - 2] = pooled_size(in_h, h, ceil_mode);
  pooled.sizes[pooled.ndim - 1] = pooled_size(in_w, w, ceil_mode);
  Planes planes;
  bool fits = grad_output.dim() == self.dim();
  for (int d = 0; fits && d < pooled.ndim; ++d) {
    fits = grad_output.sizes()[d] == pooled[d];
  }
  ET_KERNEL_CHECK_MSG(ctx,
                      fits && ::executorch::runtime::tensors_have_same_shape(grad_output, indices),
                      InvalidArgument, grad_input,
                      "%s: grad_output and indices do not have the pooled shape", call.op);
  if (!make_planes(call, self, grad_input, in_h, in_w, planes)) {
    return grad_input;
  }
  StridedView grads = StridedView::of(grad_output);
  StridedView at = StridedView::of(indices);
  if (grads.ndim == 3) {
    grads = grads.inserted(0, 1, 0);
    at = at.inserted(0, 1, 0);
  }
  std::memset(grad_input.mutable_data_ptr(), 0, grad_input.nbytes());
  with_float_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const LineReader<C> grad(grad_output);
    const LineReader<C> sum(grad_input);
    const LineWriter<C> writer(grad_input);
    const int64_t* positions = indices.const_data_ptr<int64_t>();
    Odometer<3> odometer(4, grads.sizes);
    const int64_t plane_strides[4] = {planes.out.strides[0], planes.out.strides[1], 0, 0};
    odometer.set_strides(0, grads.strides);
    odometer.set_strides(1, at.strides);
    odometer.set_strides(2, plane_strides);
    for (int64_t i = 0; i < grad_output.numel(); ++i, odometer.next()) {
      const int64_t position = positions[odometer.offset(1)];
      ET_KERNEL_CHECK_MSG(ctx, position >= 0 && position < in_h * in_w, InvalidArgument, ,
                          "%s: index %lld is out of range [0, %lld)", call.op,
                          static_cast<long long>(position), static_cast<long long>(in_h * in_w));
      const int64_t target = odometer.offset(2) + position / in_w * planes.out.strides[2] +
                             position % in_w * planes.out.strides[3];
      writer.put(target, sum.at(target) + grad.at(odometer.offset(0)));
    }
  });
  return grad_input;
}

Tensor& avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size,
                       IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                       bool count_include_pad, std::optional<int64_t> divisor_override,
                       Tensor& out) {
  const OpCall call{ctx, "avg_pool2d.out"};
  const PoolArgs args{kernel_size, stride, padding, {}, ceil_mode};
  Window h;
  Window w;
  ET_KERNEL_CHECK_MSG(ctx, divisor_override.value_or(1) != 0, InvalidArgument, out,
                      "avg_pool2d.out: divisor_override is 0");
  if (!check_planes(call, self, out) || !check_floating(call, "self", self) ||
      !make_window(call, args, 0, h) || !make_window(call, args, 1, w)) {
    return out;
  }
  const int64_t in_h = self.sizes()[self.dim() - 2];
  const int64_t in_w = self.sizes()[self.dim() - 1];
  Planes planes;
  if (!make_planes(call, self, out, pooled_size(in_h, h, ceil_mode),
                   pooled_size(in_w, w, ceil_mode), planes)) {
    return out;
  }
  with_float_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const LineReader<C> in(self);
    const LineWriter<C> writer(out);
    for_each_output(planes, [&](int64_t in_offset, int64_t out_offset, int64_t oh, int64_t ow) {
      const int64_t h0 = oh * h.stride - h.padding;
      const int64_t w0 = ow * w.stride - w.padding;
      const int64_t h1 = std::min(h0 + h.kernel, in_h + h.padding);
      const int64_t w1 = std::min(w0 + w.kernel, in_w + w.padding);
      const int64_t padded = (h1 - h0) * (w1 - w0);
      const int64_t first_h = std::max<int64_t>(h0, 0);
      const int64_t first_w = std::max<int64_t>(w0, 0);
      const int64_t last_h = std::min(h1, in_h);
      const int64_t last_w = std::min(w1, in_w);
      C sum = 0;
      for (int64_t ih = first_h; ih < last_h; ++ih) {
        for (int64_t iw = first_w; iw < last_w; ++iw) {
          sum += in.at(in_offset + ih * planes.in.strides[2] + iw * planes.in.strides[3]);
        }
      }
      const int64_t inside =
          std::max<int64_t>(0, last_h - first_h) * std::max<int64_t>(0, last_w - first_w);
      const int64_t divisor = divisor_override.value_or(count_include_pad ? padded : inside);
      writer.put(out_offset, inside == 0 ? C(0) : sum / static_cast<C>(divisor));
    });
  });
  return out;
}

Tensor& _adaptive_avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& self,
                                 IntArrayRef output_size, Tensor& out) {
  const OpCall call{ctx, "_adaptive_avg_pool2d.out"};
  ET_KERNEL_CHECK_MSG(ctx, output_size.size() == 2, InvalidArgument, out,
                      "_adaptive_avg_pool2d.out: expected 2 entries of output_size, got %zu",
                      output_size.size());
  Planes planes;
  if (!check_planes(call, self, out) || !check_floating(call, "self", self) ||
      !make_planes(call, self, out, output_size[0], output_size[1], planes)) {
    return out;
  }
  const int64_t in_h = planes.in.sizes[2];
  const int64_t in_w = planes.in.sizes[3];
  ET_KERNEL_CHECK_MSG(ctx, in_h > 0 && in_w > 0, InvalidArgument, out,
                      "_adaptive_avg_pool2d.out: self has an empty spatial dimension");
  const int64_t out_h = planes.out.sizes[2];
  const int64_t out_w = planes.out.sizes[3];
  with_float_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const LineReader<C> in(self);
    const LineWriter<C> writer(out);
    for_each_output(planes, [&](int64_t in_offset, int64_t out_offset, int64_t oh, int64_t ow) {
      const int64_t h0 = oh * in_h / out_h;
      const int64_t h1 = ((oh + 1) * in_h + out_h - 1) / out_h;
      const int64_t w0 = ow * in_w / out_w;
      const int64_t w1 = ((ow + 1) * in_w + out_w - 1) / out_w;
      C sum = 0;
      for (int64_t ih = h0; ih < h1; ++ih) {
        for (int64_t iw = w0; iw < w1; ++iw) {
          sum += in.at(in_offset + ih * planes.in.strides[2] + iw * planes.in.strides[3]);
        }
      }
      writer.put(out_offset, sum / static_cast<C>((h1 - h0) * (w1 - w0)));
    });
  });
  return out;
}

}  // namespace native
}  // namespace executor
}  // namespace torch
