// SPDX-License-Identifier: BSD-3-Clause
// Layout: size of the array in bytes (uint32), the array (uint32 units of Darts-clone), texts with
// a NUL after each.
#include <executorch/extension/llm/tokenizers/text/charsmap.h>
#include <executorch/extension/llm/tokenizers/text/utf8.h>

#include <cstring>

namespace tokenizers::detail {

namespace {

// A unit: bits 0-7 the byte it stands for (bit 31 in a leaf), bit 8 whether a leaf follows, bits 9
// and up the distance.
bool has_leaf(uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
bool is_leaf(uint32_t unit) {
  return (unit & 0x80000000u) != 0;
}
uint32_t value(uint32_t unit) {
  return unit & 0x7FFFFFFFu;
}
uint32_t label(uint32_t unit) {
  return unit & 0x800000FFu;
}
uint32_t distance(uint32_t unit) {
  return (unit >> 10) << ((unit & 0x200u) >> 6);
}

uint32_t little_endian(const char* bytes) {
  const auto byte = [&](int i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

}  // namespace

std::optional<Charsmap> Charsmap::read(std::string_view bytes) {
  if (bytes.size() < 4) {
    return std::nullopt;
  }
  const uint32_t size = little_endian(bytes.data());
  if (size == 0 || size % 4 != 0 || size > bytes.size() - 4) {
    return std::nullopt;
  }
  Charsmap map;
  map.units_.resize(size / 4);
  for (size_t i = 0; i < map.units_.size(); ++i) {
    map.units_[i] = little_endian(bytes.data() + 4 + 4 * i);
  }
  map.texts_.assign(bytes.substr(4 + size));
  if (map.texts_.empty() || map.texts_.back() != '\0') {
    map.texts_ += '\0';
  }
  if (!map.is_whole()) {
    return std::nullopt;
  }
  return map;
}

/// Whether every way leads on, and every leaf to the beginning of a text.
bool Charsmap::is_whole() const {
  for (size_t at = 0; at < units_.size(); ++at) {
    const uint32_t unit = units_[at];
    if (is_leaf(unit)) {
      const size_t start = value(unit);
      if (start >= texts_.size() || (start > 0 && texts_[start - 1] != '\0')) {
        return false;
      }
      continue;
    }
    const size_t next = at ^ distance(unit);
    if (next >= units_.size() || (has_leaf(unit) && !is_leaf(units_[next]))) {
      return false;
    }
  }
  return is_utf8(texts_);
}

std::optional<Charsmap::Rule> Charsmap::longest(std::string_view text) const {
  std::optional<Rule> found;
  if (units_.empty()) {
    return found;
  }
  size_t at = distance(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    at ^= byte;
    if (byte == 0 || at >= units_.size() || label(units_[at]) != byte) {
      break;
    }
    const uint32_t unit = units_[at];
    at ^= distance(unit);
    if (!has_leaf(unit)) {
      continue;
    }
    const size_t start = at < units_.size() ? value(units_[at]) : texts_.size();
    if (start < texts_.size()) {
      found = Rule{i + 1, std::string_view(texts_.data() + start)};
    }
  }
  return found;
}

}  // namespace tokenizers::detail
