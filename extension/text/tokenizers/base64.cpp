// SPDX-License-Identifier: BSD-3-Clause
// RFC 4648, section 4.
#include <pytorch/tokenizers/base64.h>

#include <array>
#include <cstdint>

namespace tokenizers::base64 {

namespace {

constexpr uint8_t kBad = 0xFF;

constexpr std::array<uint8_t, 256> make_values() {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<uint8_t, 256> values{};
  for (auto& value : values) {
    value = kBad;
  }
  for (uint8_t i = 0; i < 64; ++i) {
    values[static_cast<uint8_t>(kAlphabet[i])] = i;
  }
  return values;
}
constexpr std::array<uint8_t, 256> kValues = make_values();

}  // namespace

Result<std::string> decode(const std::string_view& input) {
  // Whisper's file writes a token of no bytes so.
  if (input == "=") {
    return std::string();
  }
  TK_CHECK_OR_RETURN_ERROR(!input.empty() && input.size() % 4 == 0, Base64DecodeFailure,
                           "base64: expected a multiple of 4 characters, got %zu", input.size());
  size_t padding = 0;
  while (padding < 2 && input[input.size() - 1 - padding] == '=') {
    ++padding;
  }
  std::string bytes;
  bytes.reserve(input.size() / 4 * 3);
  for (size_t i = 0; i < input.size(); i += 4) {
    const size_t pads = i + 4 == input.size() ? padding : 0;
    uint32_t word = 0;
    for (size_t j = 0; j < 4; ++j) {
      const uint8_t value = j < 4 - pads ? kValues[static_cast<uint8_t>(input[i + j])] : 0;
      TK_CHECK_OR_RETURN_ERROR(value != kBad, Base64DecodeFailure,
                               "base64: unexpected byte 0x%02x at %zu",
                               static_cast<uint8_t>(input[i + j]), i + j);
      word = word << 6 | value;
    }
    for (size_t j = 0; j < 3 - pads; ++j) {
      bytes += static_cast<char>(word >> (16 - 8 * j));
    }
  }
  return bytes;
}

}  // namespace tokenizers::base64
