// SPDX-License-Identifier: BSD-3-Clause
// The index tensors of self[indices], broadcast against each other (what PyTorch calls advanced
// indexing): a tuple of indices for each element of their common shape.
#pragma once

#include <cstdint>
#include <optional>

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>

namespace executorch {
namespace kernels {

using OptionalTensors = ArrayRef<std::optional<Tensor>>;

class IndexTuples {
 public:
  // Checks dtypes, ranks and shapes; the indices themselves are checked by TupleBlocks. Masks
  // become positions in each of their dimensions, in temporary memory of the call; without that,
  // they are looked through. `indices` stay where they are as long as this is used.
  bool resolve(const OpCall& call, const Tensor& self, OptionalTensors indices);

  int64_t count() const { return shape_.numel(); }
  // The shape of self[indices]: dimensions of the indices stand in the place of those they index
  // when these are neighbours, and else come first.
  bool result_shape(const OpCall& call, Shape& shape) const;
  // What lies at one tuple: the dimensions without an index, of self and of self[indices].
  StridedView row_of_self(const StridedView& self) const;
  StridedView row_of_result(const StridedView& result) const;

 private:
  friend class TupleBlocks;

  // The index of one dimension of self; strides over the common shape.
  struct Index {
    const char* data;
    const Tensor* mask;  // instead of data, where there is no memory for positions
    int mask_dim;        // of the mask's dimensions, this index
    ScalarType type;
    int dim;
    int64_t size;  // of that dimension
    int64_t step;  // its stride
    int64_t strides[Shape::kMaxDims];
  };

  // `own`: where the shapes go that the next indices have before they are broadcast.
  bool take_mask(const OpCall& call, const Tensor& self, const Tensor& mask, int dim, Shape* own);
  bool take_positions(const OpCall& call, const Tensor& self, const Tensor& index, int dim,
                      Shape* own);
  Index& add(const Tensor& self, int dim);
  StridedView row(const StridedView& view, const int* dims) const;

  int count_ = 0;
  Index indices_[Shape::kMaxDims];
  Shape shape_;  // common
  Shape row_;    // sizes of the dimensions without an index
  int row_dims_[Shape::kMaxDims];
  int place_ = 0;  // of the common shape in the result
};

// Tuples in order, checked and turned into offsets, a block of them at a time:
//   for (TupleBlocks block(tuples, result, first, last); block.next();) ...
class TupleBlocks {
 public:
  static constexpr int kMax = 128;

  // Tuples [first, last); `result` gives the strides of self[indices].
  TupleBlocks(const IndexTuples& tuples, const StridedView& result, int64_t first, int64_t last);

  // False at the end, and when an index of the block is wrong.
  bool next();
  // The size that a wrong index is none of, -1 when none was wrong.
  int64_t wrong_size() const { return wrong_size_; }

  int count() const { return count_; }
  // In elements: where the rows of the block lie in self and in self[indices].
  const int64_t* self_offsets() const { return self_offsets_; }
  const int64_t* result_offsets() const { return result_offsets_; }

 private:
  // The last true element of a mask that was found, and which of the true ones it is.
  struct MaskPlace {
    int64_t element = -1;
    int64_t ordinal = -1;
  };

  bool add_line(int64_t n);
  static void find_in_mask(const IndexTuples::Index& index, MaskPlace& place, int64_t start,
                           int64_t stride, int64_t n, int64_t* offsets);

  const IndexTuples& tuples_;
  const int64_t* result_strides_;
  Odometer<1> lines_;  // the common shape but for its last dimension
  int64_t line_;       // size of that
  int64_t at_;         // in the line
  int64_t left_;       // tuples
  int64_t wrong_size_ = -1;
  int count_ = 0;
  MaskPlace masks_[Shape::kMaxDims];  // of each index
  int64_t self_offsets_[kMax];
  int64_t result_offsets_[kMax];
};

}  // namespace kernels
}  // namespace executorch
