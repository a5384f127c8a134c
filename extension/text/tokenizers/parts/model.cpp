// SPDX-License-Identifier: BSD-3-Clause
// The kinds of model, and what they share.
#include <executorch/extension/text/tokenizers/parts/bpe_model.h>
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/model.h>
#include <executorch/extension/text/tokenizers/parts/word_models.h>

namespace tokenizers::detail {

namespace {

using Json = nlohmann::json;

Model::Ptr make_bpe(const TokenizerJson& file, bool bytes) {
  return std::make_unique<BpeModel>(file, bytes);
}

template <typename T>
Model::Ptr make(const TokenizerJson& file, bool) {
  return std::make_unique<T>(file);
}

struct ModelKind {
  const char* type;
  Model::Ptr (*make)(const TokenizerJson& file, bool bytes);
};
constexpr ModelKind kKinds[] = {
    {"BPE", make_bpe},
    {"Unigram", make<UnigramModel>},
    {"WordLevel", make<WordLevelModel>},
    {"WordPiece", make<WordPieceModel>},
};

/// Older files do not name the type: what they have besides the vocabulary tells.
std::string type_of(const Json& part) {
  const char* otherwise = part.contains("unk_id")                     ? "Unigram"
                          : part.contains("max_input_chars_per_word") ? "WordPiece"
                                                                      : "BPE";
  return field_or<std::string>(part, "type", otherwise);
}

}  // namespace

void Model::take_vocabulary(const TokenizerJson& file) {
  constexpr uint64_t kHoles = 1 << 20;
  const uint64_t most = 16 * static_cast<uint64_t>(file.vocabulary.size()) + kHoles;
  vocabulary_.reserve(file.vocabulary.size(), file.texts.size());
  for (const TokenizerJson::Entry& entry : file.vocabulary) {
    if (entry.id >= most) {
      throw BadPart("model.vocab: expected ids below " + std::to_string(most) + " for " +
                    std::to_string(file.vocabulary.size()) + " pieces, got " +
                    std::to_string(entry.id));
    }
    if (vocabulary_.has(entry.id)) {
      throw BadPart("model.vocab: two pieces have the id " + std::to_string(entry.id));
    }
    vocabulary_.add(file.text(entry.piece), static_cast<uint32_t>(entry.id));
  }
}

uint32_t Model::unknown_id(const Json& part, const char* name) const {
  const auto piece = field_or<std::string>(part, name, "");
  if (piece.empty() && !part_of(part, name).is_string()) {
    return kNone;
  }
  const uint32_t id = vocabulary_.find(piece);
  if (id == kNone) {
    throw BadPart(std::string(name) + " \"" + piece + "\" is not in model.vocab");
  }
  return id;
}

bool reads_bytes(const Json& part) {
  return type_of(part) == "BPE" && BpeModel::reads_bytes(part);
}

Model::Ptr make_model(const TokenizerJson& file, bool bytes) {
  const Json& part = part_of(file.rest, "model");
  const std::string type = type_of(part);
  if (!file.has_vocabulary) {
    throw BadPart("expected model.vocab");
  }
  for (const ModelKind& kind : kKinds) {
    if (type == kind.type) {
      return kind.make(file, bytes);
    }
  }
  throw BadPart("model of an unknown type \"" + type + "\"");
}

}  // namespace tokenizers::detail
