// SPDX-License-Identifier: BSD-3-Clause
// Operators that concatenate tensors or split one along a dimension, or overwrite a part of
// one.
#include <cinttypes>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/slice.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;
using ::executorch::aten::TensorList;

namespace {

// Legacy: an empty 1-d tensor joins with anything.
bool is_skipped(const Tensor& tensor) {
  return tensor.dim() == 1 && tensor.numel() == 0;
}

// Writes `src` into `part` of out, converting the dtype where it differs.
bool copy_into(const OpCall& call, const Tensor& src, const StridedView& part, const Tensor& out) {
  if (src.scalar_type() == out.scalar_type()) {
    copy_view(StridedView::of(src), part);
    return true;
  }
  if (!check_number(call, "source", src) || !check_number(call, "out", out) ||
      (!is_complex(out.scalar_type()) && !check_computable(call, "source", src))) {
    return false;
  }
  // Rare: joining different dtypes. One element at a time through double or int64_t.
  const StridedView from = StridedView::of(src);
  const ComputeType type = conversion_type(src.scalar_type(), out.scalar_type());
  const LoadRun load = loader(src.scalar_type(), type);
  const StoreRun store = storer(type, out.scalar_type());
  Odometer<2> odometer(from.ndim, from.sizes);
  odometer.set_strides(0, from.strides);
  odometer.set_strides(1, part.strides);
  alignas(16) char value[kMaxComputeSize];
  for (int64_t i = 0; i < src.numel(); ++i, odometer.next()) {
    load(from.data + odometer.offset(0) * from.element_size, 1, 1, value);
    store(value, 1, part.data + odometer.offset(1) * part.element_size);
  }
  return true;
}

// Every tensor that has elements, or a shape, can be converted to the dtype of `out`.
bool check_all_castable(const OpCall& call, TensorList tensors, const Tensor& out) {
  for (const Tensor& tensor : tensors) {
    const bool takes_all = is_complex(out.scalar_type());
    if (tensor.scalar_type() != out.scalar_type() && !takes_all && !is_skipped(tensor) &&
        !check_castable(call, tensor.scalar_type(), out)) {
      return false;
    }
  }
  return true;
}

bool cat_shape(const OpCall& call, TensorList tensors, int64_t& dim, Shape& shape) {
  const Tensor* model = nullptr;
  for (const Tensor& tensor : tensors) {
    model = model == nullptr && !is_skipped(tensor) ? &tensor : model;
  }
  if (model == nullptr) {
    shape.push(0);
    return true;  // nothing is joined, whatever `dim` is
  }
  shape = Shape(*model);
  if (!normalize_dim(call, "dim", shape.ndim, dim)) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, shape.ndim > 0, InvalidArgument, false,
                      "%s: expected tensors with a dimension, found 0-dim ones", call.op);
  shape.sizes[dim] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_skipped(tensors[i])) {
      continue;
    }
    if (!check_rank(call, "tensors", tensors[i], shape.ndim)) {
      return false;
    }
    for (int d = 0; d < shape.ndim; ++d) {
      const int64_t size = tensors[i].sizes()[d];
      ET_KERNEL_CHECK_MSG(call.ctx, d == dim || size == shape[d], InvalidArgument, false,
                          "%s: expected size %" PRId64
                          " at dimension %d of tensors[%zu], found %" PRId64,
                          call.op, static_cast<int64_t>(shape[d]), d, i, size);
    }
    shape.sizes[dim] += tensors[i].sizes()[dim];
  }
  return true;
}

}  // namespace

Tensor& cat_out(KernelRuntimeContext& ctx, TensorList tensors, int64_t dim, Tensor& out) {
  const OpCall call{ctx, "cat.out"};
  ET_KERNEL_CHECK_MSG(ctx, tensors.size() > 0, InvalidArgument, out,
                      "cat.out: expected at least one tensor, found none");
  Shape shape;
  if (!check_all_castable(call, tensors, out) || !cat_shape(call, tensors, dim, shape) ||
      !resize_output(call, out, shape)) {
    return out;
  }
  const StridedView all = StridedView::of(out);
  int64_t position = 0;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) {
      continue;
    }
    const int64_t size = tensor.sizes()[dim];
    if (!copy_into(call, tensor, all.sliced(static_cast<int>(dim), position, size), out)) {
      return out;
    }
    position += size;
  }
  return out;
}

Tensor& stack_out(KernelRuntimeContext& ctx, TensorList tensors, int64_t dim, Tensor& out) {
  const OpCall call{ctx, "stack.out"};
  ET_KERNEL_CHECK_MSG(ctx, tensors.size() > 0, InvalidArgument, out,
                      "stack.out: expected at least one tensor, found none");
  Shape shape(tensors[0]);
  ET_KERNEL_CHECK_MSG(ctx, shape.ndim < Shape::kMaxDims, InvalidArgument, out,
                      "stack.out: expected tensors of fewer dims, found %d", shape.ndim);
  for (size_t i = 0; i < tensors.size(); ++i) {
    ET_KERNEL_CHECK_MSG(
        ctx, ::executorch::runtime::tensors_have_same_shape(tensors[i], tensors[0]),
        InvalidArgument, out,
        "stack.out: expected tensors[%zu] to have the shape of tensors[0], %s, found %s", i,
        ShapeText(shape).text, ShapeText(tensors[i]).text);
  }
  if (!check_all_castable(call, tensors, out) || !normalize_dim(call, "dim", shape.ndim + 1, dim)) {
    return out;
  }
  shape.insert(static_cast<int>(dim), static_cast<int64_t>(tensors.size()));
  if (!resize_output(call, out, shape)) {
    return out;
  }
  const StridedView all = StridedView::of(out);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const StridedView part = all.selected(static_cast<int>(dim), static_cast<int64_t>(i));
    if (!copy_into(call, tensors[i], part, out)) {
      return out;
    }
  }
  return out;
}

void unbind_copy_int_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                         TensorList out) {
  const OpCall call{ctx, "unbind_copy.int_out"};
  ET_KERNEL_CHECK_MSG(ctx, self.dim() > 0, InvalidArgument, ,
                      "unbind_copy.int_out: expected self with a dimension, found a 0-dim tensor");
  if (!normalize_dim(call, "dim", self.dim(), dim) ||
      !check_count(call, "out", static_cast<int64_t>(out.size()), self.sizes()[dim])) {
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const StridedView part =
        StridedView::of(self).selected(static_cast<int>(dim), static_cast<int64_t>(i));
    if (!copy_to_output(call, part, self, out[i])) {
      return;
    }
  }
}

void split_copy_Tensor_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t split_size,
                           int64_t dim, TensorList out) {
  const OpCall call{ctx, "split_copy.Tensor_out"};
  ET_KERNEL_CHECK_MSG(
      ctx, self.dim() > 0, InvalidArgument, ,
      "split_copy.Tensor_out: expected self with a dimension, found a 0-dim tensor");
  if (!normalize_dim(call, "dim", self.dim(), dim)) {
    return;
  }
  const int64_t size = self.sizes()[dim];
  ET_KERNEL_CHECK_MSG(ctx, split_size > 0 || (split_size == 0 && size == 0), InvalidArgument, ,
                      "split_copy.Tensor_out: expected split_size > 0, found %" PRId64,
                      static_cast<int64_t>(split_size));
  const int64_t pieces = size == 0 ? 1 : (size - 1) / split_size + 1;
  if (!check_count(call, "out", static_cast<int64_t>(out.size()), pieces)) {
    return;
  }
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t start = i * split_size;
    const int64_t length = size - start < split_size ? size - start : split_size;
    const StridedView part = StridedView::of(self).sliced(static_cast<int>(dim), start, length);
    if (!copy_to_output(call, part, self, out[i])) {
      return;
    }
  }
}

void split_with_sizes_copy_out(KernelRuntimeContext& ctx, const Tensor& self,
                               IntArrayRef split_sizes, int64_t dim, TensorList out) {
  const OpCall call{ctx, "split_with_sizes_copy.out"};
  ET_KERNEL_CHECK_MSG(
      ctx, self.dim() > 0, InvalidArgument, ,
      "split_with_sizes_copy.out: expected self with a dimension, found a 0-dim tensor");
  if (!normalize_dim(call, "dim", self.dim(), dim) ||
      !check_count(call, "out", static_cast<int64_t>(out.size()),
                   static_cast<int64_t>(split_sizes.size()))) {
    return;
  }
  const int64_t size = self.sizes()[dim];
  int64_t rest = size;
  for (int64_t length : split_sizes) {
    ET_KERNEL_CHECK_MSG(ctx, length >= 0 && length <= rest, InvalidArgument, ,
                        "split_with_sizes_copy.out: expected split_sizes to add up to %" PRId64
                        ", found another sum",
                        size);
    rest -= length;
  }
  ET_KERNEL_CHECK_MSG(ctx, rest == 0, InvalidArgument, ,
                      "split_with_sizes_copy.out: expected split_sizes to add up to %" PRId64
                      ", found another sum",
                      size);
  int64_t start = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const StridedView part =
        StridedView::of(self).sliced(static_cast<int>(dim), start, split_sizes[i]);
    if (!copy_to_output(call, part, self, out[i])) {
      return;
    }
    start += split_sizes[i];
  }
}

namespace {

// out = self with `src` in the place of `part_of(view of out)`.
bool scatter_view(const OpCall& call, const StridedView& part, const Tensor& src, Tensor& out) {
  bool same = src.dim() == part.ndim;
  for (int d = 0; same && d < part.ndim; ++d) {
    same = src.sizes()[d] == part.sizes[d];
  }
  ET_KERNEL_CHECK_MSG(call.ctx, same, InvalidArgument, false,
                      "%s: expected src to have the shape of the slice, found %s", call.op,
                      ShapeText(src).text);
  return copy_into(call, src, part, out);
}

bool start_from_self(const OpCall& call, const Tensor& self, Tensor& out) {
  return check_same_dtype(call, "out", out, "self", self) &&
         resize_output(call, out, Shape(self)) && copy_converted(call, self, out);
}

}  // namespace

Tensor& select_scatter_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& src,
                           int64_t dim, int64_t index, Tensor& out) {
  const OpCall call{ctx, "select_scatter.out"};
  if (select_index(call, self, dim, index) && start_from_self(call, self, out)) {
    scatter_view(call, StridedView::of(out).selected(static_cast<int>(dim), index), src, out);
  }
  return out;
}

Tensor& slice_scatter_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& src,
                          int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                          int64_t step, Tensor& out) {
  const OpCall call{ctx, "slice_scatter.out"};
  SliceRange range;
  if (slice_range(call, self, dim, start, end, step, range) && start_from_self(call, self, out)) {
    const StridedView all = StridedView::of(out);
    scatter_view(call, all.sliced(range.dim, range.start, range.size, step), src, out);
  }
  return out;
}

}  // namespace torch::executor::native
