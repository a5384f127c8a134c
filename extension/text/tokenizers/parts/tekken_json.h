// SPDX-License-Identifier: BSD-3-Clause
// tekken.json in memory: the vocabulary as flat rows, the rest as a JSON tree.
#pragma once

#include <pytorch/tokenizers/error.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

struct TekkenJson {
  struct Token {
    uint32_t start, size;
    uint64_t rank;
  };
  std::string_view text(const Token& token) const {
    return std::string_view(texts).substr(token.start, token.size);
  }
  /// base64 of all tokens.
  std::string texts;
  std::vector<Token> tokens;
  nlohmann::json rest;
};

/// ParseFailure: not JSON, nested more than 64 deep, or an entry of vocab without rank and
/// token_bytes.
Error parse_tekken_json(std::string_view bytes, TekkenJson& out);

}  // namespace tokenizers::detail
