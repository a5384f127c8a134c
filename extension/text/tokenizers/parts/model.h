// SPDX-License-Identifier: BSD-3-Clause
// What turns one piece of a text into ids.
#pragma once

#include <executorch/extension/text/tokenizers/parts/tokenizer_json.h>
#include <executorch/extension/text/tokenizers/text/merge.h>
#include <executorch/extension/text/tokenizers/text/string_table.h>

#include <memory>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

/// Const: threads share it; each brings its own scratch.
class Model {
 public:
  typedef std::unique_ptr<const Model> Ptr;
  virtual ~Model() = default;
  virtual void encode(std::string_view piece, std::vector<uint64_t>& out,
                      MergeScratch& scratch) const = 0;
  const StringTable& vocabulary() const { return vocabulary_; }

 protected:
  /// Ids with holes take memory for what is not there: refuses most of them absent. Throws BadPart.
  void take_vocabulary(const TokenizerJson& file);
  /// kNone when the name is null; throws BadPart when it is not in the vocabulary.
  uint32_t unknown_id(const nlohmann::json& part, const char* name) const;

  StringTable vocabulary_;
};

/// The object under "model". With `bytes` pieces are bytes, which the vocabulary spells as byte
/// characters; only a BPE model takes them (see reads_bytes). Throws BadPart.
Model::Ptr make_model(const TokenizerJson& file, bool bytes);

/// Whether the model can take pieces as bytes.
bool reads_bytes(const nlohmann::json& part);

}  // namespace tokenizers::detail
