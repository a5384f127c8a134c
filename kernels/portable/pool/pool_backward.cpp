// SPDX-License-Identifier: BSD-3-Clause
// Gradients of pooling: each element of grad_output is added to the input positions it came from.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/pool/pool.h>

#include <atomic>
#include <cinttypes>
#include <cstring>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

constexpr int kRank = 2;

bool check_gradients(const OpCall& call, const Tensor& grad_output, const Tensor& self,
                     const Pooling& pooling, const Tensor& grad_input) {
  const Shape pooled = pooled_shape(self, kRank, pooling);
  bool fits = grad_output.dim() == self.dim();
  for (int d = 0; fits && d < pooled.ndim; ++d) {
    fits = grad_output.sizes()[d] == pooled[d];
  }
  ET_KERNEL_CHECK_MSG(call.ctx, fits, InvalidArgument, false,
                      "%s: expected grad_output of the pooled shape %s, found %s", call.op,
                      ShapeText(pooled).text, ShapeText(grad_output).text);
  return check_floating(call, "self", self) &&
         check_same_dtype(call, "grad_output", grad_output, "self", self) &&
         check_same_dtype(call, "grad_input", grad_input, "self", self) &&
         resize_output(call, grad_input, Shape(self));
}

void clear(const Tensor& tensor) {
  if (tensor.nbytes() > 0) {
    std::memset(tensor.mutable_data_ptr(), 0, tensor.nbytes());
  }
}

// Adds `share` to all positions of a window whose rows are dense.
template <typename C>
void add_rows(C* plane, const Steps* spans, const int64_t* strides, C share) {
  for (int64_t d = spans[0].first; d < spans[0].last; d += spans[0].step) {
    for (int64_t h = spans[1].first; h < spans[1].last; h += spans[1].step) {
      C* const row = plane + d * strides[0] + h * strides[1];
      for (int64_t w = spans[2].first; w < spans[2].last; ++w) {
        row[w] += share;
      }
    }
  }
}

// Adds each share to all positions of its window; the windows are `move` elements apart, `first` is
// that of shares[0].
template <typename C>
void add_line(C* plane, const Average& first, const int64_t* strides, const C* shares, int64_t move,
              int64_t count) {
  for_each_in_window(first.spans, strides, [&](int64_t offset, int64_t, int64_t, int64_t) {
    C* const to = plane + offset;
    for (int64_t i = 0; i < count; ++i) {
      to[i * move] += shares[i];
    }
  });
}

// Spreads each element of grad_output evenly over the positions that `averages` names.
template <typename Averages>
void spread(const Tensor& grad_output, const Pooling& pooling, const Averages& averages,
            const Tensor& grad_input) {
  const StridedView to = volume_of(grad_input, kRank);
  const StridedView from = volume_of(grad_output, kRank);
  clear(grad_input);
  with_float_compute_type(compute_type_of(grad_input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> grads(grad_output);
    const StridedReader<C> sums(grad_input);
    const StridedWriter<C> writer(grad_input);
    const Interior interior = averages.interior();
    const auto spread_row = [&](int64_t plane, int64_t row, int64_t d, int64_t h) {
      Averages at = averages;
      at.set(0, d);
      at.set(1, h);
      C* const direct =
          sums.direct(0) != nullptr ? grad_input.mutable_data_ptr<C>() + plane : nullptr;
      for (int64_t w = 0; w < from.sizes[4]; ++w) {
        at.set(2, w);
        const Average& part = at.average();
        if (direct != nullptr && w >= interior.first && w < interior.last) {
          C shares[kChunk];
          const int64_t count = std::min(kChunk, interior.last - w);
          for (int64_t i = 0; i < count; ++i) {
            shares[i] = grads.at(row + (w + i) * from.strides[4]) / static_cast<C>(part.divisor);
          }
          add_line(direct, part, to.strides + 2, shares, pooling.windows[2].stride * to.strides[4],
                   count);
          w += count - 1;
          continue;
        }
        const C share = grads.at(row + w * from.strides[4]) / static_cast<C>(part.divisor);
        if (direct != nullptr && to.strides[4] == 1 && part.spans[2].step == 1) {
          add_rows(direct, part.spans, to.strides + 2, share);
          continue;
        }
        for_each_in_window(part.spans, to.strides + 2,
                           [&](int64_t offset, int64_t, int64_t, int64_t) {
                             writer.put(plane + offset, sums.at(plane + offset) + share);
                           });
      }
    };
    for_each_pooled_row(to, from, pooling.window_size(), PoolShare::kPlanes, spread_row);
  });
}

}  // namespace

Tensor& avg_pool2d_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_output,
                                const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                std::optional<int64_t> divisor_override, Tensor& grad_input) {
  const OpCall call{ctx, "avg_pool2d_backward.grad_input"};
  Pooling pooling;
  ET_KERNEL_CHECK_MSG(ctx, divisor_override.value_or(1) != 0, InvalidArgument, grad_input,
                      "%s: expected divisor_override not to be 0, found 0", call.op);
  if (make_pooling(call, self, kRank, {kernel_size, stride, padding, {}, ceil_mode}, pooling) &&
      check_gradients(call, grad_output, self, pooling, grad_input)) {
    spread(grad_output, pooling,
           WindowAverages(pooling, count_include_pad, divisor_override.value_or(0)), grad_input);
  }
  return grad_input;
}

Tensor& _adaptive_avg_pool2d_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_output,
                                          const Tensor& self, Tensor& out) {
  const OpCall call{ctx, "_adaptive_avg_pool2d_backward.out"};
  Pooling pooling;
  ET_KERNEL_CHECK_MSG(ctx, grad_output.dim() == 3 || grad_output.dim() == 4, InvalidArgument, out,
                      "%s: expected 3 or 4 dims for grad_output, found %d", call.op,
                      static_cast<int>(grad_output.dim()));
  int64_t pooled[kRank];
  for (int d = 0; d < kRank; ++d) {
    pooled[d] = grad_output.sizes()[grad_output.dim() - kRank + d];
  }
  ET_KERNEL_CHECK_MSG(ctx, pooled[0] > 0 && pooled[1] > 0, InvalidArgument, out,
                      "%s: expected grad_output with elements, found shape %s", call.op,
                      ShapeText(grad_output).text);
  if (make_adaptive(call, self, kRank, {pooled, kRank}, pooling) &&
      check_gradients(call, grad_output, self, pooling, out)) {
    spread(grad_output, pooling, AdaptiveAverages(pooling), out);
  }
  return out;
}

namespace {

// An element of grad_output with an index outside its plane of `area` elements.
void refuse_position(const OpCall& call, int64_t position, int64_t area) {
  ET_KERNEL_CHECK_MSG(call.ctx, false, InvalidArgument, ,
                      "%s: expected indices in range, found %" PRId64 " of [0, %" PRId64 ")",
                      call.op, position, area);
}

// Adds each gradient to the input element that was the maximum: planes that are arrays, each on one
// thread.
template <typename C>
void add_planes(const OpCall& call, const Pooling& pooling, const C* values, const Tensor& indices,
                Tensor& grad_input) {
  const int64_t area = pooling.in[1] * pooling.in[2];
  const int64_t plane = pooling.out[1] * pooling.out[2];
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, plane));
  const int64_t* const positions = indices.const_data_ptr<int64_t>();
  C* const sums = grad_input.mutable_data_ptr<C>();
  // An element with an index outside the plane, in what small processors store at once.
  std::atomic<ptrdiff_t> wrong{-1};
  ::executorch::extension::parallel_for(
      0, indices.numel() / plane, grain, [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
          std::fill_n(sums + p * area, area, C(0));
          for (int64_t i = p * plane; i < (p + 1) * plane; ++i) {
            if (positions[i] < 0 || positions[i] >= area) {
              wrong.store(static_cast<ptrdiff_t>(i), std::memory_order_relaxed);
              return;
            }
            sums[p * area + positions[i]] += values[i];
          }
        }
      });
  if (wrong >= 0) {
    refuse_position(call, positions[wrong], area);
  }
}

// The same for tensors of any layout, element by element.
template <typename C>
void add_elements(const OpCall& call, const Pooling& pooling, const Tensor& grad_output,
                  const Tensor& indices, Tensor& grad_input) {
  const StridedView grads = volume_of(grad_output, kRank);
  const StridedView at = volume_of(indices, kRank);
  const StridedView to = volume_of(grad_input, kRank);
  const int64_t plane_strides[2 + kSpatial] = {to.strides[0], to.strides[1]};
  const int64_t width = pooling.in[2];
  const int64_t area = pooling.in[1] * width;
  const StridedReader<C> grad(grad_output);
  const StridedReader<C> sum(grad_input);
  const StridedWriter<C> writer(grad_input);
  const int64_t* const positions = indices.const_data_ptr<int64_t>();
  clear(grad_input);
  Odometer<3> odometer(grads.ndim, grads.sizes);
  odometer.set_strides(0, grads.strides);
  odometer.set_strides(1, at.strides);
  odometer.set_strides(2, plane_strides);
  for (int64_t i = 0; i < grad_output.numel(); ++i, odometer.next()) {
    const int64_t position = positions[odometer.offset(1)];
    if (position < 0 || position >= area) {
      refuse_position(call, position, area);
      return;
    }
    const int64_t target =
        odometer.offset(2) + position / width * to.strides[3] + position % width * to.strides[4];
    writer.put(target, sum.at(target) + grad.at(odometer.offset(0)));
  }
}

}  // namespace

Tensor& max_pool2d_with_indices_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_output,
                                             const Tensor& self, IntArrayRef kernel_size,
                                             IntArrayRef stride, IntArrayRef padding,
                                             IntArrayRef dilation, bool ceil_mode,
                                             const Tensor& indices, Tensor& grad_input) {
  const OpCall call{ctx, "max_pool2d_with_indices_backward.grad_input"};
  Pooling pooling;
  if (!make_pooling(call, self, kRank, {kernel_size, stride, padding, dilation, ceil_mode},
                    pooling) ||
      !check_dtype(call, "indices", indices, ScalarType::Long) ||
      !check_gradients(call, grad_output, self, pooling, grad_input)) {
    return grad_input;
  }
  ET_KERNEL_CHECK_MSG(ctx, ::executorch::runtime::tensors_have_same_shape(grad_output, indices),
                      InvalidArgument, grad_input,
                      "%s: expected grad_output and indices of one shape, found %s and %s", call.op,
                      ShapeText(grad_output).text, ShapeText(indices).text);
  const bool are_arrays = ::executorch::runtime::tensor_is_contiguous(grad_output) &&
                          ::executorch::runtime::tensor_is_contiguous(indices) &&
                          ::executorch::runtime::tensor_is_contiguous(grad_input);
  with_float_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const C* const values =
        StridedReader<C>(grad_output).direct(0);  // null where they are converted
    if (values != nullptr && are_arrays) {
      add_planes(call, pooling, values, indices, grad_input);
    } else {
      add_elements<C>(call, pooling, grad_output, indices, grad_input);
    }
  });
  return grad_input;
}

}  // namespace torch::executor::native
