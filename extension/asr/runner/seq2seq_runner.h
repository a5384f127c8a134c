// SPDX-License-Identifier: BSD-3-Clause
// Seq2SeqRunner: speech in, text out, by an encoder and a decoder, as Whisper is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/llm/runner/stats.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::asr {

struct Seq2SeqTranscribeConfig {
  int64_t max_new_tokens = 128;
  // Tokens that end the text; empty: those of the program's get_eos_ids, or the tokenizer's.
  std::unordered_set<int64_t> eos_token_ids = {};
  float temperature = 0.0f;  // up to llm::kMaxTemperature
  int64_t decoder_start_token_id = 0;
};

// Threads: one at a time. Methods of the program:
//   encoder(features (1, bins, frames)) -> states (1, positions, hidden)
//   text_decoder(id Long (1, 1), states, position Long (1)) -> logits (1, 1, vocabulary)
//   sampler(logits) -> id Long (1), optional: instead of ours at temperature 0
class Seq2SeqRunner {
 public:
  // Reads nothing. data_path: the program's data file (.ptd).
  explicit Seq2SeqRunner(const std::string& module_path, std::optional<std::string> data_path,
                         const std::string& tokenizer_path);

  bool is_loaded() const;

  // Loads program, methods and tokenizer; transcribe() does it, too. InvalidArgument if a method is
  // missing, Internal if the tokenizer cannot be read; errors of Module.
  ::executorch::runtime::Error load();

  // The tokens of a text, from decoder_start_token_id to the one that ends it, if it comes. Each
  // token's text goes to token_callback, also that which ends it, and to the standard output the
  // statistics. Features of Float are converted where the encoder takes BFloat16. InvalidArgument
  // for features or a configuration that do not fit, and without a token that ends a text; Internal
  // if a method returns other than the above.
  ::executorch::runtime::Result<std::vector<int64_t>> transcribe(
      ::executorch::extension::TensorPtr preprocessed_features, Seq2SeqTranscribeConfig config = {},
      std::function<void(const std::string&)> token_callback = {});

  // Of the last transcribe(); the tokenizer is null before load().
  const llm::Stats& stats() const { return stats_; }
  const ::tokenizers::Tokenizer* tokenizer() const { return tokenizer_.get(); }

 private:
  ::executorch::runtime::Result<::executorch::runtime::EValue> encode(TensorPtr features);
  ::executorch::runtime::Result<int64_t> next_token(int64_t token,
                                                    const ::executorch::runtime::EValue& states,
                                                    int64_t position, float temperature);

  std::unique_ptr<Module> module_;
  std::string tokenizer_path_;
  std::unique_ptr<::tokenizers::Tokenizer> tokenizer_;
  bool has_sampler_ = false;
  bool is_loaded_ = false;
  llm::Stats stats_;
};

// The earlier names.
using AsrRunner = Seq2SeqRunner;
using AsrTranscribeConfig = Seq2SeqTranscribeConfig;

}  // namespace executorch::extension::asr
