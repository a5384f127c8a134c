// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/kernels/portable/index/positions.h>
#include <executorch/kernels/portable/index/tuples.h>
#include <executorch/kernels/portable/loops/temporary.h>

#include <algorithm>

namespace executorch {
namespace kernels {

namespace {

bool is_mask(const Tensor& index) {
  return index.scalar_type() == ScalarType::Bool || index.scalar_type() == ScalarType::Byte;
}

int64_t count_true(const Tensor& mask) {
  const uint8_t* values = static_cast<const uint8_t*>(mask.const_data_ptr());
  return mask.numel() - std::count(values, values + mask.numel(), uint8_t{0});
}

// The positions of true elements of a mask, in its logical order and in temporary memory: `count`
// numbers for each of its dimensions. Null without memory.
const int64_t* mask_positions(const OpCall& call, const Tensor& mask, int64_t count) {
  const StridedView all = StridedView::of(mask);
  const size_t bytes =
      static_cast<size_t>(count > 0 ? count : 1) * static_cast<size_t>(all.ndim) * sizeof(int64_t);
  auto* const positions = static_cast<int64_t*>(try_temporary(call, bytes, alignof(int64_t)));
  if (positions == nullptr) {
    return nullptr;
  }
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

// Whether a mask has the sizes of the dimensions of `self` from `dim` on.
bool covers(const Tensor& mask, const Tensor& self, int dim) {
  for (int d = 0; d < mask.dim(); ++d) {
    if (mask.sizes()[d] != self.sizes()[dim + d]) {
      return false;
    }
  }
  return true;
}

// Whether element `number` of a mask, in its logical order, is true.
bool is_true(const Tensor& mask, int64_t number) {
  const auto* values = static_cast<const uint8_t*>(mask.const_data_ptr());
  int64_t offset = 0;
  for (int64_t d = mask.dim() - 1; d >= 0; --d) {
    offset += number % mask.sizes()[d] * mask.strides()[d];
    number /= mask.sizes()[d];
  }
  return values[offset] != 0;
}

// The position in dimension `dim` of element `number` of a mask.
int64_t position_in(const Tensor& mask, int64_t number, int dim) {
  for (int64_t d = mask.dim() - 1; d > dim; --d) {
    number /= mask.sizes()[d];
  }
  return number % mask.sizes()[dim];
}

// offsets[i] += index[i] * step; false when an index is out of [-size, size).
template <typename Index>
bool add_indices(const Index* index, int64_t stride, int64_t n, int64_t size, int64_t step,
                 int64_t* offsets) {
  bool all_fit = true;
  for (int64_t i = 0; i < n; ++i) {
    int64_t position = index[i * stride];
    position += position < 0 ? size : 0;
    const bool fits = position >= 0 && position < size;
    all_fit = all_fit && fits;
    offsets[i] += (fits ? position : 0) * step;
  }
  return all_fit;
}

}  // namespace

IndexTuples::Index& IndexTuples::add(const Tensor& self, int dim) {
  Index& index = indices_[count_++];
  index.dim = dim;
  index.size = self.sizes()[dim];
  index.step = self.strides()[dim];
  index.data = nullptr;
  index.mask = nullptr;
  return index;
}

bool IndexTuples::take_mask(const OpCall& call, const Tensor& self, const Tensor& mask, int dim,
                            Shape* own) {
  ET_KERNEL_CHECK_MSG(call.ctx, covers(mask, self, dim), InvalidArgument, false,
                      "%s: expected a mask with the sizes of what it indexes, %s from "
                      "dimension %d on, found %s",
                      call.op, ShapeText(self).text, dim, ShapeText(mask).text);
  const int64_t count = count_true(mask);
  const int64_t* positions = mask_positions(call, mask, count);
  for (int d = 0; d < mask.dim(); ++d) {
    own[d].push(count);
    Index& index = add(self, dim + d);
    if (positions == nullptr) {
      index.mask = &mask;
      index.mask_dim = d;
    } else {
      index.data = reinterpret_cast<const char*>(positions + d * count);
    }
    index.type = ScalarType::Long;
    index.strides[0] = 1;
  }
  return true;
}

bool IndexTuples::take_positions(const OpCall& call, const Tensor& self, const Tensor& positions,
                                 int dim, Shape* own) {
  if (!check_index_dtype(call, positions)) {
    return false;
  }
  *own = Shape(positions);
  Index& index = add(self, dim);
  index.data = static_cast<const char*>(positions.const_data_ptr());
  index.type = positions.scalar_type();
  std::copy_n(positions.strides().begin(), positions.dim(), index.strides);
  return true;
}

bool IndexTuples::resolve(const OpCall& call, const Tensor& self, OptionalTensors indices) {
  Shape own[Shape::kMaxDims];
  int next_dim = 0;
  bool gap = false;
  bool adjacent = true;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].has_value()) {
      gap = gap || count_ > 0;
      ++next_dim;
      continue;
    }
    const Tensor& index = *indices[i];
    adjacent = adjacent && !gap;
    const int covered = is_mask(index) ? static_cast<int>(index.dim()) : 1;
    ET_KERNEL_CHECK_MSG(call.ctx, next_dim + covered <= self.dim() && covered > 0, InvalidArgument,
                        false, "%s: expected indices for at most the %d dims of self, found more",
                        call.op, static_cast<int>(self.dim()));
    Shape* const next = own + count_;
    const bool taken = is_mask(index) ? take_mask(call, self, index, next_dim, next)
                                      : take_positions(call, self, index, next_dim, next);
    if (!taken || !broadcast_shapes(call, shape_, *next, shape_)) {
      return false;
    }
    next_dim += covered;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, next_dim <= self.dim(), InvalidArgument, false,
                      "%s: expected at most %d indices, found %zu", call.op,
                      static_cast<int>(self.dim()), indices.size());
  for (int k = 0; k < count_; ++k) {
    int64_t strides[Shape::kMaxDims];
    const int lead = shape_.ndim - own[k].ndim;
    for (int d = 0; d < shape_.ndim; ++d) {
      strides[d] = broadcast_stride(own[k], indices_[k].strides, d - lead);
    }
    std::copy_n(strides, shape_.ndim, indices_[k].strides);
  }
  for (int d = 0, k = 0; d < self.dim(); ++d) {
    if (k < count_ && indices_[k].dim == d) {
      ++k;
      continue;
    }
    row_dims_[row_.ndim] = d;
    row_.push(self.sizes()[d]);
  }
  place_ = adjacent && count_ > 0 ? indices_[0].dim : 0;
  return true;
}

bool IndexTuples::result_shape(const OpCall& call, Shape& shape) const {
  ET_KERNEL_CHECK_MSG(call.ctx, shape_.ndim + row_.ndim <= Shape::kMaxDims, InvalidArgument, false,
                      "%s: expected a result of at most %d dims, found more", call.op,
                      Shape::kMaxDims);
  for (int d = 0; d < place_; ++d) {
    shape.push(row_[d]);
  }
  for (int d = 0; d < shape_.ndim; ++d) {
    shape.push(shape_[d]);
  }
  for (int d = place_; d < row_.ndim; ++d) {
    shape.push(row_[d]);
  }
  return true;
}

StridedView IndexTuples::row_of_self(const StridedView& self) const {
  return row(self, row_dims_);
}

StridedView IndexTuples::row_of_result(const StridedView& result) const {
  int dims[Shape::kMaxDims];
  for (int d = 0; d < row_.ndim; ++d) {
    dims[d] = d < place_ ? d : d + shape_.ndim;
  }
  return row(result, dims);
}

StridedView IndexTuples::row(const StridedView& view, const int* dims) const {
  StridedView row = view;
  row.ndim = row_.ndim;
  for (int d = 0; d < row_.ndim; ++d) {
    row.sizes[d] = row_[d];
    row.strides[d] = view.strides[dims[d]];
  }
  return row;
}

TupleBlocks::TupleBlocks(const IndexTuples& tuples, const StridedView& result, int64_t first,
                         int64_t last)
    : tuples_(tuples),
      result_strides_(result.strides + tuples.place_),
      lines_(std::max(tuples.shape_.ndim - 1, 0), tuples.shape_.sizes),
      line_(tuples.shape_.ndim == 0 ? 1 : tuples.shape_[tuples.shape_.ndim - 1]),
      at_(line_ == 0 ? 0 : first % line_),
      left_(last - first) {
  lines_.set_strides(0, result_strides_);
  lines_.seek(line_ == 0 ? 0 : first / line_);
}

bool TupleBlocks::next() {
  count_ = 0;
  while (left_ > 0 && count_ < kMax) {
    const int64_t n = std::min({line_ - at_, left_, int64_t{kMax - count_}});
    if (!add_line(n)) {
      return false;
    }
    count_ += static_cast<int>(n);
    left_ -= n;
    at_ += n;
    if (at_ == line_) {
      at_ = 0;
      lines_.next();
    }
  }
  return count_ > 0;
}

// Without a list of positions: looks through the mask, from where the last tuple was found.
void TupleBlocks::find_in_mask(const IndexTuples::Index& index, MaskPlace& place, int64_t start,
                               int64_t stride, int64_t n, int64_t* offsets) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t wanted = start + i * stride;
    if (wanted < place.ordinal) {
      place = MaskPlace();
    }
    while (place.ordinal < wanted) {
      place.ordinal += is_true(*index.mask, ++place.element) ? 1 : 0;
    }
    offsets[i] += position_in(*index.mask, place.element, index.mask_dim) * index.step;
  }
}

// The next n tuples, all of one line.
bool TupleBlocks::add_line(int64_t n) {
  const int last = tuples_.shape_.ndim - 1;
  const int64_t result_stride = last < 0 ? 0 : result_strides_[last];
  int64_t* const offsets = self_offsets_ + count_;
  for (int64_t i = 0; i < n; ++i) {
    result_offsets_[count_ + i] = lines_.offset(0) + (at_ + i) * result_stride;
    offsets[i] = 0;
  }
  for (int k = 0; k < tuples_.count_; ++k) {
    const IndexTuples::Index& index = tuples_.indices_[k];
    const int64_t stride = last < 0 ? 0 : index.strides[last];
    int64_t start = at_ * stride;
    for (int d = 0; d < last; ++d) {
      start += lines_.index()[d] * index.strides[d];
    }
    if (index.mask != nullptr) {
      find_in_mask(index, masks_[k], start, stride, n, offsets);
      continue;
    }
    const bool fit = index.type == ScalarType::Long
                         ? add_indices(reinterpret_cast<const int64_t*>(index.data) + start, stride,
                                       n, index.size, index.step, offsets)
                         : add_indices(reinterpret_cast<const int32_t*>(index.data) + start, stride,
                                       n, index.size, index.step, offsets);
    if (!fit) {
      wrong_size_ = index.size;
      return false;
    }
  }
  return true;
}

}  // namespace kernels
}  // namespace executorch
