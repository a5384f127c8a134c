// SPDX-License-Identifier: BSD-3-Clause
// TextPrefiller: the tokens of a prompt through the decoder, many at once where it takes many.
#pragma once

#include <cstdint>
#include <vector>

#include <executorch/extension/llm/runner/text_decoder_runner.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Threads: one at a time.
class TextPrefiller {
 public:
  // Borrows the decoder runner. enable_parallel_prefill: a call takes up to max_seq_len tokens (128
  // if it is not positive); else one each, unless there is no cache.
  TextPrefiller(TextDecoderRunner* text_decoder_runner, bool use_kv_cache,
                bool enable_parallel_prefill, int64_t max_seq_len = 128)
      : text_decoder_runner_(text_decoder_runner),
        use_kv_cache_(use_kv_cache),
        enable_parallel_prefill_(enable_parallel_prefill),
        max_seq_len_(max_seq_len > 0 ? max_seq_len : 128) {}
  virtual ~TextPrefiller() = default;

  // Appends tokens at start_pos, in chunks of about the same size, max_seq_len at most, and gives
  // the token that follows: sampled with the temperature, or the best one. start_pos moves on by
  // the tokens that were done, also if an error ends it midway. Loads the decoder. Aborts without
  // tokens; InvalidArgument if the temperature is not from 0 to 2; errors of TextDecoderRunner.
  virtual ::executorch::runtime::Result<uint64_t> prefill(std::vector<uint64_t>& prompt_tokens,
                                                          int64_t& start_pos) {
    return prefill(prompt_tokens, start_pos, 0.0f);
  }
  virtual ::executorch::runtime::Result<uint64_t> prefill(std::vector<uint64_t>& prompt_tokens,
                                                          int64_t& start_pos, float temperature);

  // The same in one chunk.
  virtual ::executorch::runtime::Result<uint64_t> prefill_chunk(
      std::vector<uint64_t>& prompt_tokens, int64_t& start_pos) {
    return prefill_chunk(prompt_tokens, start_pos, 0.0f);
  }
  virtual ::executorch::runtime::Result<uint64_t> prefill_chunk(
      std::vector<uint64_t>& prompt_tokens, int64_t& start_pos, float temperature);

  int64_t max_seq_len() const { return max_seq_len_; }
  // Whether tokens of a prompt go through the decoder as those of an answer do, one by one.
  bool is_one_by_one() const { return use_kv_cache_ && !enable_parallel_prefill_; }

  ::executorch::runtime::Error load() { return text_decoder_runner_->load(); }
  bool is_loaded() const { return text_decoder_runner_->is_method_loaded(); }

 private:
  ::executorch::runtime::Result<executorch::aten::Tensor> step(uint64_t* tokens, size_t count,
                                                               int64_t& start_pos);

  TextDecoderRunner* text_decoder_runner_;
  bool use_kv_cache_;
  bool enable_parallel_prefill_;
  int64_t max_seq_len_;
};

}  // namespace executorch::extension::llm

// The historic spelling.
namespace torch::executor {
using ::executorch::extension::llm::TextPrefiller;
}  // namespace torch::executor
