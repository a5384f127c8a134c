// SPDX-License-Identifier: BSD-3-Clause
// Operators that read or write at positions given by index tensors. Every index is checked before
// memory is touched.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/binary.h>
#include <executorch/kernels/portable/loops/columns.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/elementwise.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

bool check_index_dtype(const OpCall& call, const Tensor& index) {
  ET_KERNEL_CHECK_MSG(
      call.ctx, index.scalar_type() == ScalarType::Long || index.scalar_type() == ScalarType::Int,
      InvalidArgument, false, "%s: expected indices to be Int or Long, found %s", call.op,
      ::executorch::runtime::toString(index.scalar_type()));
  return true;
}

int64_t index_at(const char* data, ScalarType type, int64_t offset) {
  return type == ScalarType::Long ? reinterpret_cast<const int64_t*>(data)[offset]
                                  : reinterpret_cast<const int32_t*>(data)[offset];
}

// An index from memory made non-negative; -1 when it is out of [-size, size).
int64_t wrapped_index(const char* data, ScalarType type, int64_t offset, int64_t size) {
  int64_t index = index_at(data, type, offset);
  index = index < 0 && index >= -size ? index + size : index;
  return index >= 0 && index < size ? index : -1;
}

bool fail_index(const OpCall& call, int64_t size) {
  ET_KERNEL_CHECK_MSG(call.ctx, false, InvalidArgument, false,
                      "%s: expected indices in [%" PRId64 ", %" PRId64 "), found one outside",
                      call.op, static_cast<int64_t>(-size), size);
  return false;
}

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
  std::atomic<int64_t> found{0};
  const auto take = [&](int64_t first, int64_t last) {
    Odometer<1> odometer(positions.ndim, positions.sizes);
    odometer.set_strides(0, positions.strides);
    odometer.seek(first);
    for (int64_t i = first; i < last; ++i, odometer.next()) {
      const int64_t row = index_at(positions.data, index.scalar_type(), odometer.offset(0));
      if (row < 0 || row >= size) {
        found.store(row);
        wrong.store(true);
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
                      static_cast<int64_t>(found.load()));
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

namespace {

using OptionalTensors = ArrayRef<std::optional<Tensor>>;

bool is_mask(const Tensor& index) {
  return index.scalar_type() == ScalarType::Bool || index.scalar_type() == ScalarType::Byte;
}

int64_t count_true(const Tensor& mask) {
  const uint8_t* values = static_cast<const uint8_t*>(mask.const_data_ptr());
  int64_t count = 0;
  for (int64_t i = 0; i < mask.numel(); ++i) {
    count += values[i] != 0;
  }
  return count;
}

// The positions of true elements of a mask, in its logical order and in temporary memory: `count`
// numbers for each of its dimensions.
const int64_t* mask_positions(const OpCall& call, const Tensor& mask, int64_t count) {
  const StridedView all = StridedView::of(mask);
  const size_t bytes =
      static_cast<size_t>(count > 0 ? count : 1) * static_cast<size_t>(all.ndim) * sizeof(int64_t);
  const auto memory = call.ctx.allocate_temp(bytes, alignof(int64_t));
  ET_KERNEL_CHECK_MSG(call.ctx, memory.ok(), MemoryAllocationFailed, nullptr,
                      "%s: no temporary memory for %zu bytes of positions", call.op, bytes);
  int64_t* positions = static_cast<int64_t*>(memory.get());
  Odometer<1> odometer(all.ndim, all.sizes);
  odometer.set_strides(0, all.strides);
  for (int64_t i = mask.numel(), k = 0; i > 0 && k < count; --i, odometer.next()) {
    if (all.data[odometer.offset(0)] != 0) {
      for (int d = 0; d < all.ndim; ++d) {
        positions[d * count + k] = odometer.index()[d];
      }
      ++k;
    }
  }
  return positions;
}

// One indexed dimension as (data, dtype, strides over the broadcast shape).
struct IndexData {
  const char* data;
  ScalarType type;
  int64_t strides[Shape::kMaxDims];
};

struct Resolved {
  int num_indexed = 0;
  int dims[Shape::kMaxDims];
  IndexData data[Shape::kMaxDims];
  Shape shape;
  Shape remaining;  // sizes of dimensions that are not indexed
  int remaining_dims[Shape::kMaxDims];
  int place = 0;
};

// Whether a mask has the sizes of the dimensions of `self` from `dim` on.
bool covers(const Tensor& mask, const Tensor& self, int dim) {
  for (int d = 0; d < mask.dim(); ++d) {
    if (mask.sizes()[d] != self.sizes()[dim + d]) {
      return false;
    }
  }
  return true;
}

// An index tensor before it is broadcast.
struct Unbroadcast {
  Shape shape;
  int64_t strides[Shape::kMaxDims];
};

// A mask of the dimensions from `dim` on as positions in each of them: one entry of `data` and
// `own` for each dimension of the mask.
bool take_mask(const OpCall& call, const Tensor& self, const Tensor& mask, int dim, IndexData* data,
               Unbroadcast* own) {
  ET_KERNEL_CHECK_MSG(call.ctx, covers(mask, self, dim), InvalidArgument, false,
                      "%s: expected a mask with the sizes of what it indexes, %s from "
                      "dimension %d on, found %s",
                      call.op, ShapeText(self).text, dim, ShapeText(mask).text);
  const int64_t count = count_true(mask);
  const int64_t* positions = mask_positions(call, mask, count);
  if (positions == nullptr) {
    return false;
  }
  for (int d = 0; d < mask.dim(); ++d) {
    own[d].shape.push(count);
    own[d].strides[0] = 1;
    data[d].data = reinterpret_cast<const char*>(positions + d * count);
    data[d].type = ScalarType::Long;
  }
  return true;
}

bool take_positions(const OpCall& call, const Tensor& index, IndexData& data, Unbroadcast& own) {
  if (!check_index_dtype(call, index)) {
    return false;
  }
  own.shape = Shape(index);
  for (int d = 0; d < own.shape.ndim; ++d) {
    own.strides[d] = index.strides()[d];
  }
  data.data = static_cast<const char*>(index.const_data_ptr());
  data.type = index.scalar_type();
  return true;
}

// Broadcasts the index tensors; masks become positions in each of their dimensions.
bool resolve(const OpCall& call, const Tensor& self, OptionalTensors indices, Resolved& r) {
  Unbroadcast own[Shape::kMaxDims];
  int next_dim = 0;
  bool gap = false;
  bool adjacent = true;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].has_value()) {
      gap = gap || r.num_indexed > 0;
      ++next_dim;
      continue;
    }
    const Tensor& index = *indices[i];
    adjacent = adjacent && !gap;
    const int covered = is_mask(index) ? static_cast<int>(index.dim()) : 1;
    ET_KERNEL_CHECK_MSG(call.ctx, next_dim + covered <= self.dim() && covered > 0, InvalidArgument,
                        false, "%s: expected indices for at most the %d dims of self, found more",
                        call.op, static_cast<int>(self.dim()));
    const int k = r.num_indexed;
    const bool taken = is_mask(index) ? take_mask(call, self, index, next_dim, &r.data[k], &own[k])
                                      : take_positions(call, index, r.data[k], own[k]);
    if (!taken || !broadcast_shapes(call, r.shape, own[k].shape, r.shape)) {
      return false;
    }
    for (int d = 0; d < covered; ++d) {
      r.dims[r.num_indexed++] = next_dim++;
    }
  }
  ET_KERNEL_CHECK_MSG(call.ctx, next_dim <= self.dim(), InvalidArgument, false,
                      "%s: expected at most %d indices, found %zu", call.op,
                      static_cast<int>(self.dim()), indices.size());
  for (int k = 0; k < r.num_indexed; ++k) {
    const int lead = r.shape.ndim - own[k].shape.ndim;
    for (int d = 0; d < r.shape.ndim; ++d) {
      r.data[k].strides[d] = broadcast_stride(own[k].shape, own[k].strides, d - lead);
    }
  }
  for (int d = 0, k = 0; d < self.dim(); ++d) {
    if (k < r.num_indexed && r.dims[k] == d) {
      ++k;
      continue;
    }
    r.remaining_dims[r.remaining.ndim] = d;
    r.remaining.push(self.sizes()[d]);
  }
  r.place = adjacent && r.num_indexed > 0 ? r.dims[0] : 0;
  return true;
}

// The shape of self[indices].
bool result_shape(const OpCall& call, const Resolved& r, Shape& shape) {
  ET_KERNEL_CHECK_MSG(call.ctx, r.shape.ndim + r.remaining.ndim <= Shape::kMaxDims, InvalidArgument,
                      false, "%s: expected a result of at most %d dims, found more", call.op,
                      Shape::kMaxDims);
  for (int d = 0; d < r.place; ++d) {
    shape.push(r.remaining[d]);
  }
  for (int d = 0; d < r.shape.ndim; ++d) {
    shape.push(r.shape[d]);
  }
  for (int d = r.place; d < r.remaining.ndim; ++d) {
    shape.push(r.remaining[d]);
  }
  return true;
}

// Views of the remaining dimensions only.
StridedView remaining_view(const StridedView& view, const Resolved& r, const int* dims) {
  StridedView result = view;
  result.ndim = r.remaining.ndim;
  for (int d = 0; d < r.remaining.ndim; ++d) {
    result.sizes[d] = r.remaining[d];
    result.strides[d] = view.strides[dims[d]];
  }
  return result;
}

// Calls visit(offset in self, offset in the values) for index tuples [first, last), each after its
// indices were checked; stops at a wrong one and returns the size that it is no index of, or else
// -1. `value_strides` are those of the indexed block of dimensions in the values.
template <typename Visit>
int64_t visit_tuples(const Tensor& self, const Resolved& r, const int64_t* value_strides,
                     int64_t first, int64_t last, const Visit& visit) {
  if (r.num_indexed == 1 && r.shape.ndim == 1) {  // rows of one dimension
    const int64_t size = self.sizes()[r.dims[0]], step = self.strides()[r.dims[0]];
    for (int64_t i = first; i < last; ++i) {
      const int64_t at = i * r.data[0].strides[0];
      const int64_t position = wrapped_index(r.data[0].data, r.data[0].type, at, size);
      if (position < 0) {
        return size;
      }
      visit(position * step, i * value_strides[0]);
    }
    return -1;
  }
  Odometer<1> odometer(r.shape.ndim, r.shape.sizes);
  odometer.set_strides(0, value_strides);
  odometer.seek(first);
  for (int64_t i = first; i < last; ++i, odometer.next()) {
    int64_t offset = 0;
    for (int k = 0; k < r.num_indexed; ++k) {
      int64_t at = 0;
      for (int d = 0; d < r.shape.ndim; ++d) {
        at += odometer.index()[d] * r.data[k].strides[d];
      }
      const int64_t size = self.sizes()[r.dims[k]];
      const int64_t position = wrapped_index(r.data[k].data, r.data[k].type, at, size);
      if (position < 0) {
        return size;
      }
      offset += position * self.strides()[r.dims[k]];
    }
    visit(offset, odometer.offset(0));
  }
  return -1;
}

// All tuples in order.
template <typename Visit>
bool for_each_tuple(const OpCall& call, const Tensor& self, const Resolved& r,
                    const int64_t* value_strides, const Visit& visit) {
  const int64_t size = visit_tuples(self, r, value_strides, 0, r.shape.numel(), visit);
  return size < 0 || fail_index(call, size);
}

// Copies what lies at some index tuples, a block of tuples at a time: for each position in the
// remaining dimensions all tuples of a block are neighbours, or nearly so.
template <typename T>
class TupleCopies {
 public:
  // Views of the remaining dimensions, which outlive the copies.
  TupleCopies(const StridedView& from, const StridedView& to) : from_(from), to_(to) {}

  void add(int64_t from, int64_t to) {
    from_offsets_[count_] = from;
    to_offsets_[count_] = to;
    if (++count_ == kBlock) {
      flush();
    }
  }
  void flush() {
    Odometer<2> odometer(to_.ndim, to_.sizes);
    odometer.set_strides(0, from_.strides);
    odometer.set_strides(1, to_.strides);
    for (int64_t i = to_.numel(); i > 0; --i, odometer.next()) {
      const T* const from = reinterpret_cast<const T*>(from_.data) + odometer.offset(0);
      T* const to = reinterpret_cast<T*>(to_.data) + odometer.offset(1);
      for (int k = 0; k < count_; ++k) {
        to[to_offsets_[k]] = from[from_offsets_[k]];
      }
    }
    count_ = 0;
  }

 private:
  static constexpr int kBlock = 128;
  const StridedView& from_;
  const StridedView& to_;
  int count_ = 0;
  int64_t from_offsets_[kBlock];
  int64_t to_offsets_[kBlock];
};

}  // namespace

Tensor& index_Tensor_out(KernelRuntimeContext& ctx, const Tensor& self, OptionalTensors indices,
                         Tensor& out) {
  const OpCall call{ctx, "index.Tensor_out"};
  Resolved r;
  Shape shape;
  if (!check_same_dtype(call, "out", out, "self", self) || !resolve(call, self, indices, r) ||
      !result_shape(call, r, shape) || !resize_output(call, out, shape)) {
    return out;
  }
  const StridedView from = remaining_view(StridedView::of(self), r, r.remaining_dims);
  const StridedView all = StridedView::of(out);
  int out_dims[Shape::kMaxDims];
  for (int d = 0; d < r.remaining.ndim; ++d) {
    out_dims[d] = d < r.place ? d : d + r.shape.ndim;
  }
  const StridedView to = remaining_view(all, r, out_dims);
  const int last = to.ndim - 1;
  const bool rows = last >= 0 && from.strides[last] == 1 && to.strides[last] == 1 &&
                    to.sizes[last] * to.element_size >= 32;
  if (rows) {
    std::atomic<int64_t> wrong{-1};
    const int64_t grain = std::max<int64_t>(1, kThreadGrain / std::max<int64_t>(1, to.numel()));
    const auto copy_rows = [&](int64_t first, int64_t end) {
      StridedView source = from, target = to;
      const auto copy = [&](int64_t offset, int64_t out_offset) {
        source.data = from.data + offset * from.element_size;
        target.data = to.data + out_offset * to.element_size;
        copy_view(source, target);
      };
      const int64_t size = visit_tuples(self, r, all.strides + r.place, first, end, copy);
      if (size >= 0) {
        wrong.store(size);
      }
    };
    ::executorch::extension::parallel_for(0, r.shape.numel(), grain, copy_rows);
    if (wrong.load() >= 0) {
      fail_index(call, wrong.load());
    }
    return out;
  }
  ::executorch::runtime::dispatch_by_element_size(out.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    TupleCopies<T> copies(from, to);
    for_each_tuple(call, self, r, all.strides + r.place,
                   [&](int64_t offset, int64_t out_offset) { copies.add(offset, out_offset); });
    copies.flush();
  });
  return out;
}

namespace {

constexpr int64_t kAddedAtOnce = 64;

// to[i] += from[i] along a line of n, in the compute type C.
template <typename C>
void accumulate_line(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t n,
                     ScalarType type) {
  if (type == ::executorch::runtime::CppTypeToScalarType<C>::value && from_stride == 1 &&
      to_stride == 1) {
    const auto* added = reinterpret_cast<const C*>(from);
    auto* sums = reinterpret_cast<C*>(to);
    for (int64_t i = 0; i < n; ++i) {
      sums[i] = wrap_add(added[i], sums[i]);
    }
    return;
  }
  const LoadRun load = loader(type, compute_type_v<C>);
  const StoreRun store = storer(compute_type_v<C>, type);
  const auto size = static_cast<int64_t>(::executorch::runtime::elementSize(type));
  const int64_t at_once = to_stride == 1 ? kAddedAtOnce : 1;
  for (int64_t i = 0; i < n; i += at_once) {
    const int64_t count = std::min(n - i, at_once);
    char* target = to + i * to_stride * size;
    C added[kAddedAtOnce], sum[kAddedAtOnce];
    load(from + i * from_stride * size, from_stride, count, added);
    load(target, 1, count, sum);
    for (int64_t k = 0; k < count; ++k) {
      sum[k] = wrap_add(added[k], sum[k]);
    }
    store(sum, count, target);
  }
}

// to[i] += from[i]
template <typename C>
void accumulate_view(const StridedView& from, const StridedView& to, ScalarType type) {
  const int last = std::max(to.ndim - 1, 0);
  const int64_t n = to.ndim == 0 ? 1 : to.sizes[last];
  Odometer<2> odometer(last, to.sizes);
  odometer.set_strides(0, from.strides);
  odometer.set_strides(1, to.strides);
  const int64_t lines = n == 0 ? 0 : to.numel() / n;
  for (int64_t i = 0; i < lines; ++i, odometer.next()) {
    accumulate_line<C>(from.data + odometer.offset(0) * from.element_size,
                       to.ndim == 0 ? 0 : from.strides[last],
                       to.data + odometer.offset(1) * to.element_size,
                       to.ndim == 0 ? 1 : to.strides[last], n, type);
  }
}

// Positions [begin, end) of the last dimension; all of a view without dimensions.
StridedView columns_of(StridedView view, int64_t begin, int64_t end) {
  if (view.ndim > 0) {
    view.data += begin * view.strides[view.ndim - 1] * view.element_size;
    view.sizes[view.ndim - 1] = end - begin;
  }
  return view;
}

void put(const OpCall& call, OptionalTensors indices, const Tensor& values, bool accumulate,
         Tensor& out) {
  Resolved r;
  Shape shape;
  if (!check_same_dtype(call, "values", values, "self", out) || !resolve(call, out, indices, r) ||
      !result_shape(call, r, shape)) {
    return;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, broadcasts_to(Shape(values), shape), InvalidArgument, ,
                      "%s: expected values to broadcast to %s, found %s", call.op,
                      ShapeText(shape).text, ShapeText(values).text);
  const bool is_number = is_computable(out.scalar_type()) || is_complex(out.scalar_type());
  ET_KERNEL_CHECK_MSG(call.ctx, !accumulate || is_number, InvalidArgument, ,
                      "%s: expected a number type to accumulate, found %s", call.op,
                      ::executorch::runtime::toString(out.scalar_type()));
  StridedView source = StridedView::of(values);
  while (source.ndim < shape.ndim) {
    source = source.inserted(0, 1, 0);
  }
  for (int d = 0; d < shape.ndim; ++d) {
    source.strides[d] = source.sizes[d] == shape[d] ? source.strides[d] : 0;
  }
  int source_dims[Shape::kMaxDims];
  for (int d = 0; d < r.remaining.ndim; ++d) {
    source_dims[d] = d < r.place ? d : d + r.shape.ndim;
  }
  StridedView from = remaining_view(source, r, source_dims);
  StridedView to = remaining_view(StridedView::of(out), r, r.remaining_dims);
  const int64_t* const source_strides = source.strides + r.place;
  // Indices are checked first, so that a failing call leaves out as it was.
  if (!for_each_tuple(call, out, r, source_strides, [](int64_t, int64_t) {})) {
    return;
  }
  const auto visit = [&](StridedView values_at, StridedView out_at, const auto& each) {
    char* const values_base = values_at.data;
    char* const out_base = out_at.data;
    visit_tuples(out, r, source_strides, 0, r.shape.numel(), [&](int64_t offset, int64_t at) {
      values_at.data = values_base + at * values_at.element_size;
      out_at.data = out_base + offset * out_at.element_size;
      each(values_at, out_at);
    });
  };
  if (!accumulate) {
    return visit(from, to, copy_view);
  }
  const bool complex = ::executorch::runtime::isComplexType(out.scalar_type());
  const auto type =
      complex ? ::executorch::runtime::toRealValueType(out.scalar_type()) : out.scalar_type();
  with_compute_type(compute_type_of(type), [&](auto zero) {
    using C = decltype(zero);
    const auto add = [&](int64_t begin, int64_t end) {
      visit(columns_of(from, begin, end), columns_of(to, begin, end),
            [&](const StridedView& values_at, const StridedView& out_at) {
              complex ? accumulate_view<C>(values_at.parts(), out_at.parts(), type)
                      : accumulate_view<C>(values_at, out_at, type);
            });
    };
    const int64_t columns = to.ndim == 0 ? 1 : to.sizes[to.ndim - 1];
    const int64_t lines = r.shape.numel() * to.numel() / std::max<int64_t>(1, columns);
    parallel_for_columns(columns, lines, add);
  });
}

}  // namespace

Tensor& index_put_out(KernelRuntimeContext& ctx, const Tensor& self, OptionalTensors indices,
                      const Tensor& values, bool accumulate, Tensor& out) {
  const OpCall call{ctx, "index_put.out"};
  if (check_same_dtype(call, "out", out, "self", self) && resize_output(call, out, Shape(self)) &&
      copy_converted(call, self, out)) {
    put(call, indices, values, accumulate, out);
  }
  return out;
}

Tensor& index_put_(KernelRuntimeContext& ctx, Tensor& self, OptionalTensors indices,
                   const Tensor& values, bool accumulate) {
  put({ctx, "index_put_"}, indices, values, accumulate, self);
  return self;
}

}  // namespace torch::executor::native
