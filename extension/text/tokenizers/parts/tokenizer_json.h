// SPDX-License-Identifier: BSD-3-Clause
// tokenizer.json in memory: the three large parts as flat rows, the rest as a JSON tree.
#pragma once

#include <executorch/extension/text/tokenizers/parts/added_tokens.h>
#include <pytorch/tokenizers/error.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

struct TokenizerJson {
  struct Text {
    uint32_t start, size;
  };
  struct Entry {
    Text piece;
    uint64_t id;
    double score;
  };
  struct Pair {
    Text left, right;
  };

  std::string_view text(Text of) const { return std::string_view(texts).substr(of.start, of.size); }

  /// Characters of all pieces and merges.
  std::string texts;
  /// model.vocab: piece and id of an object, or piece and score of a list, whose index is the id.
  std::vector<Entry> vocabulary;
  bool has_scores = false;
  bool has_vocabulary = false, has_merges = false;
  /// model.merges, by rank.
  std::vector<Pair> merges;
  /// added_tokens, with the ids that the file says.
  std::vector<AddedToken> added;
  /// The first of them that lacks a field, or has one of another type.
  std::optional<size_t> bad_added;
  /// All else; a list added_tokens is empty.
  nlohmann::json rest;
};

/// ParseFailure with the place in the log: not JSON, nested more than 64 deep, or a vocabulary or
/// merges of another form.
Error parse_tokenizer_json(std::string_view bytes, TokenizerJson& out);

/// The whole file; LoadFailure when it cannot be read.
Error read_file(const std::string& path, std::string& out);

/// What stands at a path. (std::filesystem would need a newer libstdc++ than release wheels may ask
/// for.)
bool is_folder(const std::string& path);
bool is_file(const std::string& path);

}  // namespace tokenizers::detail
