// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/runtime/weights/fingerprint.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace executorch::backends::xnnpack {

namespace {

constexpr uint64_t kPrime = 0x9E3779B185EBCA87;

uint64_t mix(uint64_t value, uint64_t word) {
  value = (value ^ word) * kPrime;
  return value ^ (value >> 32);
}

/// Both halves of the product, in one word: "wyhash" (Wang Yi, 2019).
uint64_t fold(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
  const uint64_t mask = UINT32_MAX;
  const uint64_t low = (a & mask) * (b & mask);
  const uint64_t middle = (a >> 32) * (b & mask) + (low >> 32);
  const uint64_t other = (a & mask) * (b >> 32) + (middle & mask);
  const uint64_t high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
  return ((other << 32) | (low & mask)) ^ high;
#endif
}

uint64_t word_at(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

uint64_t process_seed() {
  static const uint64_t seed =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * kPrime ^
      reinterpret_cast<uintptr_t>(&seed);
  return seed;
}

Fingerprint::Fingerprint(uint64_t seed) {
  for (size_t i = 0; i < kLanes; ++i) {
    lanes_[i] = mix(seed, i);
    secrets_[i] = mix(seed, kLanes + i);
  }
}

void Fingerprint::add(const void* data, size_t size) {
  constexpr size_t kLane = 2 * sizeof(uint64_t);
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint64_t lanes[kLanes];  // in registers
  std::copy_n(lanes_, kLanes, lanes);
  const auto add_line = [&](const uint8_t* line) {
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] = fold(word_at(line + i * kLane) ^ secrets_[i],
                      word_at(line + i * kLane + sizeof(uint64_t)) ^ lanes[i]);
    }
  };
  size_t at = 0;
  for (; size - at >= kLanes * kLane; at += kLanes * kLane) {
    add_line(bytes + at);
  }
  uint8_t rest[kLanes * kLane] = {};
  std::copy_n(bytes + at, size - at, rest);
  add_line(rest);
  lanes[0] = mix(lanes[0], size);
  std::copy_n(lanes, kLanes, lanes_);
}

Fingerprint::Value Fingerprint::value() const {
  uint64_t low = 0;
  uint64_t high = kPrime;
  for (size_t i = 0; i < kLanes; ++i) {
    low = mix(low, lanes_[i]);
    high = mix(high, lanes_[kLanes - 1 - i]);
  }
  return {low, high};
}

Fingerprint::Value Fingerprint::of(const void* data, size_t size, uint64_t seed) {
  Fingerprint fingerprint(seed);
  fingerprint.add(data, size);
  return fingerprint.value();
}

}  // namespace executorch::backends::xnnpack
