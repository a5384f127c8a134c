// SPDX-License-Identifier: BSD-3-Clause
// The shape of a value.
#pragma once

#include <executorch/backends/xnnpack/serialization/schema_generated.h>
#include <executorch/runtime/core/error.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace executorch::backends::xnnpack {

constexpr size_t kMaxRank = 6;
/// Most elements of a value.
constexpr uint64_t kMaxElements = uint64_t{1} << 31;
/// What a node gives for "no bias".
constexpr uint32_t kNoValue = UINT32_MAX;

struct Shape {
  size_t rank = 0;
  size_t dims[kMaxRank] = {};

  /// Product of the dimensions, more than kMaxElements when it exceeds them.
  uint64_t num_elements() const;
  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }
};

}  // namespace executorch::backends::xnnpack
