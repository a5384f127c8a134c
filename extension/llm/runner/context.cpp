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

int64_t Context::shared_beginning(const std::vector<uint64_t>& tokens) const {
  const auto most = tokens.empty() ? 0 : std::min(ids_.size(), tokens.size() - 1);
  size_t shared = 0;
  while (shared < most && ids_[shared] == tokens[shared]) {
    ++shared;
  }
  return shared < ids_.size() && !keeps_all_positions_ ? 0 : static_cast<int64_t>(shared);
}

}  // namespace executorch::extension::llm
