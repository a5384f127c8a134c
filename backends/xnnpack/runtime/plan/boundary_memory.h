// SPDX-License-Identifier: BSD-3-Clause
// Memory for the values that lie between the segments of a plan.
#pragma once

#include <executorch/backends/xnnpack/runtime/plan/segments.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace executorch::backends::xnnpack {

/// Values whose lives do not overlap share memory. One thread at a time.
class BoundaryMemory final {
 public:
  /// For these shapes, by value id. MemoryAllocationFailed when there is not as much.
  runtime::Error plan(const Graph& graph, const std::vector<Segment>& segments,
                      const Shapes& shapes);

  /// Of a value between segments, with the bytes behind it that XNNPACK may read; null for others.
  /// Valid until the next plan().
  void* data(uint32_t value) const {
    return offsets_[value] == kNone ? nullptr : bytes_.get() + offsets_[value];
  }

  /// All of it.
  size_t size() const { return size_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Free {
    void operator()(uint8_t* bytes) const;
  };

  std::vector<size_t> offsets_;  // by value id
  std::unique_ptr<uint8_t[], Free> bytes_;
  size_t size_ = 0;
};

}  // namespace executorch::backends::xnnpack
