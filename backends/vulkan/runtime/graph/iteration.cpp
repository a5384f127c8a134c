// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/graph/iteration.h>

namespace executorch::backends::vulkan {

void dense_strides(const Shape& shape, int32_t (&out)[kMaxRank]) {
  int64_t stride = 1;
  for (size_t dim = shape.rank; dim-- > 0;) {
    out[dim] = static_cast<int32_t>(stride);
    stride *= shape[dim];
  }
}

bool broadcast(const Shape& a, const Shape& b, Shape& out) {
  Shape found;
  found.rank = a.rank > b.rank ? a.rank : b.rank;
  for (size_t i = 0; i < found.rank; ++i) {
    const int32_t left = i < a.rank ? a[a.rank - 1 - i] : 1;
    const int32_t right = i < b.rank ? b[b.rank - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) {
      return false;
    }
    found[found.rank - 1 - i] = left == 1 ? right : left;
  }
  out = found;
  return true;
}

Iteration& Iteration::add(const Shape& operand) {
  int32_t dense[kMaxRank] = {};
  dense_strides(operand, dense);
  const size_t missing = shape_.rank - operand.rank;
  for (size_t dim = 0; dim < shape_.rank; ++dim) {
    const bool is_there = dim >= missing && operand[dim - missing] != 1;
    strides_[num_operands_][dim] = is_there ? dense[dim - missing] : 0;
  }
  ++num_operands_;
  return *this;
}

Iteration& Iteration::add(const int32_t* strides, int64_t offset) {
  for (size_t dim = 0; dim < shape_.rank; ++dim) {
    strides_[num_operands_][dim] = strides[dim];
  }
  offsets_[num_operands_++] = offset;
  return *this;
}

Iteration& Iteration::merge() {
  size_t last = 0;  // dimensions that are kept
  for (size_t dim = 0; dim < shape_.rank; ++dim) {
    if (shape_[dim] == 1) {
      continue;
    }
    bool is_behind = last > 0;
    for (size_t i = 0; i < num_operands_ && is_behind; ++i) {
      is_behind = strides_[i][last - 1] == static_cast<int64_t>(strides_[i][dim]) * shape_[dim];
    }
    const size_t place = is_behind ? last - 1 : last;
    shape_[place] = is_behind ? shape_[place] * shape_[dim] : shape_[dim];
    for (size_t i = 0; i < num_operands_; ++i) {
      strides_[i][place] = strides_[i][dim];
    }
    last = place + 1;
  }
  shape_.rank = last;
  return *this;
}

}  // namespace executorch::backends::vulkan
