// SPDX-License-Identifier: BSD-3-Clause
// Where elements that belong together lie in an output and the inputs that broadcast to it:
//
//   for (const auto [out_i, a_i, b_i] : BroadcastIndexesRange<2>(out, a, b)) { ... }
#pragma once

#include <array>
#include <cstddef>
#include <iterator>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace internal {

/// Whether both shapes are one after leading sizes of 1 are dropped.
inline bool sizes_match_ignoring_leading_1s(ArrayRef<Tensor::SizesType> lhs,
                                            ArrayRef<Tensor::SizesType> rhs) {
  const auto without_1s = [](ArrayRef<Tensor::SizesType> sizes) {
    size_t first = 0;
    while (first < sizes.size() && sizes[first] == 1) {
      ++first;
    }
    return sizes.slice(first);
  };
  return without_1s(lhs) == without_1s(rhs);
}

/// Goes through the output in the order of its memory; the inputs have any dim order and strides.
template <size_t kNumInputs>
class BroadcastIndexesIterator {
 public:
  using difference_type = ssize_t;
  using value_type = std::array<ssize_t, kNumInputs + 1>;
  using reference = const value_type&;
  using pointer = const value_type*;
  using iterator_category = std::forward_iterator_tag;

  BroadcastIndexesIterator() = default;

  template <typename... Inputs>
  explicit BroadcastIndexesIterator(const Tensor& output, const Inputs&... inputs)
      : rank_(static_cast<size_t>(output.dim())) {
    static_assert(sizeof...(Inputs) == kNumInputs, "one tensor for each input");
    ET_CHECK_MSG(rank_ <= kTensorDimensionLimit, "a tensor of %zu dimensions", rank_);
    for (size_t i = 0; i < rank_; ++i) {
      order_[i] = output.dim_order().empty() ? i : output.dim_order()[i];
      sizes_[i] = output.size(static_cast<ssize_t>(order_[i]));
    }
    size_t k = 0;
    (set_strides(output, inputs, strides_[k++]), ...);
  }

  reference operator*() const { return current_; }
  pointer operator->() const { return &current_; }

  bool operator==(const BroadcastIndexesIterator& rhs) const {
    return current_[0] == rhs.current_[0];
  }
  bool operator!=(const BroadcastIndexesIterator& rhs) const { return !(*this == rhs); }

  BroadcastIndexesIterator& operator++() {
    ++current_[0];
    for (size_t d = rank_; d-- > 0;) {
      for (size_t k = 0; k < kNumInputs; ++k) {
        current_[k + 1] += strides_[k][d];
      }
      if (++index_[d] < sizes_[d]) {
        break;
      }
      for (size_t k = 0; k < kNumInputs; ++k) {
        current_[k + 1] -= strides_[k][d] * sizes_[d];
      }
      index_[d] = 0;
    }
    return *this;
  }
  BroadcastIndexesIterator operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }

  BroadcastIndexesIterator& operator+=(difference_type n) {
    current_ = {current_[0] + n};
    ssize_t rest = current_[0];
    for (size_t d = rank_; d-- > 0;) {
      index_[d] = sizes_[d] == 0 ? 0 : rest % sizes_[d];
      rest = sizes_[d] == 0 ? 0 : rest / sizes_[d];
      for (size_t k = 0; k < kNumInputs; ++k) {
        current_[k + 1] += index_[d] * strides_[k][d];
      }
    }
    return *this;
  }
  BroadcastIndexesIterator operator+(difference_type n) const {
    auto result = *this;
    result += n;
    return result;
  }
  difference_type operator-(const BroadcastIndexesIterator& rhs) const {
    return current_[0] - rhs.current_[0];
  }

  /// The place after the last element of `output`.
  static BroadcastIndexesIterator make_end(const Tensor& output) {
    BroadcastIndexesIterator end;
    end.current_[0] = output.numel();
    return end;
  }

 private:
  void set_strides(const Tensor& output, const Tensor& input, ssize_t (&strides)[16]) {
    ET_CHECK_MSG(input.dim() <= output.dim(), "an input of %zd dimensions for an output of %zd",
                 ssize_t(input.dim()), ssize_t(output.dim()));
    const size_t missing = rank_ - static_cast<size_t>(input.dim());
    for (size_t i = 0; i < rank_; ++i) {
      const bool is_there = order_[i] >= missing;
      const ssize_t dim = static_cast<ssize_t>(order_[i]) - static_cast<ssize_t>(missing);
      strides[i] = !is_there || input.size(dim) == 1 ? 0 : stride_of(input, dim);
    }
  }
  static ssize_t stride_of(const Tensor& tensor, ssize_t dim) {
    return tensor.strides().empty() ? static_cast<ssize_t>(getTrailingDims(tensor, dim))
                                    : tensor.strides()[static_cast<size_t>(dim)];
  }

  static_assert(kTensorDimensionLimit == 16, "the arrays below");
  value_type current_{};
  size_t rank_ = 0;
  size_t order_[16] = {};   // the output's dimensions from the outermost to the innermost
  ssize_t sizes_[16] = {};  // all of these in that order
  ssize_t index_[16] = {};
  ssize_t strides_[kNumInputs == 0 ? 1 : kNumInputs][16] = {};
};

}  // namespace internal

/// Each item holds the index of an output element, then that of the element of every input. The
/// inputs broadcast to the output. Tensors without strides count as row-major. Any layout is
/// supported, whatever the second argument says.
template <size_t kNumInputs, bool support_noncontiguous_tensors = false>
class BroadcastIndexesRange {
 public:
  using iterator = internal::BroadcastIndexesIterator<kNumInputs>;

  template <typename... Inputs>
  explicit BroadcastIndexesRange(const Tensor& output, const Inputs&... inputs)
      : begin_(output, inputs...), end_(iterator::make_end(output)) {}

  iterator begin() const { return begin_; }
  iterator end() const { return end_; }

 private:
  iterator begin_;
  iterator end_;
};

}  // namespace executor
}  // namespace torch
