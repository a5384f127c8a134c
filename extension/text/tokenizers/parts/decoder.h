// SPDX-License-Identifier: BSD-3-Clause
// How pieces become text again.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tokenizers::detail {

/// Steps on the list of pieces of a sequence, whose join is the text. Const: threads share it.
class Decoder {
 public:
  typedef std::unique_ptr<const Decoder> Ptr;
  virtual ~Decoder() = default;
  /// `is_part`: others may follow or go before, so bytes that are no whole character stay as they
  /// are; otherwise they become U+FFFD.
  virtual void decode(std::vector<std::string>& pieces, bool is_part) const = 0;
  /// Whether the text of a sequence is that of its pieces one by one, each read as byte characters.
  virtual bool reads_bytes() const { return false; }
};

/// The object under "decoder"; null when there is none. Throws BadPart.
Decoder::Ptr make_decoder(const nlohmann::json& part);

}  // namespace tokenizers::detail
