// SPDX-License-Identifier: BSD-3-Clause
// The sizes that a vendor's library takes at an input, or has at an output: fixed, within bounds,
// some that are listed, or any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <executorch/runtime/backend/element_copy.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

constexpr int64_t kNoMaxSize = -1;

/// The sizes that a library takes or returns: any of some lists of ranges.
class PortSizes {
 public:
  /// Of one dimension; it is fixed where both are the same.
  struct Range {
    int64_t min = 0;
    int64_t max = kNoMaxSize;

    bool is_fixed() const { return min == max; }
    bool has(int64_t size) const { return size >= min && (max == kNoMaxSize || size <= max); }
    std::string text() const {
      const std::string end = max == kNoMaxSize ? "" : std::to_string(max);
      return is_fixed() ? end : std::to_string(min) + ".." + end;
    }
  };

  /// The library does not say: any sizes of any number of dimensions.
  PortSizes() = default;
  static PortSizes fixed(const std::vector<int64_t>& sizes) { return listed({sizes}); }
  static PortSizes ranges(std::vector<Range> ranges) {
    PortSizes made;
    made.choices_.push_back(std::move(ranges));
    return made;
  }
  /// One of these; none at all are any.
  static PortSizes listed(const std::vector<std::vector<int64_t>>& all) {
    PortSizes made;
    for (const std::vector<int64_t>& sizes : all) {
      made.choices_.emplace_back();
      for (const int64_t size : sizes) {
        made.choices_.back().push_back({size, size});
      }
    }
    return made;
  }

  /// Whether they are known before a run.
  bool are_fixed() const {
    return choices_.size() == 1 && std::all_of(choices_[0].begin(), choices_[0].end(),
                                               [](const auto& range) { return range.is_fixed(); });
  }
  /// Those that are fixed.
  std::vector<int64_t> sizes() const {
    std::vector<int64_t> sizes;
    for (const Range& range : choices_[0]) {
      sizes.push_back(range.min);
    }
    return sizes;
  }
  bool fit(const Elements& found) const {
    return choices_.empty() ||
           std::any_of(choices_.begin(), choices_.end(), [&](const auto& ranges) {
             return std::equal(ranges.begin(), ranges.end(), found.sizes, found.sizes + found.rank,
                               [](const auto& range, int64_t size) { return range.has(size); });
           });
  }
  /// "[1, 3, 1..8, 2..]", "one of [4] [9]"; of any, "[...]".
  std::string text() const {
    std::string text = choices_.empty() ? "[...]" : choices_.size() > 1 ? "one of" : "";
    for (const std::vector<Range>& ranges : choices_) {
      text += text.empty() ? "[" : " [";
      for (size_t i = 0; i < ranges.size(); ++i) {
        text += (i > 0 ? ", " : "") + ranges[i].text();
      }
      text += "]";
    }
    return text;
  }

 private:
  std::vector<std::vector<Range>> choices_;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
