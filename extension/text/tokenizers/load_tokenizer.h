// SPDX-License-Identifier: BSD-3-Clause
// A tokenizer from any file this library reads.
#pragma once

#include <pytorch/tokenizers/tokenizer.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tokenizers {

/// Tries one format after the other (the table is in load_tokenizer.cpp); the first that loads the
/// file has it, null when none does. What the others say against it is logged and means nothing
/// then. The last four arguments are Tiktoken's, and count only when special tokens are given.
std::unique_ptr<Tokenizer> load_tokenizer(
    const std::string& path, std::unique_ptr<std::vector<std::string>> special_tokens = nullptr,
    std::optional<std::string> pattern = std::nullopt, size_t bos_token_index = 0,
    size_t eos_token_index = 1);

}  // namespace tokenizers
