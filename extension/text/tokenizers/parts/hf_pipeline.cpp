// SPDX-License-Identifier: BSD-3-Clause
// text -> parts between added tokens -> normalized -> pieces -> ids, and back.
#include <executorch/extension/text/tokenizers/parts/fields.h>
#include <executorch/extension/text/tokenizers/parts/hf_pipeline.h>
#include <executorch/extension/text/tokenizers/text/byte_level.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tokenizers::detail {

namespace {
using Json = nlohmann::json;
}

struct HFPipeline::Scratch {
  PieceList list;
  MergeScratch merge;
};

namespace {

/// A misspelt part would be left out without a word.
const Json& checked_parts(const Json& file) {
  constexpr std::string_view kParts[] = {"version",        "truncation", "padding",
                                         "added_tokens",   "normalizer", "pre_tokenizer",
                                         "post_processor", "decoder",    "model"};
  for (const auto& part : file.items()) {
    if (std::find(std::begin(kParts), std::end(kParts), part.key()) == std::end(kParts)) {
      throw BadPart("a part of unknown name \"" + part.key() + "\"");
    }
  }
  return file;
}

}  // namespace

HFPipeline::HFPipeline(const TokenizerJson& file)
    : normalizer_(make_normalizer(part_of(checked_parts(file.rest), "normalizer"))),
      pre_tokenizer_(make_pre_tokenizer(part_of(file.rest, "pre_tokenizer"))),
      post_processor_(part_of(file.rest, "post_processor")),
      decoder_(make_decoder(part_of(file.rest, "decoder"))) {
  if (file.rest.contains("added_tokens") && !file.rest.at("added_tokens").is_array()) {
    throw BadPart("expected a list added_tokens");
  }
  const bool bytes = pre_tokenizer_ != nullptr && pre_tokenizer_->spells_bytes() &&
                     reads_bytes(part_of(file.rest, "model"));
  if (bytes) {
    pre_tokenizer_->leave_bytes();
  }
  model_ = make_model(file, bytes);
  if (file.bad_added) {
    throw BadPart("added token " + std::to_string(*file.bad_added) +
                  ": expected content, id, special, normalized, single_word, lstrip and rstrip");
  }
  take_added_tokens(file.added);
}

void HFPipeline::take_added_tokens(const std::vector<AddedToken>& list) {
  uint64_t next = model_->vocabulary().size();
  size_ = model_->vocabulary().size();
  for (AddedToken token : list) {
    if (token.content.empty()) {
      continue;
    }
    // As the reference does: the model's id where the model knows the token, else the next one that
    // is free.
    const uint32_t known = model_->vocabulary().find(token.content);
    const AddedToken* before = added_.of_content(token.content);
    const uint64_t given_id = token.id;
    token.id = known != kNone ? known : before != nullptr ? before->id : next;
    if (given_id != token.id) {
      TK_LOG(Info, "added token %s has id %llu in the file but counts as %llu",
             token.content.c_str(), static_cast<unsigned long long>(given_id),
             static_cast<unsigned long long>(token.id));
    }
    next = std::max(next, token.id + 1);
    size_ += known == kNone && before == nullptr;
    added_.add(std::move(token), normalizer_.get());
  }
}

void HFPipeline::encode_normalized(std::string_view text, bool is_beginning,
                                   std::vector<uint64_t>& out, Scratch& scratch) const {
  PieceList& list = scratch.list;
  list.text.assign(text);
  list.pieces.assign(1, {0, static_cast<uint32_t>(text.size())});
  list.is_beginning = is_beginning;
  if (pre_tokenizer_ != nullptr) {
    pre_tokenizer_->apply(list);
  }
  for (size_t i = 0; i < list.pieces.size(); ++i) {
    model_->encode(list.piece(i), out, scratch.merge);
  }
}

void HFPipeline::encode_part(std::string_view text, bool is_beginning, std::vector<uint64_t>& out,
                             Scratch& scratch) const {
  std::string normalized;
  if (normalizer_ != nullptr) {
    normalized = normalizer_->normalize(std::string(text));
    text = normalized;
  }
  std::vector<AddedTokens::Part> parts;
  added_.split(text, true, parts);
  for (const auto& part : parts) {
    if (part.token != AddedTokens::kNoToken) {
      out.push_back(part.token);
    } else {
      encode_normalized(part.text, is_beginning && part.text.data() == text.data(), out, scratch);
    }
  }
}

std::vector<uint64_t> HFPipeline::encode(std::string_view text, bool adds_special) const {
  std::string repaired;
  text = as_utf8(text, repaired);
  std::vector<uint64_t> ids;
  ids.reserve(text.size() / 3 + 8);
  Scratch scratch;
  std::vector<AddedTokens::Part> parts;
  added_.split(text, false, parts);
  for (const auto& part : parts) {
    if (part.token != AddedTokens::kNoToken) {
      ids.push_back(part.token);
    } else {
      encode_part(part.text, part.text.data() == text.data(), ids, scratch);
    }
  }
  return adds_special ? post_processor_.apply(std::move(ids)) : ids;
}

std::optional<std::string> HFPipeline::piece(uint64_t id) const {
  if (const AddedToken* token = added_.of_id(id)) {
    return token->content;
  }
  if (!model_->vocabulary().has(id)) {
    return std::nullopt;
  }
  return std::string(model_->vocabulary().text(static_cast<uint32_t>(id)));
}

std::optional<uint64_t> HFPipeline::id(const std::string& piece) const {
  if (const AddedToken* token = added_.of_content(piece)) {
    return token->id;
  }
  const uint32_t id = model_->vocabulary().find(piece);
  return id == kNone ? std::nullopt : std::optional<uint64_t>(id);
}

std::optional<std::string> HFPipeline::decode(const std::vector<uint64_t>& ids, bool skips_special,
                                              bool is_part) const {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const uint64_t id : ids) {
    auto piece = this->piece(id);
    if (!piece) {
      return std::nullopt;
    }
    const AddedToken* token = skips_special ? added_.of_id(id) : nullptr;
    if (token == nullptr || !token->is_special) {
      pieces.push_back(std::move(*piece));
    }
  }
  std::string text;
  if (decoder_ != nullptr) {
    decoder_->decode(pieces, is_part);
  }
  for (const std::string& piece : pieces) {
    if (decoder_ == nullptr && &piece != pieces.data()) {
      text += ' ';
    }
    text += piece;
  }
  return text;
}

std::optional<std::string> HFPipeline::decode_next(uint64_t previous, uint64_t id,
                                                   bool skips_special) const {
  const AddedToken* before = added_.of_id(previous);
  const bool stands_alone = (decoder_ != nullptr && decoder_->reads_bytes()) ||
                            (before != nullptr && before->is_special) || !piece(previous);
  if (stands_alone) {
    return decode({id}, skips_special, true);
  }
  const auto first = decode({previous}, skips_special, true);
  auto both = decode({previous, id}, skips_special, true);
  if (!both) {
    return std::nullopt;
  }
  if (both->compare(0, first->size(), *first) != 0) {
    return decode({id}, skips_special, true);
  }
  return both->substr(first->size());
}

}  // namespace tokenizers::detail
