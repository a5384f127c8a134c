// SPDX-License-Identifier: BSD-3-Clause
// Strided views of memory and the one fast copy between them: every kernel that only moves elements
// is a few lines that describe a view.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>

namespace executorch {
namespace kernels {

using executorch::aten::Tensor;

// Twice the limit of tensors: views may split a dimension in two (unfold, pixel_shuffle).
constexpr int kMaxViewDims = 2 * static_cast<int>(executorch::runtime::kTensorDimensionLimit);

// Sizes and strides (in elements; 0 and negative strides allowed) over memory that someone else
// owns.
struct StridedView {
  char* data;
  int ndim;
  int64_t element_size;
  int64_t sizes[kMaxViewDims];
  int64_t strides[kMaxViewDims];

  // The elements of `tensor`, dimensions in logical order. Const data is never written through a
  // view that is copied from.
  static StridedView of(const Tensor& tensor);
  // `count` elements one after the other.
  static StridedView line(char* data, int64_t element_size, int64_t count);

  int64_t numel() const;
  // The view where dimension `dim` starts at `start` and has `size` elements `step` apart. Bounds
  // are the caller's.
  StridedView sliced(int dim, int64_t start, int64_t size, int64_t step = 1) const;
  // The view without dimension `dim`, fixed at `index`.
  StridedView selected(int dim, int64_t index) const;
  // The view with a dimension (size, stride) put before dimension `dim`.
  StridedView inserted(int dim, int64_t size, int64_t stride) const;
  // Of complex numbers: their real and imaginary parts, which are a last dimension.
  StridedView parts() const;
};

// The stride of an operand's own dimension `d` under broadcasting: 0 where the operand is repeated,
// as it is along dimensions that it lacks (d < 0).
template <typename Sizes, typename Strides>
int64_t broadcast_stride(const Sizes& sizes, const Strides& strides, int64_t d) {
  return d >= 0 && sizes[d] != 1 ? strides[d] : 0;
}

// Puts a dimension (size, stride of each view) behind the last of `ndim` dimensions of two views of
// the same sizes: into that one where it goes on there in both. Returns how many there are now.
int append_dim(int ndim, int64_t* sizes, int64_t* from, int64_t* to, int64_t size,
               int64_t from_stride, int64_t to_stride);

// Copies every element of `from` to the same index of `to`: same sizes, same element size. Views
// that overlap, as when an output is an input, leave unspecified values in `to`, and nothing worse.
// Any stride pattern; runs become memcpy, transposes go by cache-sized blocks.
void copy_view(const StridedView& from, const StridedView& to);

// Writes `element` (of to.element_size bytes) to every index of `to`.
void fill_view(const void* element, const StridedView& to);

// Visits indices of a shape in order, keeping one offset per operand up to date without division.
template <int kOperands>
class Odometer {
 public:
  Odometer(int ndim, const int64_t* sizes) : ndim_(ndim), sizes_(sizes) {}

  void set_strides(int operand, const int64_t* strides) { strides_[operand] = strides; }
  int64_t offset(int operand) const { return offset_[operand]; }
  const int64_t* index() const { return index_; }

  // Steps to the next index of the dimensions below `ndim`, last one fastest.
  void next() {
    for (int d = ndim_ - 1; d >= 0; --d) {
      for (int k = 0; k < kOperands; ++k) {
        offset_[k] += strides_[k][d];
      }
      if (++index_[d] < sizes_[d]) {
        return;
      }
      index_[d] = 0;
      for (int k = 0; k < kOperands; ++k) {
        offset_[k] -= strides_[k][d] * sizes_[d];
      }
    }
  }

  // Goes to the index with this number in row-major order.
  void seek(int64_t number) {
    for (int k = 0; k < kOperands; ++k) {
      offset_[k] = 0;
    }
    for (int d = ndim_ - 1; d >= 0; --d) {
      index_[d] = sizes_[d] > 0 ? number % sizes_[d] : 0;
      number = sizes_[d] > 0 ? number / sizes_[d] : 0;
      for (int k = 0; k < kOperands; ++k) {
        offset_[k] += index_[d] * strides_[k][d];
      }
    }
  }

 private:
  int ndim_;
  const int64_t* sizes_;
  const int64_t* strides_[kOperands] = {};
  int64_t offset_[kOperands] = {};
  int64_t index_[kMaxViewDims] = {};
};

}  // namespace kernels
}  // namespace executorch
