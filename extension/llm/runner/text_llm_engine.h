// SPDX-License-Identifier: BSD-3-Clause
// LLMEngine of a decoder program and a tokenizer.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/llm/runner/llm_session.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Loads the program once; each session runs it with a cache of its own, and keeps what it needs
// when the engine goes. Sessions of one engine may be used by a thread each. A temperature of -1
// takes the best token; other fields as GenerationConfig has them. A session counts as full with
// one token less than the context's length, as for TextLLMRunner.
//
// Sessions of a program that has several (export.max_sessions) are decoded in one step where
// threads use them at the same time; more of them than the program has get caches and calls of
// their own.
//
// The capacity says 1, or the program's sessions, where the method uses backends, which may prepare
// weights of their own for each load. InvalidArgument for a tokenizer that is null or not loaded;
// errors of Module and get_llm_metadata().
::executorch::runtime::Result<std::unique_ptr<LLMEngine>> create_text_llm_engine(
    const std::string& model_path, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
    const std::optional<std::string>& data_path = std::nullopt,
    const std::string& method_name = "forward",
    Module::LoadMode load_mode = Module::LoadMode::Mmap);

}  // namespace executorch::extension::llm
