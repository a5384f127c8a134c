// SPDX-License-Identifier: BSD-3-Clause
// The running sum along a dimension.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/portable/reduce/reduce.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

Tensor& cumsum_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                   std::optional<ScalarType> dtype, Tensor& out) {
  const OpCall call{ctx, "cumsum.out"};
  if (!check_out_is(call, dtype, out) || !check_computable(call, "self", self) ||
      !check_computable(call, "out", out) || !normalize_dim(call, "dim", self.dim(), dim) ||
      !resize_output(call, out, Shape(self))) {
    return out;
  }
  if (self.dim() == 0) {
    copy_converted(call, self, out);
    return out;
  }
  if (out.numel() == 0) {
    return out;
  }
  const StridedView from = StridedView::of(self);
  const StridedView to = StridedView::of(out);
  const StridedView from_lines = from.selected(static_cast<int>(dim), 0);
  const StridedView lines = to.selected(static_cast<int>(dim), 0);
  const int64_t length = to.sizes[dim];
  with_compute_type(compute_type_of(out.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> reader(self);
    const StridedWriter<C> writer(out);
    const int64_t grain = std::max<int64_t>(1, (1 << 13) / length);
    ::executorch::extension::parallel_for(
        0, lines.numel(), grain, [&](int64_t first, int64_t last) {
          Odometer<2> odometer(lines.ndim, lines.sizes);
          odometer.set_strides(0, from_lines.strides);
          odometer.set_strides(1, lines.strides);
          odometer.seek(first);
          C buffer[kChunk];
          C sums[kChunk];
          for (int64_t line = first; line < last; ++line, odometer.next()) {
            WideOf<C> total = 0;
            for (int64_t begin = 0; begin < length; begin += kChunk) {
              const int64_t n = std::min(kChunk, length - begin);
              const C* x = reader.read(odometer.offset(0) + begin * from.strides[dim],
                                       from.strides[dim], n, buffer);
              for (int64_t i = 0; i < n; ++i) {
                total = wrap_add(total, static_cast<WideOf<C>>(x[i]));
                sums[i] = static_cast<C>(total);
              }
              writer.write(odometer.offset(1) + begin * to.strides[dim], to.strides[dim], n, sums);
            }
          }
        });
  });
  return out;
}

}  // namespace torch::executor::native
