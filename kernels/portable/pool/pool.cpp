// SPDX-License-Identifier: BSD-3-Clause
// Pooling over one to three dimensions: maximum with positions, average, and average to a given
// size. Any dim order.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
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
  ET_KERNEL_CHECK_MSG(call.ctx, valid, InvalidArgument, false,
                      "%s: expected 1 or %d positive entries of kernel_size, stride and dilation, "
                      "and padding of at most half the kernel, found others",
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
                      false, "%s: expected %d or %d dims for self, found %d", call.op, rank + 1,
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
                        "%s: expected a window that fits self, found a result without elements",
                        call.op);
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
                        "%s: expected self with elements, found dimension %d without any", call.op,
                        static_cast<int>(d));
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

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

using MaxResult = std::tuple<Tensor&, Tensor&>;

// Calls visit(i, values[i * move]) for i below count.
template <typename C, typename Visit>
void for_each_value(const C* values, int64_t move, int64_t count, const Visit& visit) {
  if (move == 1) {
    for (int64_t i = 0; i < count; ++i) {
      visit(i, values[i]);
    }
  } else if (move == 2) {
    for (int64_t i = 0; i < count; ++i) {
      visit(i, values[2 * i]);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      visit(i, values[i * move]);
    }
  }
}

// Maxima of up to kChunk outputs of a row whose windows lie inside the input, tap by tap: NaN is
// above all, the first of equal values wins.
template <typename C>
struct MaxLine {
  int64_t count;
  C best[kChunk];
  int64_t at[kChunk];  // positions in the plane
  int32_t taps[kChunk];

  // The outputs [ow, ow + n) of a row whose windows have `spans` in the outer dimensions.
  void run(const Pooling& pooling, const Steps* spans, const C* plane, const int64_t* strides,
           int64_t ow, int64_t n) {
    const Window& w = pooling.windows[2];
    const int64_t start = ow * w.stride - w.padding;
    count = n;
    int32_t tap = 0;
    for (int64_t d = spans[0].first; d < spans[0].last; d += spans[0].step) {
      for (int64_t h = spans[1].first; h < spans[1].last; h += spans[1].step) {
        for (int64_t k = 0; k < w.kernel; ++k, ++tap) {
          const C* const values =
              plane + d * strides[0] + h * strides[1] + (start + k * w.dilation) * strides[2];
          for_each_value(values, w.stride * strides[2], n, [this, tap](int64_t i, C x) {
            const bool above = x > best[i] || x != x || tap == 0;
            best[i] = above ? x : best[i];
            taps[i] = above ? tap : taps[i];
          });
        }
      }
    }
    const int64_t rows = (spans[1].last - spans[1].first + spans[1].step - 1) / spans[1].step;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = taps[i] / w.kernel;
      at[i] = ((spans[0].first + row / rows * spans[0].step) * pooling.in[1] + spans[1].first +
               row % rows * spans[1].step) *
                  pooling.in[2] +
              start + i * w.stride + taps[i] % w.kernel * w.dilation;
    }
  }
};

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
                      InvalidArgument, result,
                      "%s: expected out and indices of one dim order, found two", call.op);
  const StridedView from = volume_of(self, rank);
  int64_t* positions = indices.mutable_data_ptr<int64_t>();
  with_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    using Limits = std::numeric_limits<C>;
    const StridedReader<C> in(self);
    const StridedWriter<C> writer(out);
    const StridedView pooled = volume_of(out, rank);
    const int64_t step = pooled.strides[4];
    const Interior interior = interior_of(pooling);
    const auto max_row = [&](int64_t plane, int64_t row, int64_t od, int64_t oh) {
      Steps spans[kSpatial] = {window_span(pooling, 0, od), window_span(pooling, 1, oh), {}};
      const C* const direct = in.direct(plane);
      const bool by_line = direct != nullptr && interior.last > interior.first &&
                           spans[0].last > spans[0].first && spans[1].last > spans[1].first;
      for (int64_t ow = 0; ow < pooled.sizes[4]; ++ow) {
        spans[2] = window_span(pooling, 2, ow);
        if (by_line && ow == interior.first) {
          MaxLine<C> line;
          for (; ow < interior.last; ow += line.count) {
            line.run(pooling, spans, direct, from.strides + 2, ow,
                     std::min(kChunk, interior.last - ow));
            writer.write(row + ow * step, step, line.count, line.best);
            for (int64_t i = 0; i < line.count; ++i) {
              positions[row + (ow + i) * step] = line.at[i];
            }
          }
          --ow;
          continue;
        }
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
    };
    for_each_pooled_row(from, pooled, pooling.window_size(), PoolShare::kRows, max_row);
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

// The same where each row of the window is an array.
template <typename C>
C mean_of_arrays(const Average& part, const int64_t* strides, const C* plane) {
  const Steps* spans = part.spans;
  C sum = 0;
  for (int64_t d = spans[0].first; d < spans[0].last; d += spans[0].step) {
    for (int64_t h = spans[1].first; h < spans[1].last; h += spans[1].step) {
      const C* const row = plane + d * strides[0] + h * strides[1] + spans[2].first;
      sum += lane_sum<C>(spans[2].last - spans[2].first, [row](int64_t i) { return row[i]; });
    }
  }
  return part.divisor == 0 ? C(0) : sum / static_cast<C>(part.divisor);
}

// Means of up to kChunk outputs of a row whose windows all lie inside the input like the first one
// of them, `move` elements apart.
template <typename C>
void mean_line(const Average& first, const int64_t* strides, const C* plane, int64_t move,
               int64_t count, C* means) {
  std::fill(means, means + count, C(0));
  for_each_in_window(first.spans, strides, [&](int64_t offset, int64_t, int64_t, int64_t) {
    for_each_value(plane + offset, move, count, [&](int64_t i, C x) { means[i] += x; });
  });
  for (int64_t i = 0; i < count; ++i) {
    means[i] = first.divisor == 0 ? C(0) : means[i] / static_cast<C>(first.divisor);
  }
}

// out[...] = the mean of the positions that `averages` names.
template <typename Averages>
void average(const Tensor& self, int rank, const Pooling& pooling, const Averages& averages,
             const Tensor& out) {
  const StridedView from = volume_of(self, rank);
  const StridedView to = volume_of(out, rank);
  const int64_t* const strides = from.strides + 2;
  with_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> in(self);
    const StridedWriter<C> writer(out);
    const Interior interior = averages.interior();
    const auto mean_row = [&](int64_t plane, int64_t row, int64_t d, int64_t h) {
      Averages at = averages;
      at.set(0, d);
      at.set(1, h);
      const C* const direct = in.direct(plane);
      for (int64_t w = 0; w < to.sizes[4]; ++w) {
        at.set(2, w);
        const Average& part = at.average();
        if (direct == nullptr) {
          writer.put(row + w * to.strides[4],
                     mean_of<C>(part, strides, [&](int64_t i) { return in.at(plane + i); }));
        } else if (w >= interior.first && w < interior.last) {
          C means[kChunk];
          const int64_t count = std::min(kChunk, interior.last - w);
          mean_line(part, strides, direct, pooling.windows[2].stride * strides[2], count, means);
          writer.write(row + w * to.strides[4], to.strides[4], count, means);
          w += count - 1;
        } else {
          const bool arrays = strides[2] == 1 && part.spans[2].last - part.spans[2].first >= 16;
          writer.put(row + w * to.strides[4],
                     arrays ? mean_of_arrays<C>(part, strides, direct)
                            : mean_of<C>(part, strides, [=](int64_t i) { return direct[i]; }));
        }
      }
    };
    for_each_pooled_row(from, to, pooling.window_size(), PoolShare::kRows, mean_row);
  });
}

Tensor& avg_pool(const OpCall& call, const Tensor& self, int rank, const PoolArgs& args,
                 bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  Pooling pooling;
  ET_KERNEL_CHECK_MSG(call.ctx, divisor_override.value_or(1) != 0, InvalidArgument, out,
                      "%s: expected divisor_override not to be 0, found 0", call.op);
  if (check_averaged(call, self, out) && make_pooling(call, self, rank, args, pooling) &&
      resize_output(call, out, pooled_shape(self, rank, pooling))) {
    average(self, rank, pooling,
            WindowAverages(pooling, count_include_pad, divisor_override.value_or(0)), out);
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
    average(self, rank, pooling, AdaptiveAverages(pooling), out);
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

}  // namespace torch::executor::native
