// SPDX-License-Identifier: BSD-3-Clause
// Context: the tokens whose keys and values a decoder's caches hold, and how many more they take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <executorch/runtime/core/error.h>

namespace executorch::extension::llm {

// Caches are never cleared: programs mask rows beyond the position, which is size(). Threads: one
// at a time.
class Context {
 public:
  // What stands for a position of an image or of sound.
  static constexpr uint64_t kNoToken = UINT64_MAX;

  // Empty. metadata: see get_llm_metadata(), whose defaults hold for what it lacks.
  explicit Context(const std::unordered_map<std::string, int64_t>& metadata);

  const std::vector<uint64_t>& ids() const { return ids_; }
  // The position of the next token.
  int64_t size() const { return static_cast<int64_t>(ids_.size()); }
  // Tokens that the caches hold at most.
  int64_t length() const { return length_; }
  // Whether each layer has a row for every position; a window or a state that is carried along
  // cannot go back.
  bool keeps_all_positions() const { return keeps_all_positions_; }
  // Positions that the next tokens cannot have; none where a window moves on.
  int64_t occupied() const { return keeps_all_positions_ ? size() : 0; }

  // InvalidArgument unless so many tokens fit, and one that follows them.
  ET_NODISCARD runtime::Error check_room(size_t num_tokens) const;

  void append(uint64_t token) { ids_.push_back(token); }
  void append(const std::vector<uint64_t>& tokens) {
    ids_.insert(ids_.end(), tokens.begin(), tokens.end());
  }
  // To so many positions: less forgets the last ones, more are kNoToken.
  void resize(int64_t size) { ids_.resize(static_cast<size_t>(size), kNoToken); }
  void assign(std::vector<uint64_t> ids) { ids_ = std::move(ids); }
  void clear() { ids_.clear(); }

  // Forgets what follows the first `position` tokens. InvalidArgument if there are fewer;
  // NotSupported, but to 0, where not all positions are kept.
  ET_NODISCARD runtime::Error rewind(int64_t position);

  // How many tokens of `tokens`, of which one at least is left to compute, it begins with and can
  // go back to.
  int64_t shared_beginning(const std::vector<uint64_t>& tokens) const;

 private:
  int64_t length_;
  bool keeps_all_positions_;
  std::vector<uint64_t> ids_;
};

}  // namespace executorch::extension::llm
