// SPDX-License-Identifier: BSD-3-Clause
// Automaton: where texts of a grammar can go on, byte by byte.
//
// A place in a text is a set of stacks of grammar positions. Sets and the steps between them are
// kept once they have been computed, so that a text that comes again costs one look-up per byte.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <executorch/extension/text/grammar/grammar.h>

namespace executorch::extension::llm {

// Threads: one at a time.
class Automaton {
 public:
  using State = int32_t;
  static constexpr State kDead = -1;  // no text of the grammar goes on so

  explicit Automaton(Grammar grammar);

  State start() const { return start_; }
  State next(State state, uint8_t byte);

  // Whether the text may end here; whether it must.
  bool can_end(State state) const;
  bool must_end(State state) const;

  // Whether a place had more stacks than the engine follows: then some texts are not found.
  bool is_too_ambiguous() const { return is_too_ambiguous_; }

 private:
  // The symbol that comes next, and the frame that follows its rule; frame 0 is the end of all.
  using Frame = std::pair<int32_t, int32_t>;
  using Stacks = std::vector<int32_t>;  // frames at a set of bytes, or 0; sorted
  struct Row {
    Stacks stacks;
    std::unique_ptr<std::array<State, 256>> next;
  };

  int32_t frame(int32_t position, int32_t parent);
  State state(Stacks stacks);
  void enter(int32_t position, int32_t parent, Stacks& stacks);
  State step(State state, uint8_t byte);

  Grammar grammar_;
  std::vector<Frame> frames_;
  std::map<Frame, int32_t> frame_ids_;
  std::vector<Row> states_;
  std::map<Stacks, State> state_ids_;
  State start_ = kDead;
  bool is_too_ambiguous_ = false;
};

}  // namespace executorch::extension::llm
