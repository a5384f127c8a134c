// SPDX-License-Identifier: BSD-3-Clause
// Byte-pair encoding by a list of merges.
#pragma once

#include <executorch/extension/text/tokenizers/parts/model.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>

namespace tokenizers::detail {

class BpeModel : public Model {
 public:
  BpeModel(const TokenizerJson& file, bool bytes);
  void encode(std::string_view piece, std::vector<uint64_t>& out,
              MergeScratch& scratch) const override;

  /// Without an unknown token, a prefix or a suffix: symbols are the bytes then.
  static bool reads_bytes(const nlohmann::json& part);

 private:
  enum Whole : uint8_t { kNotSeen, kIsOnePiece, kIsSplit };

  void take_merges(const TokenizerJson& file);
  void take_bytes();
  void begin_with_bytes(std::string_view piece, MergeScratch& scratch) const;
  void begin_with_characters(std::string_view piece, MergeScratch& scratch) const;
  bool add_as_bytes(std::string_view text, MergeScratch& scratch) const;

  PairTable merges_;
  /// With bytes: the vocabulary by bytes instead of byte characters.
  StringTable by_bytes_;
  const bool bytes_;
  /// Ids of single bytes: themselves, or their pieces <0xHH>.
  std::array<uint32_t, 256> byte_ids_;
  bool byte_fallback_, fuses_unknown_, ignores_merges_;
  std::string prefix_, suffix_;
  uint32_t unknown_ = kNone;
  /// Of each id, whether merging its text gives it: found out when a text has it, most words being
  /// one token. Any thread writes the same.
  std::unique_ptr<std::atomic<uint8_t>[]> whole_;
};

}  // namespace tokenizers::detail
