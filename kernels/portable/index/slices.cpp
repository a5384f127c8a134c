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

// What goes through an index: the elements [outer][size][inner] of a tensor to
// [outer][count][inner], all in row-major order. Where an index is out of range, the first one that
// is met.
struct Taking {
  const char* from;
  char* to;
  int64_t size;
  int64_t count;
  int64_t inner_bytes;
  std::atomic<int> wrong{0};  // a word: gcc calls a library for bytes of RISC-V
  int64_t found = 0;          // of the thread that sets wrong
};

// Moves runs [first, last) of the outer * count ones; `kBytes` of each, or inner_bytes where it is
// 0.
template <int kBytes, typename Index>
void take_runs(Taking& p, const Index* index, int64_t first, int64_t last) {
  const int64_t bytes = kBytes != 0 ? kBytes : p.inner_bytes;
  int64_t i = first % p.count;
  const char* from = p.from + first / p.count * p.size * bytes;
  for (int64_t run = first; run < last; ++run) {
    const auto row = static_cast<int64_t>(index[i]);
    if (row < 0 || row >= p.size) {
      if (p.wrong.exchange(1) == 0) {
        p.found = row;
      }
      return;
    }
    std::memmove(p.to + run * bytes, from + row * bytes, static_cast<size_t>(bytes));
    if (++i == p.count) {
      i = 0;
      from += p.size * bytes;
    }
  }
}

template <typename Index>
void take_range(Taking& p, const Index* index, int64_t first, int64_t last) {
  switch (p.inner_bytes) {
    case 1:
      return take_runs<1>(p, index, first, last);
    case 2:
      return take_runs<2>(p, index, first, last);
    case 4:
      return take_runs<4>(p, index, first, last);
    case 8:
      return take_runs<8>(p, index, first, last);
    default:
      return take_runs<0>(p, index, first, last);
  }
}

bool check_taken(const OpCall& call, const Taking& p) {
  ET_KERNEL_CHECK_MSG(call.ctx, p.wrong.load() == 0, InvalidArgument, false,
                      "%s: expected indices in [0, %" PRId64 "), found %" PRId64, call.op, p.size,
                      p.found);
  return true;
}

// Whether a view lies in row-major order without gaps.
bool is_dense(const StridedView& view) {
  int64_t expected = 1;
  for (int d = view.ndim - 1; d >= 0; --d) {
    if (view.sizes[d] != 1 && view.strides[d] != expected) {
      return false;
    }
    expected *= view.sizes[d];
  }
  return true;
}

// out[..., i, ...] = self[..., index[i], ...] along `dim`; negative indices are out of range.
bool take_rows(const OpCall& call, const Tensor& self, int dim, const Tensor& index,
               const StridedView& out) {
  if (index.numel() == 0) {
    return true;
  }
  const StridedView from = StridedView::of(self);
  const StridedView positions = StridedView::of(index);
  Taking p{from.data, out.data, from.sizes[dim], index.numel(), from.element_size};
  int64_t outer = 1;
  for (int d = 0; d < from.ndim; ++d) {
    outer *= d < dim ? from.sizes[d] : 1;
    p.inner_bytes *= d > dim ? from.sizes[d] : 1;
  }
  const int64_t run = std::max<int64_t>(1, p.inner_bytes / from.element_size);
  if (out.numel() > 0 && is_dense(from) && is_dense(out) && is_dense(positions)) {
    const int64_t grain = std::max<int64_t>(1, (1 << 15) / run);
    ::executorch::extension::parallel_for(
        0, outer * p.count, grain, [&](int64_t first, int64_t last) {
          index.scalar_type() == ScalarType::Int
              ? take_range(p, index.const_data_ptr<int32_t>(), first, last)
              : take_range(p, index.const_data_ptr<int64_t>(), first, last);
        });
    return check_taken(call, p);
  }
  const auto take = [&](int64_t first, int64_t last) {
    Odometer<1> odometer(positions.ndim, positions.sizes);
    odometer.set_strides(0, positions.strides);
    odometer.seek(first);
    for (int64_t i = first; i < last; ++i, odometer.next()) {
      const int64_t row = index_at(positions.data, index.scalar_type(), odometer.offset(0));
      if (row < 0 || row >= p.size) {
        if (p.wrong.exchange(1) == 0) {
          p.found = row;
        }
        return;
      }
      copy_view(from.selected(dim, row), out.selected(dim, i));
    }
  };
  const int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, outer * run));
  ::executorch::extension::parallel_for(0, index.numel(), grain, take);
  return check_taken(call, p);
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
