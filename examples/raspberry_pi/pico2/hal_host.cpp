// SPDX-License-Identifier: BSD-3-Clause
// A computer in the place of the board.
#include <cstdio>
#include <cstdlib>

#include <executorch/examples/raspberry_pi/pico2/hal.h>

void hal_init() {}
void hal_write(const char* text) {
  std::fputs(text, stdout);
}
void hal_finish(bool is_error) {
  std::printf("LED: 10 flashes of %d ms\n", is_error ? 100 : 500);
  std::exit(is_error ? 1 : 0);
}
