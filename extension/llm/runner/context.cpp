// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/context.h>

#include <algorithm>
#include <cinttypes>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension::llm {

using runtime::Error;

Context::Context(const std::unordered_map<std::string, int64_t>& metadata)
    : length_(constant_of(metadata, kMaxContextLen, 128)),
      keeps_all_positions_(constant_of(metadata, kKeepsAllPositions,
                                       constant_of(metadata, kMaxSeqLen, 128) >= length_) != 0) {}

Error Context::check_room(size_t num_tokens) const {
  ET_CHECK_OR_RETURN_ERROR(
      occupied() + static_cast<int64_t>(num_tokens) < length_, InvalidArgument,
      "The context is full: expected fewer than %" PRId64 " tokens, found %" PRId64
      " in it and %zu in the prompt. Shorten the prompt, call reset(), or export with a larger "
      "max_context_length",
      length_, occupied(), num_tokens);
  return Error::Ok;
}

Error Context::rewind(int64_t position) {
  ET_CHECK_OR_RETURN_ERROR(position >= 0 && position <= size(), InvalidArgument,
                           "Expected a position from 0 to %" PRId64
                           ", the tokens of the context, got %" PRId64,
                           size(), position);
  ET_CHECK_OR_RETURN_ERROR(
      position == 0 || position == size() || keeps_all_positions_, NotSupported,
      "The caches do not keep all of the %" PRId64 " positions: reset() and begin anew", size());
  resize(position);
  return Error::Ok;
}

void Context::append_prompt(const std::vector<uint64_t>& tokens, int64_t most) {
  const auto count = static_cast<int64_t>(tokens.size());
  const int64_t calls = (count + most - 1) / most;
  if (exact_ == size() && calls > 0 && count / calls >= kMinPromptCall) {
    exact_ += count;
  }
  append(tokens);
}

void Context::resize(int64_t size) {
  ids_.resize(static_cast<size_t>(size), kNoToken);
  exact_ = std::min(exact_, size);
}

int64_t Context::shared_beginning(const std::vector<uint64_t>& tokens, bool exact) const {
  const int64_t room = static_cast<int64_t>(tokens.size()) - (exact ? kMinPromptCall : 1);
  const int64_t most = std::min(exact ? exact_ : size(), room);
  int64_t shared = 0;
  while (shared < most &&
         ids_[static_cast<size_t>(shared)] == tokens[static_cast<size_t>(shared)]) {
    ++shared;
  }
  return shared < size() && !keeps_all_positions_ ? 0 : shared;
}

int64_t next_call(int64_t count, int64_t most) {
  const int64_t calls = (count + most - 1) / most;
  return (count + calls - 1) / calls;
}

}  // namespace executorch::extension::llm
