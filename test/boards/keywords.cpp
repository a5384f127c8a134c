// SPDX-License-Identifier: BSD-3-Clause
// Firmware of a keyword-spotting network: runs it on a signal that is the same everywhere, and
// prints the twelve scores. Instead of examples/raspberry_pi/pico2/main.cpp.
#include <cstddef>
#include <cstdint>

#include <executorch/examples/raspberry_pi/pico2/hal.h>
#include <executorch/examples/raspberry_pi/pico2/network.h>
#include <executorch/examples/raspberry_pi/pico2/numbers.h>

int main() {
  hal_init();
  uint32_t error = network_load();
  const float* scores = nullptr;
  if (error == 0) {
    float* const coefficients = network_input();
    for (size_t i = 0; i < 49 * 10; ++i) {
      coefficients[i] = static_cast<float>(i % 13) / 4 - 1.5f;  // exact in binary
    }
    error = network_run(scores);
  }
  for (size_t i = 0; error == 0 && i < 12; ++i) {
    write_score(scores[i]);
    hal_write("\n");
  }
  if (error != 0) {
    hal_write("Error ");
    write_unsigned(error);
    hal_write("\n");
  }
  hal_finish(error != 0);
}
