// SPDX-License-Identifier: BSD-3-Clause
// From files to runners.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::llm {

class MultimodalRunner;
class TextLLMRunner;

// tokenizers::load_tokenizer(): the first tokenizer that can read the file. Null if none can; each
// has logged why. special_tokens, with the indices of begin and end among them, and pattern are
// tiktoken's, whose files have none; a pattern alone has no effect. Initializes the runtime.
std::unique_ptr<tokenizers::Tokenizer> load_tokenizer(
    const std::string& tokenizer_path,
    std::unique_ptr<std::vector<std::string>> special_tokens = nullptr,
    std::optional<std::string> pattern = std::nullopt, size_t bos_token_index = 0,
    size_t eos_token_index = 1);

// The tokenizer that the program itself carries (export.tokenizer_in_program). Null, with the
// reason logged, if it has none, or none of a known format, or cannot be read. Initializes the
// runtime.
std::unique_ptr<tokenizers::Tokenizer> load_tokenizer_of_program(const std::string& model_path);

// Constants of a program by the names of constants.h, with defaults for those that it lacks: 0 for
// enable_dynamic_shape and use_sdpa_with_kv_cache, 1 for use_kv_cache, get_max_seq_len for
// get_max_context_len, 1 for get_max_sessions, 1 for keeps_all_positions unless get_max_seq_len is
// less. get_bos_id and get_vocab_size are the tokenizer's. InvalidArgument if the program cannot be
// read or has no get_max_seq_len; errors of its methods.
::executorch::runtime::Result<std::unordered_map<std::string, int64_t>> get_llm_metadata(
    tokenizers::Tokenizer* tokenizer, Module* module);

// How many tokens a call of the method takes: the bound of its first input, which may be less than
// the metadata says; without a cache, the context's length.
int64_t tokens_per_call(Module* module, const std::string& method,
                        const std::unordered_map<std::string, int64_t>& metadata);

// Tokens that end an answer: those of the program's get_eos_ids, or the tokenizer's. Empty if that
// method fails.
std::unordered_set<uint64_t> get_eos_ids(tokenizers::Tokenizer* tokenizer, Module* module);

// A runner of the method of a program and its data files (.ptd). Null, with the reason logged, if
// the tokenizer is null or not loaded or the program has no metadata. temperature: see
// TextLLMRunner. load_mode: Mmap loads sooner and keeps only those rows of an embedding in memory
// that were used; with MmapUseMlockIgnoreErrors no token waits for a page of the file later.
std::unique_ptr<TextLLMRunner> create_text_llm_runner(
    const std::string& model_path, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
    std::optional<const std::string> data_path, float temperature = -1.0f,
    const std::string& method_name = "forward",
    Module::LoadMode load_mode = Module::LoadMode::MmapUseMlockIgnoreErrors);
std::unique_ptr<TextLLMRunner> create_text_llm_runner(
    const std::string& model_path, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
    std::vector<std::string> data_files = {}, float temperature = -1.0f,
    std::unique_ptr<::executorch::runtime::EventTracer> event_tracer = nullptr,
    const std::string& method_name = "forward",
    Module::LoadMode load_mode = Module::LoadMode::MmapUseMlockIgnoreErrors);

// `count` runners of one program, each with a tokenizer of its own; an empty tokenizer_path: with
// that of the program. With a program of several sessions (export.max_sessions) what threads
// generate by them at the same time is decoded in one step; each needs a thread. Empty, with the
// reason logged, where one cannot be made.
std::vector<std::unique_ptr<TextLLMRunner>> create_text_llm_runners(
    const std::string& model_path, const std::string& tokenizer_path, size_t count,
    const std::vector<std::string>& data_files = {}, float temperature = -1.0f,
    const std::string& method_name = "forward",
    Module::LoadMode load_mode = Module::LoadMode::Mmap);

// Likewise for a program that takes images or sound: methods token_embedding and text_decoder, and
// vision_encoder or audio_encoder.
std::unique_ptr<MultimodalRunner> create_multimodal_runner(
    const std::string& model_path, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
    std::optional<const std::string> data_path = std::nullopt,
    Module::LoadMode load_mode = Module::LoadMode::File);

}  // namespace executorch::extension::llm
