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

  // The first ones that came of a prompt's calls: keys and values bit for bit those of any other
  // computation of them. Calls of less than kMinPromptCall tokens sum in another order, which is as
  // near, but not the same; so do those of an answer's single tokens.
  int64_t exact() const { return exact_; }
  static constexpr int64_t kMinPromptCall = 16;

  void append(uint64_t token) { ids_.push_back(token); }
  void append(const std::vector<uint64_t>& tokens) {
    ids_.insert(ids_.end(), tokens.begin(), tokens.end());
  }
  // Those of a prompt, in calls of no more than `most`.
  void append_prompt(const std::vector<uint64_t>& tokens, int64_t most);
  // To so many positions: less forgets the last ones, more are kNoToken.
  void resize(int64_t size);
  void assign(std::vector<uint64_t> ids) {
    ids_ = std::move(ids);
    exact_ = 0;
  }
  void clear() { resize(0); }

  // Forgets what follows the first `position` tokens. InvalidArgument if there are fewer;
  // NotSupported, but to 0, where not all positions are kept.
  ET_NODISCARD runtime::Error rewind(int64_t position);

  // How many tokens of `tokens`, of which one at least is left to compute, it begins with and can
  // go back to; with `exact` those only, and so many are left to compute, that what follows is as
  // if all were computed.
  int64_t shared_beginning(const std::vector<uint64_t>& tokens, bool exact = false) const;

 private:
  int64_t length_;
  bool keeps_all_positions_;
  std::vector<uint64_t> ids_;
  int64_t exact_ = 0;
};

// How many of `count` tokens the next call takes, so that all calls of no more than `most` are of
// about the same number.
int64_t next_call(int64_t count, int64_t most);

}  // namespace executorch::extension::llm
