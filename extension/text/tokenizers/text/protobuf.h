// SPDX-License-Identifier: BSD-3-Clause
// Fields of a protobuf message, one after the other.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tokenizers::detail {

class ProtobufReader {
 public:
  struct Field {
    uint32_t number;
    /// Varints and fixed ones.
    uint64_t value;
    /// Of length-delimited ones: a view into the message.
    std::string_view bytes;
    bool is_bytes;

    float as_float() const {
      const auto bits = static_cast<uint32_t>(value);
      float number;
      std::memcpy(&number, &bits, sizeof(number));
      return number;
    }
  };

  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  /// False at the end, and where the bytes are no message (is_bad() then).
  bool next(Field& out) {
    uint64_t key = 0;
    if (rest_.empty() || !varint(key)) {
      return false;
    }
    out = {static_cast<uint32_t>(key >> 3), 0, {}, false};
    switch (key & 7) {
      case 0:
        return varint(out.value);
      case 1:
        return fixed(8, out.value);
      case 2:
        out.is_bytes = true;
        return delimited(out.bytes);
      case 5:
        return fixed(4, out.value);
      default:
        is_bad_ = true;
        return false;
    }
  }

  bool is_bad() const { return is_bad_; }

 private:
  bool varint(uint64_t& out) {
    if (!rest_.empty() && static_cast<uint8_t>(rest_.front()) < 0x80) {
      out = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      return true;
    }
    out = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    is_bad_ = true;
    return false;
  }

  bool fixed(size_t size, uint64_t& out) {
    if (rest_.size() < size) {
      is_bad_ = true;
      return false;
    }
    out = 0;
    for (size_t i = 0; i < size; ++i) {
      out |= static_cast<uint64_t>(static_cast<uint8_t>(rest_[i])) << 8 * i;
    }
    rest_.remove_prefix(size);
    return true;
  }

  bool delimited(std::string_view& out) {
    uint64_t size = 0;
    if (!varint(size) || size > rest_.size()) {
      is_bad_ = true;
      return false;
    }
    out = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(size));
    return true;
  }

  std::string_view rest_;
  bool is_bad_ = false;
};

}  // namespace tokenizers::detail
