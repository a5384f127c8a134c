// SPDX-License-Identifier: BSD-3-Clause
// Operators that read or write whole slices of one dimension at positions given by an index tensor.
// Every index is checked before memory is touched.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/index/positions.h>
#include <executorch/kernels/portable/loops/convert.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// out[..., i, ...] = self[..., index[i], ...] along `dim`, rows as whole runs; negative indices are
// out of range.
bool take_rows(const OpCall& call, const Tensor& self, int dim, const Tensor& index,
               const StridedView& out) {
  if (index.numel() == 0) {
    return true;
  }
  const StridedView from = StridedView::of(self);
  const StridedView positions = StridedView::of(index);
  const int64_t size = from.sizes[dim];
  // A row that is dense on both sides is one memcpy.
  bool dense = dim == 0;
  int64_t expected = 1;
  for (int d = from.ndim - 1; d > 0 && dense; --d) {
    dense = (from.strides[d] == expected && out.strides[d] == expected) || from.sizes[d] == 1;
    expected *= from.sizes[d];
  }
  const int64_t row_bytes = expected * from.element_size;
  std::atomic<bool> wrong{false};
  int64_t found = 0;  // of the thread that sets wrong
  const auto take = [&](int64_t first, int64_t last) {
    Odometer<1> odometer(positions.ndim, positions.sizes);
    odometer.set_strides(0, positions.strides);
    odometer.seek(first);
    for (int64_t i = first; i < last; ++i, odometer.next()) {
      const int64_t row = index_at(positions.data, index.scalar_type(), odometer.offset(0));
      if (row < 0 || row >= size) {
        if (!wrong.exchange(true)) {
          found = row;
        }
        return;
      }
      if (dense && row_bytes > 0) {
        std::memmove(out.data + i * out.strides[0] * out.element_size,
                     from.data + row * from.strides[0] * from.element_size, row_bytes);
      } else {
        copy_view(from.selected(dim, row), out.selected(dim, i));
      }
    }
  };
  const int64_t row_size = std::max<int64_t>(1, self.numel() / std::max<int64_t>(1, size));
  const int64_t grain = std::max<int64_t>(1, (1 << 15) / row_size);
  ::executorch::extension::parallel_for(0, index.numel(), grain, take);
  ET_KERNEL_CHECK_MSG(call.ctx, !wrong.load(), InvalidArgument, false,
                      "%s: expected indices in [0, %" PRId64 "), found %" PRId64, call.op, size,
                      found);
  return true;
}

}  // namespace

Tensor& embedding_out(KernelRuntimeContext& ctx, const Tensor& weight, const Tensor& indices,
                      int64_t padding_idx, bool scale_grad_by_freq, bool sparse, Tensor& out) {
  (void)padding_idx;  // these three are about gradients only
  (void)scale_grad_by_freq;
  (void)sparse;
  const OpCall call{ctx, "embedding.out"};
  if (!check_rank(call, "weight", weight, 2) || !check_index_dtype(call, indices) ||
      !check_same_dtype(call, "out", out, "weight", weight)) {
    return out;
  }
  Shape shape(indices);
  ET_KERNEL_CHECK_MSG(ctx, shape.ndim < Shape::kMaxDims, InvalidArgument, out,
                      "embedding.out: expected indices of fewer dims, found %d", shape.ndim);
  shape.push(weight.sizes()[1]);
  if (!resize_output(call, out, shape)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, is_row_major(out), InvalidArgument, out,
                      "embedding.out: expected out in row-major order, found another order");
  StridedView rows{};
  rows.data = StridedView::of(out).data;
  rows.ndim = 2;
  rows.element_size = out.element_size();
  rows.sizes[0] = indices.numel();
  rows.sizes[1] = rows.strides[0] = weight.sizes()[1];
  rows.strides[1] = 1;
  take_rows(call, weight, 0, indices, rows);
  return out;
}

Tensor& index_select_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                         const Tensor& index, Tensor& out) {
  const OpCall call{ctx, "index_select.out"};
  if (!normalize_dim(call, "dim", self.dim(), dim) || !check_index_dtype(call, index) ||
      !check_same_dtype(call, "out", out, "self", self)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, index.dim() <= 1 && (self.dim() > 0 || index.numel() == 1),
                      InvalidArgument, out,
                      "index_select.out: expected at most 1 dim for index, found %d",
                      static_cast<int>(index.dim()));
  Shape shape(self);
  if (self.dim() > 0) {
    shape.sizes[dim] = index.numel();
  }
  if (!resize_output(call, out, shape)) {
    return out;
  }
  if (self.dim() == 0) {
    if (index_at(static_cast<const char*>(index.const_data_ptr()), index.scalar_type(), 0) != 0) {
      fail_index(call, 1);
    } else {
      copy_in_order(self, out);
    }
    return out;
  }
  take_rows(call, self, static_cast<int>(dim), index, StridedView::of(out));
  return out;
}

Tensor& index_copy_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                       const Tensor& index, const Tensor& source, Tensor& out) {
  const OpCall call{ctx, "index_copy.out"};
  if (!normalize_dim(call, "dim", self.dim(), dim) ||
      !check_dtype(call, "index", index, ScalarType::Long) ||
      !check_same_dtype(call, "source", source, "self", self) ||
      !check_same_dtype(call, "out", out, "self", self)) {
    return out;
  }
  StridedView from = StridedView::of(source);
  from = from.ndim == 0 ? from.inserted(0, 1, 1) : from;
  StridedView shape = StridedView::of(self);
  shape = shape.ndim == 0 ? shape.inserted(0, 1, 1) : shape;
  bool fits = index.dim() <= 1 && from.ndim == shape.ndim;
  for (int d = 0; fits && d < shape.ndim; ++d) {
    fits = from.sizes[d] == (d == dim ? index.numel() : shape.sizes[d]);
  }
  ET_KERNEL_CHECK_MSG(
      ctx, fits, InvalidArgument, out,
      "index_copy.out: expected source to have %" PRId64 " slices along dimension %" PRId64
      " of "
      "self %s, found %s",
      static_cast<int64_t>(index.numel()), dim, ShapeText(self).text, ShapeText(source).text);
  const int64_t* positions = index.const_data_ptr<int64_t>();
  const int64_t size = shape.sizes[dim];
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (positions[i] < 0 || positions[i] >= size) {
      fail_index(call, size);
      return out;
    }
  }
  if (!resize_output(call, out, Shape(self)) || !copy_converted(call, self, out)) {
    return out;
  }
  StridedView to = StridedView::of(out);
  to = to.ndim == 0 ? to.inserted(0, 1, 1) : to;
  for (int64_t i = 0; i < index.numel(); ++i) {
    const int d = static_cast<int>(dim);
    copy_view(from.selected(d, i), to.selected(d, positions[i]));
  }
  return out;
}

}  // namespace torch::executor::native
