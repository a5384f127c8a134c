// SPDX-License-Identifier: BSD-3-Clause
// Flat hash tables for vocabularies: made once, then read by many threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tokenizers::detail {

constexpr uint32_t kNone = UINT32_MAX;

inline uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t hash = (a ^ b) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93u;
  return hash ^ hash >> 29;
}

inline uint64_t hash_bytes(std::string_view text) {
  uint64_t hash = text.size() * 0xA0761D6478BD642Fu;
  const char* from = text.data();
  size_t left = text.size();
  uint64_t word = 0;
  for (; left > 8; from += 8, left -= 8) {
    std::memcpy(&word, from, 8);
    hash = mix(hash, word);
  }
  word = 0;
  // A copy of unknown length would be a call: two that overlap, or three bytes.
  if (left >= 4) {
    uint32_t low = 0, high = 0;
    std::memcpy(&low, from, 4);
    std::memcpy(&high, from + left - 4, 4);
    word = static_cast<uint64_t>(high) << 32 | low;
  } else if (left > 0) {
    const auto byte = [&](size_t i) {
      return static_cast<uint64_t>(static_cast<uint8_t>(from[i]));
    };
    word = byte(0) << 16 | byte(left / 2) << 8 | byte(left - 1);
  }
  return mix(hash, word);
}

/// Texts by number, and back. Numbers may have holes; a text that is added again gets the later
/// number.
class StringTable {
 public:
  void reserve(size_t texts, size_t bytes) {
    bytes_.reserve(bytes);
    spans_.reserve(texts);
    rehash(texts);
  }

  void add(std::string_view text, uint32_t number) {
    if (number >= spans_.size()) {
      spans_.resize(number + size_t{1}, Span{0, kNone});
    }
    spans_[number] = {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(text.size())};
    bytes_.append(text);
    if (2 * (count_ + 1) > slots_.size()) {
      rehash(2 * (count_ + 1));
    }
    insert(text, number);
  }

  /// kNone when it is not there.
  uint32_t find(std::string_view text) const {
    if (slots_.empty()) {
      return kNone;
    }
    const uint64_t hash = hash_bytes(text);
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.number == kNone) {
        return kNone;
      }
      if (slot.tag == tag && this->text(slot.number) == text) {
        return slot.number;
      }
    }
  }

  bool has(uint64_t number) const { return number < spans_.size() && spans_[number].size != kNone; }
  /// Of a number that is there.
  std::string_view text(uint32_t number) const {
    return {bytes_.data() + spans_[number].start, spans_[number].size};
  }
  /// One more than the greatest number.
  size_t end() const { return spans_.size(); }
  /// Of all texts together.
  size_t num_bytes() const { return bytes_.size(); }
  /// Different texts.
  size_t size() const { return count_; }

 private:
  struct Span {
    uint32_t start, size;
  };
  struct Slot {
    uint32_t tag, number;
  };

  void insert(std::string_view text, uint32_t number) {
    const uint64_t hash = hash_bytes(text);
    const auto tag = static_cast<uint32_t>(hash >> 32);
    size_t at = hash & mask_;
    for (; slots_[at].number != kNone; at = (at + 1) & mask_) {
      if (slots_[at].tag == tag && this->text(slots_[at].number) == text) {
        slots_[at].number = number;
        return;
      }
    }
    slots_[at] = {tag, number};
    ++count_;
  }

  void rehash(size_t texts) {
    size_t capacity = 16;
    while (capacity < 2 * texts) {
      capacity *= 2;
    }
    if (capacity <= slots_.size()) {
      return;
    }
    std::vector<Slot> old(capacity, Slot{0, kNone});
    old.swap(slots_);
    mask_ = capacity - 1;
    count_ = 0;
    for (const Slot& slot : old) {
      if (slot.number != kNone) {
        insert(text(slot.number), slot.number);
      }
    }
  }

  std::string bytes_;
  std::vector<Span> spans_;
  std::vector<Slot> slots_;
  size_t mask_ = 0, count_ = 0;
};

/// What two neighbouring tokens become, by their ids.
class PairTable {
 public:
  struct Merge {
    uint32_t rank, id;
  };

  void reserve(size_t pairs) {
    size_t capacity = 16;
    while (capacity < 2 * pairs) {
      capacity *= 2;
    }
    slots_.assign(capacity, Slot{kEmpty, {kNone, kNone}});
    mask_ = capacity - 1;
    for (shift_ = 64; capacity > 1; capacity /= 2) {
      --shift_;
    }
  }

  /// At most as many as were reserved; a pair that is added again gets the later merge.
  void add(uint32_t left, uint32_t right, Merge merge) {
    const uint64_t key = key_of(left, right);
    size_t at = first(key);
    while (slots_[at].key != kEmpty && slots_[at].key != key) {
      at = (at + 1) & mask_;
    }
    slots_[at] = {key, merge};
  }

  /// Its rank is kNone when there is no such pair.
  Merge find(uint32_t left, uint32_t right) const {
    if (slots_.empty()) {
      return {kNone, kNone};
    }
    const uint64_t key = key_of(left, right);
    size_t at = first(key);
    while (slots_[at].key != kEmpty && slots_[at].key != key) {
      at = (at + 1) & mask_;
    }
    return slots_[at].merge;
  }

 private:
  static constexpr uint64_t kEmpty = UINT64_MAX;
  struct Slot {
    uint64_t key;
    Merge merge;
  };
  /// The upper bits of a product with the golden ratio.
  size_t first(uint64_t key) const {
    return static_cast<size_t>(key * 0x9E3779B97F4A7C15u >> shift_);
  }
  static uint64_t key_of(uint32_t left, uint32_t right) {
    return static_cast<uint64_t>(left) << 32 | right;
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  int shift_ = 64;
};

}  // namespace tokenizers::detail
