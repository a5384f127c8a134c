// SPDX-License-Identifier: BSD-3-Clause
// How many output positions a convolution writes: XNNPACK does not know when it packs a filter, but
// the graph does. It goes along in flags that XNNPACK has no use for, rounded down to a power of
// two, or one and a half of it. Included from C.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define XNN_FLAG_POSITIONS_SHIFT 9
#define XNN_FLAG_POSITIONS_MASK (UINT32_C(0x3F) << XNN_FLAG_POSITIONS_SHIFT)

static inline uint32_t xnn_flags_of_positions(size_t positions) {
  uint32_t power = 0;
  while (power < 30 && positions >> (power + 1) != 0) {
    ++power;
  }
  const uint32_t is_upper = power > 0 && positions >> (power - 1) >= 3;
  return (1 + 2 * power + is_upper) << XNN_FLAG_POSITIONS_SHIFT;
}

/// 0 where flags do not tell.
static inline size_t xnn_positions_of_flags(uint32_t flags) {
  const uint32_t halves = (flags & XNN_FLAG_POSITIONS_MASK) >> XNN_FLAG_POSITIONS_SHIFT;
  if (halves == 0) {
    return 0;
  }
  const size_t power = (size_t)1 << ((halves - 1) / 2);
  return (halves - 1) % 2 == 0 ? power : power + power / 2;
}
