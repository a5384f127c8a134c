// SPDX-License-Identifier: BSD-3-Clause
// Numbers as text without printf, which would bring a heap.
#pragma once

#include <cstdint>

#include <executorch/examples/raspberry_pi/pico2/hal.h>

inline void write_unsigned(uint32_t value) {
  char text[11];
  char* at = text + sizeof(text) - 1;
  *at = 0;
  do {
    *--at = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  hal_write(at);
}

/// With three digits behind the point.
inline void write_score(float value) {
  if (value < 0) {
    hal_write("-");
    value = -value;
  }
  const auto thousandths = static_cast<uint32_t>(value * 1000 + 0.5f);
  write_unsigned(thousandths / 1000);
  const char digits[] = {'.', static_cast<char>('0' + thousandths / 100 % 10),
                         static_cast<char>('0' + thousandths / 10 % 10),
                         static_cast<char>('0' + thousandths % 10), 0};
  hal_write(digits);
}
