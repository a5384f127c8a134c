// SPDX-License-Identifier: BSD-3-Clause
// What a server needs of an engine: several conversations over one set of weights. Interfaces only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::llm {

// Fields at their defaults are left to the implementation; others that it does not serve are
// refused.
struct SamplingConfig {
  float temperature = -1.0f;
  float top_p = 1.0f;
  int32_t top_k = 0;
  uint64_t seed = 0;
};

struct DecodeResult {
  uint64_t token_id = 0;
  std::string text_piece;    // may end within a UTF-8 character
  bool is_eos = false;       // then it is terminal, too
  bool is_terminal = false;  // nothing follows before the next prefill_tokens() or reset()
};

struct LLMServingCapacity {
  int32_t max_physical_sessions_without_weight_duplication = 1;
  int64_t estimated_bytes_per_session = 0;  // 0: unknown
};

// One conversation. Threads: one at a time, but stop(). After an error of prefill_tokens() or
// decode_one() only reset() that returns Ok makes it usable again.
class LLMSession {
 public:
  virtual ~LLMSession() = default;

  // Appends tokens, one at least, which must fit into the context.
  ET_NODISCARD virtual ::executorch::runtime::Error prefill_tokens(
      const std::vector<uint64_t>& tokens, const SamplingConfig* initial_sampling = nullptr) = 0;

  // The next token. After stop(): no token, terminal, and the position stays.
  ET_NODISCARD virtual ::executorch::runtime::Result<DecodeResult> decode_one(
      const SamplingConfig& sampling) = 0;

  // Tokens of the context.
  virtual int64_t position() const = 0;

  // Forgets the context.
  ET_NODISCARD virtual ::executorch::runtime::Error reset() = 0;

  // Acts at the next decode_one(), until prefill_tokens() or reset(). From any thread.
  virtual void stop() = 0;
};

// A model, loaded once.
class LLMEngine {
 public:
  virtual ~LLMEngine() = default;

  ET_NODISCARD virtual ::executorch::runtime::Result<std::unique_ptr<LLMSession>>
  create_session() = 0;
  virtual const std::unordered_map<std::string, int64_t>& metadata() const = 0;
  virtual LLMServingCapacity serving_capacity() const = 0;
};

}  // namespace executorch::extension::llm
