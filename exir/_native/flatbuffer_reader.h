// SPDX-License-Identifier: BSD-3-Clause
// Bounds-checked reads of untrusted flatbuffer bytes. Nothing is read before its range is checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace executorch::exir {

/// The bytes are not a legal file. what() says where and why.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A window over bytes that the caller keeps alive. Offsets count from the first byte; all reads
/// are unaligned and throw FormatError outside the window.
class FlatbufferReader {
 public:
  FlatbufferReader(const uint8_t* data, uint64_t size) : data_(data), size_(size) {}

  uint64_t size() const { return size_; }

  const uint8_t* at(uint64_t offset, uint64_t num_bytes) const {
    if (offset > size_ || num_bytes > size_ - offset) {
      throw FormatError(std::to_string(num_bytes) + " bytes at offset " + std::to_string(offset) +
                        " lie outside the " + std::to_string(size_) + " bytes of flatbuffer data");
    }
    return data_ + offset;
  }

  template <typename T>
  T read(uint64_t offset) const {
    T value;
    std::memcpy(&value, at(offset, sizeof(T)), sizeof(T));
    return value;
  }

  /// Follows the 32-bit offset stored at `offset`.
  uint64_t follow(uint64_t offset) const {
    const uint32_t step = read<uint32_t>(offset);
    if (step == 0) {
      throw FormatError("null offset at byte " + std::to_string(offset));
    }
    return offset + step;
  }

 private:
  const uint8_t* data_;
  uint64_t size_;
};

/// One table; `field(slot)` gives the position of a stored field or 0 when the field is absent.
class TableReader {
 public:
  TableReader(const FlatbufferReader& buffer, uint64_t table) : buffer_(buffer), table_(table) {
    const int64_t vtable = static_cast<int64_t>(table) - buffer.read<int32_t>(table);
    if (vtable < 0) {
      throw FormatError("table at byte " + std::to_string(table) +
                        ": its field list lies before the file");
    }
    vtable_ = static_cast<uint64_t>(vtable);
    vtable_size_ = buffer.read<uint16_t>(vtable_);
    table_size_ = buffer.read<uint16_t>(vtable_ + 2);
    buffer.at(vtable_, vtable_size_);
    buffer.at(table_, table_size_);
    if (vtable_size_ < 4 || vtable_size_ % 2 != 0) {
      throw FormatError("table at byte " + std::to_string(table) + ": bad field list");
    }
  }

  uint64_t field(uint16_t slot, uint64_t num_bytes) const {
    if (slot + 2u > vtable_size_) {
      return 0;
    }
    const uint16_t offset = buffer_.read<uint16_t>(vtable_ + slot);
    if (offset == 0) {
      return 0;
    }
    if (offset + num_bytes > table_size_) {
      throw FormatError("table at byte " + std::to_string(table_) +
                        ": a field lies outside the table");
    }
    return table_ + offset;
  }

 private:
  const FlatbufferReader& buffer_;
  uint64_t table_;
  uint64_t vtable_;
  uint16_t vtable_size_;
  uint16_t table_size_;
};

}  // namespace executorch::exir
