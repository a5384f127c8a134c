// SPDX-License-Identifier: BSD-3-Clause
// Ids that a model wants around those of a text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace tokenizers::detail {

/// Templates, applied one after the other: ids to write, and kText where what they surround goes.
class PostProcessor {
 public:
  static constexpr uint64_t kText = UINT64_MAX;

  /// The object under "post_processor", or null. Throws BadPart.
  explicit PostProcessor(const nlohmann::json& part);

  /// Whether it writes anything.
  bool is_empty() const { return templates_.empty(); }
  std::vector<uint64_t> apply(std::vector<uint64_t> ids) const;

 private:
  std::vector<std::vector<uint64_t>> templates_;
};

}  // namespace tokenizers::detail
