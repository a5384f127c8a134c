// SPDX-License-Identifier: BSD-3-Clause
// Copies of a strided view of one tensor: each operator describes the view, one function copies it.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/slice.h>

#include <algorithm>
#include <cinttypes>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

Tensor& permute(const OpCall& call, const Tensor& self, const int* dims, Tensor& out) {
  const StridedView all = StridedView::of(self);
  StridedView view = all;
  for (int d = 0; d < all.ndim; ++d) {
    view.sizes[d] = all.sizes[dims[d]];
    view.strides[d] = all.strides[dims[d]];
  }
  copy_to_output(call, view, self, out);
  return out;
}

// Splits dimension `dim` into (outer, inner).
StridedView split_dim(const StridedView& view, int dim, int64_t inner) {
  StridedView result = view.inserted(dim + 1, inner, view.strides[dim]);
  result.sizes[dim] /= inner;
  result.strides[dim] *= inner;
  return result;
}

bool check_unique(const OpCall& call, const char* name, const bool (&seen)[Shape::kMaxDims],
                  int64_t d) {
  ET_KERNEL_CHECK_MSG(call.ctx, !seen[d], InvalidArgument, false,
                      "%s: expected different dimensions, found %" PRId64 " twice in %s", call.op,
                      d, name);
  return true;
}

}  // namespace

Tensor& permute_copy_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dims,
                         Tensor& out) {
  const OpCall call{ctx, "permute_copy.out"};
  if (!check_count(call, "dims", static_cast<int64_t>(dims.size()), self.dim())) {
    return out;
  }
  int order[Shape::kMaxDims];
  bool seen[Shape::kMaxDims] = {};
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t d = dims[i];
    if (!normalize_dim(call, "dims", self.dim(), d) || !check_unique(call, "dims", seen, d)) {
      return out;
    }
    seen[d] = true;
    order[i] = static_cast<int>(d);
  }
  return permute(call, self, order, out);
}

Tensor& transpose_copy_int_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim0,
                               int64_t dim1, Tensor& out) {
  const OpCall call{ctx, "transpose_copy.int_out"};
  if (!normalize_dim(call, "dim0", self.dim(), dim0) ||
      !normalize_dim(call, "dim1", self.dim(), dim1)) {
    return out;
  }
  int order[Shape::kMaxDims];
  for (int d = 0; d < Shape::kMaxDims; ++d) {
    order[d] = d;
  }
  std::swap(order[dim0], order[dim1]);
  return permute(call, self, order, out);
}

Tensor& t_copy_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  ET_KERNEL_CHECK_MSG(ctx, self.dim() <= 2, InvalidArgument, out,
                      "t_copy.out: expected at most 2 dims for self, found %d",
                      static_cast<int>(self.dim()));
  const int order[2] = {self.dim() == 2 ? 1 : 0, 0};
  return permute({ctx, "t_copy.out"}, self, order, out);
}

Tensor& expand_copy_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef size,
                        bool implicit, Tensor& out) {
  const OpCall call{ctx, "expand_copy.out"};
  ET_KERNEL_CHECK_MSG(ctx, !implicit, InvalidArgument, out,
                      "expand_copy.out: expected implicit to be false, found true");
  ET_KERNEL_CHECK_MSG(ctx,
                      size.size() >= static_cast<size_t>(self.dim()) &&
                          size.size() <= static_cast<size_t>(Shape::kMaxDims),
                      InvalidArgument, out, "expand_copy.out: expected %d to %d sizes, found %zu",
                      static_cast<int>(self.dim()), Shape::kMaxDims, size.size());
  StridedView view = StridedView::of(self);
  const int lead = static_cast<int>(size.size()) - view.ndim;
  for (int i = 0; i < lead; ++i) {
    view = view.inserted(0, 1, 0);
  }
  for (int d = 0; d < view.ndim; ++d) {
    const bool keep = size[d] == view.sizes[d] || (size[d] == -1 && d >= lead);
    ET_KERNEL_CHECK_MSG(ctx, keep || (view.sizes[d] == 1 && size[d] >= 0), InvalidArgument, out,
                        "expand_copy.out: expected sizes that self broadcasts to, found %" PRId64
                        " for "
                        "%" PRId64 " at dimension %d",
                        static_cast<int64_t>(view.sizes[d]), static_cast<int64_t>(size[d]), d);
    if (!keep) {
      view.sizes[d] = size[d];
      view.strides[d] = 0;
    }
  }
  copy_to_output(call, view, self, out);
  return out;
}

Tensor& slice_copy_Tensor_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                              std::optional<int64_t> start, std::optional<int64_t> end,
                              int64_t step, Tensor& out) {
  const OpCall call{ctx, "slice_copy.Tensor_out"};
  SliceRange range;
  if (slice_range(call, self, dim, start, end, step, range)) {
    copy_to_output(call, StridedView::of(self).sliced(range.dim, range.start, range.size, step),
                   self, out);
  }
  return out;
}

Tensor& narrow_copy_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, int64_t start,
                        int64_t length, Tensor& out) {
  const OpCall call{ctx, "narrow_copy.out"};
  ET_KERNEL_CHECK_MSG(ctx, self.dim() > 0, InvalidArgument, out,
                      "narrow_copy.out: expected self with a dimension, found a 0-dim tensor");
  if (!normalize_dim(call, "dim", self.dim(), dim)) {
    return out;
  }
  const int64_t size = self.sizes()[dim];
  const int64_t first = start < 0 ? start + size : start;
  ET_KERNEL_CHECK_MSG(ctx, first >= 0 && first <= size && length >= 0 && length <= size - first,
                      InvalidArgument, out,
                      "narrow_copy.out: expected a range inside self, found start %" PRId64
                      " and length "
                      "%" PRId64 " for size %" PRId64,
                      static_cast<int64_t>(start), static_cast<int64_t>(length), size);
  copy_to_output(call, StridedView::of(self).sliced(static_cast<int>(dim), first, length), self,
                 out);
  return out;
}

Tensor& select_copy_int_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                            int64_t index, Tensor& out) {
  const OpCall call{ctx, "select_copy.int_out"};
  if (select_index(call, self, dim, index)) {
    copy_to_output(call, StridedView::of(self).selected(static_cast<int>(dim), index), self, out);
  }
  return out;
}

Tensor& as_strided_copy_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef size,
                            IntArrayRef stride, std::optional<int64_t> storage_offset,
                            Tensor& out) {
  const OpCall call{ctx, "as_strided_copy.out"};
  ET_KERNEL_CHECK_MSG(
      ctx, size.size() == stride.size() && size.size() <= static_cast<size_t>(Shape::kMaxDims),
      InvalidArgument, out,
      "as_strided_copy.out: expected as many sizes as strides, found %zu and %zu", size.size(),
      stride.size());
  StridedView view{};
  view.ndim = static_cast<int>(size.size());
  view.element_size = self.element_size();
  int64_t last = storage_offset.value_or(0);
  bool valid = last >= 0;
  bool empty = false;
  for (int d = 0; d < view.ndim && valid; ++d) {
    int64_t reach = 0;
    valid = size[d] >= 0 && stride[d] >= 0;
    empty = empty || size[d] == 0;
    valid = valid && !__builtin_mul_overflow(size[d] > 0 ? size[d] - 1 : 0, stride[d], &reach) &&
            !__builtin_add_overflow(last, reach, &last);
    view.sizes[d] = size[d];
    view.strides[d] = stride[d];
  }
  ET_KERNEL_CHECK_MSG(ctx, valid && (empty || last < self.numel()), InvalidArgument, out,
                      "as_strided_copy.out: expected a view inside the %" PRId64
                      " elements of self, "
                      "found one beyond them",
                      static_cast<int64_t>(self.numel()));
  view.data = StridedView::of(self).data;
  if (!empty) {
    view.data += storage_offset.value_or(0) * view.element_size;
  }
  copy_to_output(call, view, self, out);
  return out;
}

Tensor& diagonal_copy_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t offset,
                          int64_t dim1, int64_t dim2, Tensor& out) {
  const OpCall call{ctx, "diagonal_copy.out"};
  if (!normalize_dim(call, "dim1", self.dim(), dim1) ||
      !normalize_dim(call, "dim2", self.dim(), dim2)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, self.dim() >= 2 && dim1 != dim2, InvalidArgument, out,
                      "diagonal_copy.out: expected two different dimensions, found %" PRId64
                      " twice",
                      static_cast<int64_t>(dim1));
  const int64_t rows = self.sizes()[dim1];
  const int64_t cols = self.sizes()[dim2];
  const int64_t row0 = offset < 0 ? (offset < -rows ? rows : -offset) : 0;
  const int64_t col0 = offset > 0 ? std::min(offset, cols) : 0;
  const StridedView all = StridedView::of(self);
  const int64_t length = std::min(rows - row0, cols - col0);
  StridedView view = all.selected(static_cast<int>(std::max(dim1, dim2)), 0)
                         .selected(static_cast<int>(std::min(dim1, dim2)), 0);
  if (length > 0) {
    view.data += (row0 * all.strides[dim1] + col0 * all.strides[dim2]) * all.element_size;
  }
  view = view.inserted(view.ndim, length, all.strides[dim1] + all.strides[dim2]);
  copy_to_output(call, view, self, out);
  return out;
}

Tensor& unfold_copy_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dimension,
                        int64_t size, int64_t step, Tensor& out) {
  const OpCall call{ctx, "unfold_copy.out"};
  if (!normalize_dim(call, "dimension", self.dim(), dimension)) {
    return out;
  }
  StridedView view = StridedView::of(self);
  const bool scalar = view.ndim == 0;
  view = scalar ? view.inserted(0, 1, 1) : view;
  const int dim = static_cast<int>(dimension);
  ET_KERNEL_CHECK_MSG(ctx, size >= 0 && size <= view.sizes[dim] && step > 0, InvalidArgument, out,
                      "unfold_copy.out: expected size in [0, %" PRId64
                      "] and step > 0, found %" PRId64 " and %" PRId64,
                      static_cast<int64_t>(view.sizes[dim]), size, static_cast<int64_t>(step));
  const int64_t stride = view.strides[dim];
  // A 0-dim tensor has one window.
  view =
      scalar ? view.selected(0, 0) : view.sliced(dim, 0, (view.sizes[dim] - size) / step + 1, step);
  copy_to_output(call, view.inserted(view.ndim, size, stride), self, out);
  return out;
}

Tensor& flip_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dims, Tensor& out) {
  const OpCall call{ctx, "flip.out"};
  StridedView view = StridedView::of(self);
  bool seen[Shape::kMaxDims] = {};
  for (int64_t d : dims) {
    if (!normalize_dim(call, "dims", self.dim(), d) || !check_unique(call, "dims", seen, d)) {
      return out;
    }
    seen[d] = true;
    if (d < view.ndim && view.sizes[d] > 0) {
      view = view.sliced(static_cast<int>(d), view.sizes[d] - 1, view.sizes[d], -1);
    }
  }
  copy_to_output(call, view, self, out);
  return out;
}

Tensor& repeat_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef repeats,
                   Tensor& out) {
  const OpCall call{ctx, "repeat.out"};
  const int rank = static_cast<int>(repeats.size());
  ET_KERNEL_CHECK_MSG(ctx, rank >= self.dim() && rank <= Shape::kMaxDims, InvalidArgument, out,
                      "repeat.out: expected %d to %d repeats, found %d",
                      static_cast<int>(self.dim()), Shape::kMaxDims, rank);
  StridedView from = StridedView::of(self);
  while (from.ndim < rank) {
    from = from.inserted(0, 1, 0);
  }
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    ET_KERNEL_CHECK_MSG(ctx, repeats[d] >= 0 && repeats[d] <= INT32_MAX, InvalidArgument, out,
                        "repeat.out: expected repeats in range, found %" PRId64,
                        static_cast<int64_t>(repeats[d]));
    shape.push(from.sizes[d] * repeats[d]);
  }
  if (!check_same_dtype(call, "out", out, "self", self) || !resize_output(call, out, shape)) {
    return out;
  }
  if (out.numel() == 0) {
    return out;
  }
  // Each dimension as (repeat, size) on both sides, the former standing still in the input.
  StridedView to = StridedView::of(out);
  for (int d = rank - 1; d >= 0; --d) {
    const int64_t size = from.sizes[d];
    from = from.inserted(d, repeats[d], 0);
    to = split_dim(to, d, size);
  }
  copy_view(from, to);
  return out;
}

Tensor& pixel_shuffle_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t upscale_factor,
                          Tensor& out) {
  const OpCall call{ctx, "pixel_shuffle.out"};
  const int rank = static_cast<int>(self.dim());
  const int64_t r = upscale_factor;
  ET_KERNEL_CHECK_MSG(ctx,
                      rank >= 3 && r > 0 && r <= INT16_MAX && self.sizes()[rank - 3] % (r * r) == 0,
                      InvalidArgument, out,
                      "pixel_shuffle.out: expected at least 3 dims and channels divisible by the "
                      "square of %" PRId64 ", found %s",
                      static_cast<int64_t>(r), ShapeText(self).text);
  Shape shape(self);
  shape.sizes[rank - 3] /= r * r;
  shape.sizes[rank - 2] *= r;
  shape.sizes[rank - 1] *= r;
  if (!check_same_dtype(call, "out", out, "self", self) || !resize_output(call, out, shape) ||
      out.numel() == 0) {
    return out;
  }
  // in: c, rh, rw, h, w; out: c, h, rh, w, rw.
  StridedView from = split_dim(split_dim(StridedView::of(self), rank - 3, r * r), rank - 2, r);
  const StridedView to = split_dim(split_dim(StridedView::of(out), rank - 1, r), rank - 2, r);
  const StridedView in = from;
  const int order[4] = {2, 0, 3, 1};  // h, rh, w, rw among rh, rw, h, w
  for (int i = 0; i < 4; ++i) {
    from.sizes[rank - 2 + i] = in.sizes[rank - 2 + order[i]];
    from.strides[rank - 2 + i] = in.strides[rank - 2 + order[i]];
  }
  copy_view(from, to);
  return out;
}

Tensor& pixel_unshuffle_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t downscale_factor,
                            Tensor& out) {
  const OpCall call{ctx, "pixel_unshuffle.out"};
  const int rank = static_cast<int>(self.dim());
  const int64_t r = downscale_factor;
  ET_KERNEL_CHECK_MSG(ctx,
                      rank >= 3 && r > 0 && r <= INT16_MAX && self.sizes()[rank - 2] % r == 0 &&
                          self.sizes()[rank - 1] % r == 0,
                      InvalidArgument, out,
                      "pixel_unshuffle.out: expected at least 3 dims and height and width "
                      "divisible by %" PRId64 ", found %s",
                      static_cast<int64_t>(r), ShapeText(self).text);
  Shape shape(self);
  shape.sizes[rank - 3] *= r * r;
  shape.sizes[rank - 2] /= r;
  shape.sizes[rank - 1] /= r;
  if (!check_same_dtype(call, "out", out, "self", self) || !resize_output(call, out, shape) ||
      out.numel() == 0) {
    return out;
  }
  const StridedView to = split_dim(split_dim(StridedView::of(out), rank - 3, r * r), rank - 2, r);
  StridedView from = split_dim(split_dim(StridedView::of(self), rank - 1, r), rank - 2, r);
  const StridedView in = from;
  const int order[4] = {1, 3, 0, 2};  // rh, rw, h, w among h, rh, w, rw
  for (int i = 0; i < 4; ++i) {
    from.sizes[rank - 2 + i] = in.sizes[rank - 2 + order[i]];
    from.strides[rank - 2 + i] = in.strides[rank - 2 + order[i]];
  }
  copy_view(from, to);
  return out;
}

namespace {

// Negates the imaginary part of each (real, imaginary) pair.
template <typename T>
void conjugate(void* pairs, int64_t count) {
  T* parts = static_cast<T*>(pairs);
  for (int64_t i = 0; i < count; ++i) {
    parts[2 * i + 1] = -parts[2 * i + 1];
  }
}

}  // namespace

Tensor& _conj_physical_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  const OpCall call{ctx, "_conj_physical.out"};
  if (!copy_to_output(call, StridedView::of(self), self, out) ||
      !::executorch::runtime::isComplexType(self.scalar_type())) {
    return out;
  }
  if (self.scalar_type() == ScalarType::ComplexHalf) {
    conjugate<::executorch::aten::Half>(out.mutable_data_ptr(), out.numel());
  } else if (self.scalar_type() == ScalarType::ComplexFloat) {
    conjugate<float>(out.mutable_data_ptr(), out.numel());
  } else {
    conjugate<double>(out.mutable_data_ptr(), out.numel());
  }
  return out;
}

Tensor& view_as_real_copy_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  const OpCall call{ctx, "view_as_real_copy.out"};
  ET_KERNEL_CHECK_MSG(
      ctx, ::executorch::runtime::isComplexType(self.scalar_type()) && self.dim() < Shape::kMaxDims,
      InvalidArgument, out,
      "view_as_real_copy.out: expected self to be of a complex type, found %s",
      ::executorch::runtime::toString(self.scalar_type()));
  const ScalarType part = ::executorch::runtime::toRealValueType(self.scalar_type());
  Shape shape(self);
  shape.push(2);
  if (check_dtype(call, "out", out, part) && resize_output(call, out, shape)) {
    copy_view(StridedView::of(self).parts(), StridedView::of(out));
  }
  return out;
}

Tensor& view_as_complex_copy_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  const OpCall call{ctx, "view_as_complex_copy.out"};
  ET_KERNEL_CHECK_MSG(ctx, self.dim() > 0 && self.sizes()[self.dim() - 1] == 2, InvalidArgument,
                      out, "%s: expected the last dimension of self to be 2, found %" PRId64,
                      call.op,
                      static_cast<int64_t>(self.dim() > 0 ? self.sizes()[self.dim() - 1] : 0));
  ET_KERNEL_CHECK_MSG(ctx, ::executorch::runtime::isComplexType(out.scalar_type()), InvalidArgument,
                      out, "%s: expected out to be of a complex type, found %s", call.op,
                      ::executorch::runtime::toString(out.scalar_type()));
  const ScalarType part = ::executorch::runtime::toRealValueType(out.scalar_type());
  if (!check_dtype(call, "self", self, part)) {
    return out;
  }
  Shape shape(self);
  --shape.ndim;
  if (resize_output(call, out, shape)) {
    copy_view(StridedView::of(self), StridedView::of(out).parts());
  }
  return out;
}

}  // namespace torch::executor::native
