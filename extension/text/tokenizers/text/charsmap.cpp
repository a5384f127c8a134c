// SPDX-License-Identifier: BSD-3-Clause
// Layout: size of the array in bytes (uint32), the array (uint32 units of Darts-clone), texts with
// a NUL after each.
#include <executorch/extension/text/tokenizers/text/charsmap.h>
#include <executorch/extension/text/tokenizers/text/utf8.h>

#include <algorithm>
#include <utility>

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

std::optional<Charsmap> Charsmap::read(std::string bytes) {
  if (bytes.size() < 4) {
    return std::nullopt;
  }
  const uint32_t size = little_endian(bytes.data());
  if (size == 0 || size % 4 != 0 || size > bytes.size() - 4) {
    return std::nullopt;
  }
  if (bytes.size() == 4 + size || bytes.back() != '\0') {
    bytes += '\0';
  }
  Charsmap map;
  map.bytes_ = std::move(bytes);
  map.num_units_ = size / 4;
  if (!map.is_complete()) {
    return std::nullopt;
  }
  return map;
}

uint32_t Charsmap::unit(size_t at) const {
  return little_endian(bytes_.data() + 4 + 4 * at);
}

/// Whether every way leads on, and every leaf to the beginning of a text.
bool Charsmap::is_complete() const {
  // Leaves and ways are mixed as if by chance: without branches this takes a third of the time.
  const char* const units = bytes_.data() + 4;
  const size_t num_units = num_units_;
  const std::string_view texts = this->texts();
  const size_t last = texts.size() - 1;  // a NUL
  uint32_t is_complete = 1;
  for (size_t at = 0; at < num_units; ++at) {
    const uint32_t unit = little_endian(units + 4 * at);
    const size_t start = value(unit);
    const bool begins = (start <= last) & (texts[std::min(start - 1, last)] == '\0');
    const size_t next = at ^ distance(unit);
    const bool leads = next < num_units;
    const uint32_t is_branch = !has_leaf(unit);
    const uint32_t goes_on =
        leads & (is_branch | is_leaf(little_endian(units + (leads ? 4 * next : 0))));
    is_complete &= is_leaf(unit) ? begins : goes_on;
  }
  return is_complete != 0 && is_utf8(texts);
}

bool Charsmap::has_rule_of(uint8_t first) const {
  if (num_units_ == 0 || first == 0) {
    return false;
  }
  const size_t at = distance(unit(0)) ^ first;
  return at < num_units_ && label(unit(at)) == first;
}

bool Charsmap::has_ascii_rule_of(uint8_t first) const {
  if (!has_rule_of(first)) {
    return false;
  }
  const size_t at = distance(unit(0)) ^ first;
  const size_t next = at ^ distance(unit(at));
  bool found = has_leaf(unit(at));
  for (uint32_t second = 1; second < 0x80; ++second) {
    const size_t place = next ^ second;
    found = found || (place < num_units_ && label(unit(place)) == second);
  }
  return found;
}

std::optional<Charsmap::Rule> Charsmap::longest(std::string_view text) const {
  std::optional<Rule> found;
  if (num_units_ == 0) {
    return found;
  }
  const std::string_view texts = this->texts();
  size_t at = distance(unit(0));
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    at ^= byte;
    if (byte == 0 || at >= num_units_ || label(unit(at)) != byte) {
      break;
    }
    const uint32_t unit = this->unit(at);
    at ^= distance(unit);
    if (!has_leaf(unit)) {
      continue;
    }
    const size_t start = at < num_units_ ? value(this->unit(at)) : texts.size();
    if (start < texts.size()) {
      found = Rule{i + 1, std::string_view(texts.data() + start)};
    }
  }
  return found;
}

}  // namespace tokenizers::detail
