// SPDX-License-Identifier: BSD-3-Clause
// Memory for the values that lie between the segments of a plan.
#pragma once

#include <executorch/backends/xnnpack/runtime/plan/segments.h>

#include <cstdint>
#include <vector>

namespace executorch::backends::xnnpack {

/// Where each lies in a block that the delegates of a workspace share: nothing is kept there
/// between runs. Values whose lives do not overlap share memory. One thread at a time.
class BoundaryMemory final {
 public:
  /// For these shapes, by value id.
  void plan(const Graph& graph, const std::vector<Segment>& segments, const Shapes& shapes);

  /// Of a value between segments in `block`, with the bytes behind it that XNNPACK may read; null
  /// for others.
  void* data(uint32_t value, void* block) const {
    return offsets_[value] == kNone ? nullptr : static_cast<uint8_t*>(block) + offsets_[value];
  }

  /// Bytes of the block.
  size_t size() const { return size_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  std::vector<size_t> offsets_;  // by value id
  size_t size_ = 0;
};

}  // namespace executorch::backends::xnnpack
