// SPDX-License-Identifier: BSD-3-Clause
// Pooling over one to three dimensions: maximum with positions, average, and average to a given
// size. Any dim order.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/lines.h>
#include <executorch/kernels/portable/pool/pool.h>

#include <limits>
#include <tuple>

namespace executorch {
namespace kernels {

using executorch::aten::IntArrayRef;

namespace {

int64_t entry(IntArrayRef values, int d, int64_t fallback) {
  return values.empty() ? fallback : values[values.size() == 1 ? 0 : d];
}

bool make_window(const OpCall& call, const PoolArgs& args, int rank, int d, Window& window) {
  const IntArrayRef lists[] = {args.kernel_size, args.stride, args.padding, args.dilation};
  bool valid = !args.kernel_size.empty();
  for (const IntArrayRef& list : lists) {
    valid = valid && (list.size() <= 1 || list.size() == static_cast<size_t>(rank));
  }
  if (valid) {
    window.kernel = entry(args.kernel_size, d, 1);
    window.stride = entry(args.stride, d, window.kernel);
    window.padding = entry(args.padding, d, 0);
    window.dilation = entry(args.dilation, d, 1);
    valid = window.kernel > 0 && window.kernel <= INT32_MAX && window.stride > 0 &&
            window.stride <= INT32_MAX && window.dilation > 0 && window.dilation <= INT32_MAX &&
            window.padding >= 0 &&
            window.padding <= (window.dilation * (window.kernel - 1) + 1) / 2 &&
            window.padding <= INT32_MAX;
  }
  ET_KERNEL_CHECK_MSG(
      call.ctx, valid, InvalidArgument, false,
      "%s: expected 1 or %d positive entries of kernel_size, stride and dilation, and padding of "
      "at most half the kernel",
      call.op, rank);
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

bool set_input_sizes(const OpCall& call, const Tensor& self, int rank, Pooling& pooling) {
  ET_KERNEL_CHECK_MSG(call.ctx, self.dim() == rank + 1 || self.dim() == rank + 2, InvalidArgument,
                      false, "%s: expected %d or %d dims for self, got %d", call.op, rank + 1,
                      rank + 2, static_cast<int>(self.dim()));
  for (int d = 0; d < rank; ++d) {
    pooling.in[kSpatial - rank + d] = self.sizes()[self.dim() - rank + d];
  }
  return true;
}

}  // namespace

bool make_pooling(const OpCall& call, const Tensor& self, int rank, const PoolArgs& args,
                  Pooling& pooling) {
  if (!set_input_sizes(call, self, rank, pooling)) {
    return false;
  }
  for (int d = kSpatial - rank; d < kSpatial; ++d) {
    Window& window = pooling.windows[d];
    if (!make_window(call, args, rank, d - (kSpatial - rank), window)) {
      return false;
    }
    pooling.out[d] = pooled_size(pooling.in[d], window, args.ceil_mode);
    ET_KERNEL_CHECK_MSG(call.ctx, pooling.in[d] > 0 && pooling.out[d] > 0, InvalidArgument, false,
                        "%s: the result would be empty: the window does not fit self", call.op);
  }
  return true;
}

bool make_adaptive(const OpCall& call, const Tensor& self, int rank, IntArrayRef output_size,
                   Pooling& pooling) {
  if (!check_count(call, "output_size", static_cast<int64_t>(output_size.size()), rank) ||
      !set_input_sizes(call, self, rank, pooling)) {
    return false;
  }
  for (int d = kSpatial - rank; d < kSpatial; ++d) {
    pooling.out[d] = output_size[d - (kSpatial - rank)];
  }
  for (int64_t d = self.dim() - rank - (self.dim() == rank + 2 ? 1 : 0); d < self.dim(); ++d) {
    ET_KERNEL_CHECK_MSG(call.ctx, self.sizes()[d] > 0, InvalidArgument, false,
                        "%s: dimension %d of self is empty", call.op, static_cast<int>(d));
  }
  return true;
}

Shape pooled_shape(const Tensor& self, int rank, const Pooling& pooling) {
  Shape shape(self);
  for (int d = 0; d < rank; ++d) {
    shape.sizes[shape.ndim - rank + d] = pooling.out[kSpatial - rank + d];
  }
  return shape;
}

StridedView volume_of(const Tensor& tensor, int rank) {
  StridedView view = StridedView::of(tensor);
  if (view.ndim == rank + 1) {
    view = view.inserted(0, 1, 0);
  }
  while (view.ndim < 2 + kSpatial) {
    view = view.inserted(2, 1, 0);
  }
  return view;
}

}  // namespace kernels
}  // namespace executorch

namespace torch {
namespace executor {
namespace native {

using namespace ::executorch::kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;
using ::executorch::runtime::KernelRuntimeContext;

namespace {

using MaxResult = std::tuple<Tensor&, Tensor&>;

MaxResult max_pool(const OpCall& call, const Tensor& self, int rank, const PoolArgs& args,
                   Tensor& out, Tensor& indices) {
  const MaxResult result{out, indices};
  Pooling pooling;
  if (!check_computable(call, "self", self) || !check_same_dtype(call, "out", out, "self", self) ||
      !check_dtype(call, "indices", indices, ScalarType::Long) ||
      !make_pooling(call, self, rank, args, pooling) ||
      !resize_output(call, out, pooled_shape(self, rank, pooling)) ||
      !resize_output(call, indices, Shape(out))) {
    return result;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, ::executorch::runtime::tensors_have_same_dim_order(out, indices),
                      InvalidArgument, result, "%s: out and indices differ in dim order", call.op);
  const StridedView from = volume_of(self, rank);
  int64_t* positions = indices.mutable_data_ptr<int64_t>();
  with_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    using Limits = std::numeric_limits<C>;
    const LineReader<C> in(self);
    const LineWriter<C> writer(out);
    const StridedView pooled = volume_of(out, rank);
    const int64_t step = pooled.strides[4];
    for_each_pooled_row(from, pooled, [&](int64_t plane, int64_t row, int64_t od, int64_t oh) {
      Steps spans[kSpatial] = {window_span(pooling, 0, od), window_span(pooling, 1, oh), {}};
      for (int64_t ow = 0; ow < pooled.sizes[4]; ++ow) {
        spans[2] = window_span(pooling, 2, ow);
        C best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
        int64_t position = -1;
        for_each_in_window(spans, from.strides + 2,
                           [&](int64_t offset, int64_t d, int64_t h, int64_t w) {
                             const C x = in.at(plane + offset);
                             if (x > best || position < 0 || x != x) {
                               best = x;
                               position = (d * pooling.in[1] + h) * pooling.in[2] + w;
                             }
                           });
        writer.put(row + ow * step, best);
        positions[row + ow * step] = position < 0 ? 0 : position;
      }
    });
  });
  return result;
}

bool check_averaged(const OpCall& call, const Tensor& self, const Tensor& out) {
  return (self.scalar_type() == ScalarType::Long || check_floating(call, "self", self)) &&
         check_same_dtype(call, "out", out, "self", self);
}

// The sum of what read(offset) gives for the positions of an average, divided.
template <typename C, typename Read>
C mean_of(const Average& part, const int64_t* strides, const Read& read) {
  C sum = 0;
  for_each_in_window(part.spans, strides,
                     [&](int64_t offset, int64_t, int64_t, int64_t) { sum += read(offset); });
  return part.divisor == 0 ? C(0) : sum / static_cast<C>(part.divisor);
}

// out[...] = the mean of the positions that `averages` names.
template <typename Averages>
void average(const Tensor& self, int rank, const Averages& averages, const Tensor& out) {
  const StridedView from = volume_of(self, rank);
  const StridedView to = volume_of(out, rank);
  with_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const LineReader<C> in(self);
    const LineWriter<C> writer(out);
    for_each_pooled_row(from, to, [&](int64_t plane, int64_t row, int64_t d, int64_t h) {
      Averages at = averages;
      at.set(0, d);
      at.set(1, h);
      const C* const direct = in.direct(plane);
      for (int64_t w = 0; w < to.sizes[4]; ++w) {
        at.set(2, w);
        const Average& part = at.average();
        const C mean =
            direct != nullptr
                ? mean_of<C>(part, from.strides + 2, [=](int64_t i) { return direct[i]; })
                : mean_of<C>(part, from.strides + 2, [&](int64_t i) { return in.at(plane + i); });
        writer.put(row + w * to.strides[4], mean);
      }
    });
  });
}

Tensor& avg_pool(const OpCall& call, const Tensor& self, int rank, const PoolArgs& args,
                 bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  Pooling pooling;
  ET_KERNEL_CHECK_MSG(call.ctx, divisor_override.value_or(1) != 0, InvalidArgument, out,
                      "%s: divisor_override is 0", call.op);
  if (check_averaged(call, self, out) && make_pooling(call, self, rank, args, pooling) &&
      resize_output(call, out, pooled_shape(self, rank, pooling))) {
    average(self, rank, WindowAverages(pooling, count_include_pad, divisor_override.value_or(0)),
            out);
  }
  return out;
}

Tensor& adaptive_avg_pool(const OpCall& call, const Tensor& self, int rank, IntArrayRef output_size,
                          Tensor& out) {
  Pooling pooling;
  // Nothing is computed for an output size of 0, whatever the dtype is.
  if (check_computable(call, "self", self) && check_same_dtype(call, "out", out, "self", self) &&
      make_adaptive(call, self, rank, output_size, pooling) &&
      resize_output(call, out, pooled_shape(self, rank, pooling)) &&
      pooling.out[0] * pooling.out[1] * pooling.out[2] > 0 && check_floating(call, "self", self)) {
    average(self, rank, AdaptiveAverages(pooling), out);
  }
  return out;
}

}  // namespace

MaxResult max_pool2d_with_indices_out(KernelRuntimeContext& ctx, const Tensor& self,
                                      IntArrayRef kernel_size, IntArrayRef stride,
                                      IntArrayRef padding, IntArrayRef dilation, bool ceil_mode,
                                      Tensor& out, Tensor& indices) {
  return max_pool({ctx, "max_pool2d_with_indices.out"}, self, 2,
                  {kernel_size, stride, padding, dilation, ceil_mode}, out, indices);
}
MaxResult max_pool3d_with_indices_out(KernelRuntimeContext& ctx, const Tensor& self,
                                      IntArrayRef kernel_size, IntArrayRef stride,
                                      IntArrayRef padding, IntArrayRef dilation, bool ceil_mode,
                                      Tensor& out, Tensor& indices) {
  return max_pool({ctx, "max_pool3d_with_indices.out"}, self, 3,
                  {kernel_size, stride, padding, dilation, ceil_mode}, out, indices);
}

Tensor& avg_pool1d_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size,
                       IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                       bool count_include_pad, Tensor& out) {
  return avg_pool({ctx, "avg_pool1d.out"}, self, 1, {kernel_size, stride, padding, {}, ceil_mode},
                  count_include_pad, std::nullopt, out);
}
Tensor& avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size,
                       IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                       bool count_include_pad, std::optional<int64_t> divisor_override,
                       Tensor& out) {
  return avg_pool({ctx, "avg_pool2d.out"}, self, 2, {kernel_size, stride, padding, {}, ceil_mode},
                  count_include_pad, divisor_override, out);
}
Tensor& avg_pool3d_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size,
                       IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                       bool count_include_pad, std::optional<int64_t> divisor_override,
                       Tensor& out) {
  return avg_pool({ctx, "avg_pool3d.out"}, self, 3, {kernel_size, stride, padding, {}, ceil_mode},
                  count_include_pad, divisor_override, out);
}

Tensor& adaptive_avg_pool1d_out(KernelRuntimeContext& ctx, const Tensor& self,
                                IntArrayRef output_size, Tensor& out) {
  return adaptive_avg_pool({ctx, "adaptive_avg_pool1d.out"}, self, 1, output_size, out);
}
Tensor& _adaptive_avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& self,
                                 IntArrayRef output_size, Tensor& out) {
  return adaptive_avg_pool({ctx, "_adaptive_avg_pool2d.out"}, self, 2, output_size, out);
}
Tensor& _adaptive_avg_pool3d_out(KernelRuntimeContext& ctx, const Tensor& self,
                                 IntArrayRef output_size, Tensor& out) {
  return adaptive_avg_pool({ctx, "_adaptive_avg_pool3d.out"}, self, 3, output_size, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
