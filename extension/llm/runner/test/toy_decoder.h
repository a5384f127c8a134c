// SPDX-License-Identifier: BSD-3-Clause
// A decoder whose next token is arithmetic on all tokens before it, and a tokenizer of one token
// per byte: tests of runners know every answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/executor/test/program_builder.h>

namespace executorch::extension::llm::toys {

constexpr int32_t kToyVocabulary = 128;
constexpr int64_t kToyBadToken = 127;

struct ToyOptions {
  int32_t tokens_per_call = 16;
  int32_t max_seq_len = 32;      // what the metadata says
  int32_t max_context_len = 32;  // rows of the cache
  bool is_dynamic = true;        // else a call takes one token
  bool use_kv_cache = true;
  bool all_positions = false;  // the cache's second input is the position of each token
  int32_t num_outputs = 1;
  bool all_logits = false;            // of each token, not of the last only
  std::vector<int64_t> eos_ids = {};  // none: no such method
  int32_t sessions = 1;               // more: as export.max_sessions; kToyBadToken fails a call
};

// Registers the toy's operator, once.
void register_toy_kernel();

// A program with a method "forward" and the constants that get_llm_metadata() reads.
runtime::testing::ProgramBuilder toy_program(const ToyOptions& options = {});

// Writes it to a file in the folder of temporary files; its path.
std::string write_toy(const std::string& name, const ToyOptions& options = {});

// Methods that give these numbers.
void add_toy_constants(runtime::testing::ProgramBuilder& builder,
                       const std::map<std::string, std::vector<int64_t>>& constants);
std::string write_toy_file(const std::string& name, runtime::testing::ProgramBuilder& builder);

// The token that the toy finds best after these: a hash of them modulo 89, plus 33.
uint64_t toy_next(const std::vector<uint64_t>& tokens);

// `count` tokens of the toy after `tokens`, and their text.
std::vector<uint64_t> toy_answer(std::vector<uint64_t> tokens, size_t count);
std::string toy_text(const std::vector<uint64_t>& tokens);
std::vector<uint64_t> toy_tokens(const std::string& text);

// How many calls the toy has had in this process, and how many tokens the last one.
struct ToyCalls {
  std::atomic<int64_t> count{0};
  std::atomic<int64_t> last_num_tokens{0};
  void reset() { count = last_num_tokens = 0; }
};
ToyCalls& toy_calls();

// Greedy, without the prompt.
GenerationConfig answer_of(int32_t max_new_tokens);

// A token per byte; begin is 1, end is 2. Texts with '\x7f' cannot be encoded; token 126 has no
// text.
class ByteTokenizer : public ::tokenizers::Tokenizer {
 public:
  explicit ByteTokenizer(bool is_loaded = true);
  ::tokenizers::Error load(const std::string& path) override;
  ::tokenizers::Result<std::string> id_to_piece(uint64_t token) const override;
  ::tokenizers::Result<uint64_t> piece_to_id(const std::string& text) const override;
  ::tokenizers::Result<std::vector<uint64_t>> encode(const std::string& input, int8_t bos,
                                                     int8_t eos) const override;
  ::tokenizers::Result<std::string> decode(uint64_t previous, uint64_t token,
                                           bool skip_special_tokens) const override;
};

std::unique_ptr<ByteTokenizer> byte_tokenizer();

}  // namespace executorch::extension::llm::toys
