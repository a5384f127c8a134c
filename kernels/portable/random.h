// SPDX-License-Identifier: BSD-3-Clause
// The numbers behind the random operators: a process-wide sequence, so that threads and calls get
// different ones and runs are repeatable.
#pragma once

#include <cstdint>

namespace executorch {
namespace kernels {

// SplitMix64 (Steele, Lea, Flood 2014): a counter times kRandomStep, mixed.
constexpr uint64_t kRandomStep = 0x9E3779B97F4A7C15ull;
constexpr uint64_t kRandomMix[2] = {0xBF58476D1CE4E5B9ull, 0x94D049BB133111EBull};

inline uint64_t random_draw(uint64_t number) {
  uint64_t z = (number + 1) * kRandomStep;
  z = (z ^ (z >> 30)) * kRandomMix[0];
  z = (z ^ (z >> 27)) * kRandomMix[1];
  return z ^ (z >> 31);
}

// Takes `count` draws out of the sequence and gives the number of the first. Any thread.
uint64_t reserve_draws(uint64_t count);

// A draw makes two numbers in [0, 1), the lower half first; 24 bits each are exact in float.
constexpr float kRandomUnit = 1.0f / (1 << 24);
inline float random_half(uint64_t draw, int half) {
  return static_cast<float>(static_cast<uint32_t>(draw >> (32 * half)) >> 8) * kRandomUnit;
}

}  // namespace kernels
}  // namespace executorch
