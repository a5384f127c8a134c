// SPDX-License-Identifier: BSD-3-Clause
// Softmax and its logarithm along one dimension, shifted by the largest element so that nothing
// overflows.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

struct Line {
  int64_t length;
  int64_t in_stride;
  int64_t out_stride;
};

template <typename C, bool kLog>
void softmax_line(const StridedReader<C>& in, const StridedWriter<C>& out, const Line& line,
                  int64_t in_offset, int64_t out_offset) {
  C buffer[kChunk];
  C result[kChunk];
  const auto for_each_piece = [&](const auto& body) {
    for (int64_t begin = 0; begin < line.length; begin += kChunk) {
      const int64_t n = std::min(kChunk, line.length - begin);
      body(in.read(in_offset + begin * line.in_stride, line.in_stride, n, buffer), begin, n);
    }
  };
  C largest = -std::numeric_limits<C>::infinity();
  for_each_piece([&](const C* x, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      largest = x[i] > largest || x[i] != x[i] ? x[i] : largest;
    }
  });
  double sum = 0;
  for_each_piece([&](const C* x, int64_t, int64_t n) {
    C partial = 0;
    for (int64_t i = 0; i < n; ++i) {
      partial += std::exp(x[i] - largest);
    }
    sum += partial;
  });
  const C log_sum = static_cast<C>(std::log(sum));
  const C scale = static_cast<C>(1.0 / sum);
  for_each_piece([&](const C* x, int64_t begin, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      result[i] = kLog ? x[i] - largest - log_sum : std::exp(x[i] - largest) * scale;
    }
    out.write(out_offset + begin * line.out_stride, line.out_stride, n, result);
  });
}

template <bool kLog>
Tensor& softmax(const OpCall& call, const Tensor& self, int64_t dim, bool half_to_float,
                Tensor& out) {
  ET_KERNEL_CHECK_MSG(call.ctx, !half_to_float, InvalidArgument, out,
                      "%s: expected half_to_float (for accelerators) to be false, found true",
                      call.op);
  if (!normalize_dim(call, "dim", self.dim(), dim) || !resize_output(call, out, Shape(self)) ||
      self.numel() == 0 || !check_floating(call, "self", self) ||
      !check_floating(call, "out", out)) {
    return out;
  }
  StridedView from = StridedView::of(self);
  StridedView to = StridedView::of(out);
  if (from.ndim == 0) {
    from = from.inserted(0, 1, 1);
    to = to.inserted(0, 1, 1);
  }
  const Line line{from.sizes[dim], from.strides[dim], to.strides[dim]};
  from = from.selected(static_cast<int>(dim), 0);
  to = to.selected(static_cast<int>(dim), 0);
  with_float_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> reader(self);
    const StridedWriter<C> writer(out);
    const int64_t grain = std::max<int64_t>(1, (1 << 13) / line.length);
    ::executorch::extension::parallel_for(0, from.numel(), grain, [&](int64_t first, int64_t last) {
      Odometer<2> odometer(from.ndim, from.sizes);
      odometer.set_strides(0, from.strides);
      odometer.set_strides(1, to.strides);
      odometer.seek(first);
      for (int64_t i = first; i < last; ++i, odometer.next()) {
        softmax_line<C, kLog>(reader, writer, line, odometer.offset(0), odometer.offset(1));
      }
    });
  });
  return out;
}

}  // namespace

Tensor& softmax_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool half_to_float,
                    Tensor& out) {
  return softmax<false>({ctx, "_softmax.out"}, self, dim, half_to_float, out);
}

Tensor& log_softmax_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                        bool half_to_float, Tensor& out) {
  return softmax<true>({ctx, "_log_softmax.out"}, self, dim, half_to_float, out);
}

}  // namespace torch::executor::native
