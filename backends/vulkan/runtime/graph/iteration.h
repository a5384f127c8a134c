// SPDX-License-Identifier: BSD-3-Clause
// A walk over the elements of several tensors at a time: sizes, and each tensor's strides.
#pragma once

#include <executorch/backends/vulkan/runtime/payload.h>

#include <cstdint>

namespace executorch::backends::vulkan {

constexpr size_t kMaxOperands = 4;

/// Strides of a dense tensor, in elements.
void dense_strides(const Shape& shape, int32_t (&out)[kMaxRank]);

/// Sizes that `a` and `b` have together when dimensions of one element are repeated; false when
/// they do not go together.
bool broadcast(const Shape& a, const Shape& b, Shape& out);

/// At most kMaxRank dimensions of up to kMaxOperands tensors. Dimensions that stand behind each
/// other in all of them are made one.
class Iteration {
 public:
  Iteration() = default;
  explicit Iteration(const Shape& shape) : shape_(shape) {}

  /// Adds a tensor: dense, its sizes repeated to the iteration's.
  Iteration& add(const Shape& operand);
  /// Adds one with strides of its own, and where it begins.
  Iteration& add(const int32_t* strides, int64_t offset);
  /// Makes it as few dimensions as possible.
  Iteration& merge();

  int64_t numel() const { return shape_.numel(); }
  const Shape& shape() const { return shape_; }
  size_t num_operands() const { return num_operands_; }
  const int32_t (&strides(size_t operand) const)[kMaxRank] { return strides_[operand]; }
  int64_t offset(size_t operand) const { return offsets_[operand]; }

 private:
  Shape shape_;
  size_t num_operands_ = 0;
  int32_t strides_[kMaxOperands][kMaxRank] = {};
  int64_t offsets_[kMaxOperands] = {};
};

}  // namespace executorch::backends::vulkan
