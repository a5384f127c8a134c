// SPDX-License-Identifier: BSD-3-Clause
// What a text becomes before it is split.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace tokenizers::detail {

/// Text in, text out; both UTF-8. Const: threads share it.
class Normalizer {
 public:
  typedef std::unique_ptr<const Normalizer> Ptr;
  virtual ~Normalizer() = default;
  virtual std::string normalize(std::string text) const = 0;
};

/// The object under "normalizer"; null when there is none. Throws BadPart.
Normalizer::Ptr make_normalizer(const nlohmann::json& part);

}  // namespace tokenizers::detail
