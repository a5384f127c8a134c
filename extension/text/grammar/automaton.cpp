// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/text/grammar/automaton.h>

#include <algorithm>
#include <set>

namespace executorch::extension::llm {

namespace {

constexpr Automaton::State kUnknown = -2;
constexpr size_t kMaxStacks = 1 << 16;

}  // namespace

Automaton::Automaton(Grammar grammar) : grammar_(std::move(grammar)) {
  frames_.push_back({-1, -1});
  Stacks stacks;
  for (const int32_t begin : grammar_.rules[static_cast<size_t>(grammar_.root)]) {
    enter(begin, 0, stacks);
  }
  start_ = state(std::move(stacks));
}

int32_t Automaton::frame(int32_t position, int32_t parent) {
  const auto [found, is_new] =
      frame_ids_.try_emplace({position, parent}, static_cast<int32_t>(frames_.size()));
  if (is_new) {
    frames_.push_back({position, parent});
  }
  return found->second;
}

Automaton::State Automaton::state(Stacks stacks) {
  if (stacks.empty()) {
    return kDead;
  }
  std::sort(stacks.begin(), stacks.end());
  stacks.erase(std::unique(stacks.begin(), stacks.end()), stacks.end());
  const auto [found, is_new] = state_ids_.try_emplace(stacks, static_cast<State>(states_.size()));
  if (is_new) {
    states_.push_back({std::move(stacks), nullptr});
  }
  return found->second;
}

// All stacks that `position`, with `parent` behind it, comes to before the next byte.
void Automaton::enter(int32_t position, int32_t parent, Stacks& stacks) {
  std::vector<Frame> open = {{position, parent}};
  std::set<Frame> seen;  // rules of no byte may come round
  while (!open.empty()) {
    const auto [at, behind] = open.back();
    open.pop_back();
    if (!seen.insert({at, behind}).second) {
      continue;
    }
    if (seen.size() > kMaxStacks) {
      is_too_ambiguous_ = true;
      return;
    }
    const Symbol& symbol = grammar_.symbols[static_cast<size_t>(at)];
    if (symbol.kind == Symbol::Kind::Bytes) {
      stacks.push_back(frame(at, behind));
    } else if (symbol.kind == Symbol::Kind::Rule) {
      // What ends with a rule is not come back to: repetitions do not grow the stack.
      const bool is_last = grammar_.symbols[static_cast<size_t>(at) + 1].kind == Symbol::Kind::End;
      const int32_t next = is_last ? behind : frame(at + 1, behind);
      for (const int32_t begin : grammar_.rules[static_cast<size_t>(symbol.index)]) {
        open.push_back({begin, next});
      }
    } else if (behind == 0) {
      stacks.push_back(0);
    } else {
      open.push_back(frames_[static_cast<size_t>(behind)]);
    }
  }
}

Automaton::State Automaton::step(State from, uint8_t byte) {
  const Stacks before = states_[static_cast<size_t>(from)].stacks;
  Stacks after;
  for (const int32_t id : before) {
    if (id == 0) {
      continue;
    }
    const auto [position, parent] = frames_[static_cast<size_t>(id)];
    const Symbol& symbol = grammar_.symbols[static_cast<size_t>(position)];
    if (grammar_.sets[static_cast<size_t>(symbol.index)].test(byte)) {
      enter(position + 1, parent, after);
    }
    if (after.size() > kMaxStacks) {
      is_too_ambiguous_ = true;
      break;
    }
  }
  return state(std::move(after));
}

Automaton::State Automaton::next(State from, uint8_t byte) {
  if (from == kDead) {
    return kDead;
  }
  auto& row = states_[static_cast<size_t>(from)].next;
  if (row == nullptr) {
    row = std::make_unique<std::array<State, 256>>();
    row->fill(kUnknown);
  }
  State found = (*row)[byte];
  if (found == kUnknown) {
    found = step(from, byte);
    (*states_[static_cast<size_t>(from)].next)[byte] = found;  // states_ may have moved
  }
  return found;
}

bool Automaton::can_end(State state) const {
  return state != kDead && states_[static_cast<size_t>(state)].stacks.front() == 0;
}

bool Automaton::must_end(State state) const {
  return can_end(state) && states_[static_cast<size_t>(state)].stacks.size() == 1;
}

}  // namespace executorch::extension::llm
