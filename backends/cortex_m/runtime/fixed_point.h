// SPDX-License-Identifier: BSD-3-Clause
// int32 numbers with a multiplier of 31 bits and a shift; ops/fixed_point.py says the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace executorch::backends::cortex_m {

constexpr int32_t kInt32Min = std::numeric_limits<int32_t>::min();
constexpr int32_t kInt32Max = std::numeric_limits<int32_t>::max();

// x * 2^bits in 32 bits.
inline int32_t shift_left(int32_t x, int32_t bits) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << bits);
}

// x / 2^bits, ties away from zero; bits: 0 to 31, beyond that nothing is left.
inline int32_t divide_by_power_of_two(int32_t x, int32_t bits) {
  if (bits > 31) {
    return 0;
  }
  const auto mask = static_cast<int32_t>((uint32_t{1} << bits) - 1);
  const int32_t quotient = x >> bits;
  return quotient + ((x & mask) > (mask >> 1) + (quotient < 0));
}

// How sums of products get to the scale of a result: x * multiplier * 2^(shift - 31).
struct Scale {
  int32_t multiplier;
  int32_t left;
  int32_t right;

  Scale(int64_t multiplier, int64_t shift)
      : multiplier(static_cast<int32_t>(multiplier)),
        left(static_cast<int32_t>(std::max<int64_t>(shift, 0))),
        right(static_cast<int32_t>(std::max<int64_t>(-shift, 0))) {}

  // Rounded twice: up at half behind the product, away from zero behind the right shift.
  int32_t operator()(int32_t x) const {
    const int64_t product = static_cast<int64_t>(shift_left(x, left)) * multiplier;
    return divide_by_power_of_two(static_cast<int32_t>((product + (int64_t{1} << 30)) >> 31),
                                  right);
  }
};

inline bool is_shift(int64_t shift) {
  return -31 <= shift && shift <= 31;
}

// a * b / 2^31, ties away from zero, saturating.
inline int32_t high_product(int32_t a, int32_t b) {
  if (a == kInt32Min && b == kInt32Min) {
    return kInt32Max;
  }
  const int64_t nudge = (a < 0) == (b < 0) ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((static_cast<int64_t>(a) * b + nudge) / (int64_t{1} << 31));
}

// The limits of a result that is stored in int8.
struct Limits {
  int32_t least = -128;
  int32_t largest = 127;

  int8_t operator()(int32_t x) const {
    return static_cast<int8_t>(std::min(std::max(x, least), largest));
  }
};

}  // namespace executorch::backends::cortex_m
