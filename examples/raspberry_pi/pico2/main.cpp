// SPDX-License-Identifier: BSD-3-Clause
// Firmware: shows each digit, runs the network on it, prints scores and prediction. All memory is
// static.
#include <cstddef>
#include <cstdint>

#include <executorch/examples/raspberry_pi/pico2/digits.h>
#include <executorch/examples/raspberry_pi/pico2/hal.h>
#include <executorch/examples/raspberry_pi/pico2/network.h>
#include <executorch/examples/raspberry_pi/pico2/numbers.h>

namespace {

void write_digit(int digit) {
  write_unsigned(static_cast<uint32_t>(digit));
}

// 0, or the code of what failed; sets `is_right`.
uint32_t classify(const Digit& digit, bool& is_right) {
  float* pixels = network_input();
  uint32_t white = 0;
  hal_write("=== Digit ");
  write_digit(digit.label);
  hal_write(" ===\n");
  for (int row = 0; row < 28; ++row) {
    hal_write(digit.rows[row]);
    hal_write("\n");
    for (int column = 0; column < 28; ++column) {
      const bool is_white = digit.rows[row][column] == '#';
      pixels[row * 28 + column] = is_white ? 1 : 0;
      white += is_white;
    }
  }
  hal_write("Input stats: ");
  write_unsigned(white);
  hal_write(" white pixels out of 784 total\nRunning neural network inference...\n");

  const float* scores = nullptr;
  if (const uint32_t error = network_run(scores)) {
    return error;
  }
  int best = 0;
  for (int i = 1; i < 10; ++i) {
    best = scores[i] > scores[best] ? i : best;
  }
  hal_write("✅ Neural network results:\n");
  for (int i = 0; i < 10; ++i) {
    hal_write("  Digit ");
    write_digit(i);
    hal_write(": ");
    write_score(scores[i]);
    hal_write(i == best ? " ← PREDICTED\n" : "\n");
  }
  is_right = best == digit.label;
  hal_write("PREDICTED: ");
  write_digit(best);
  hal_write(" (Expected: ");
  write_digit(digit.label);
  hal_write(is_right ? ") ✅ CORRECT!\n" : ") ❌ WRONG!\n");
  return 0;
}

}  // namespace

int main() {
  hal_init();
  uint32_t error = network_load();
  size_t num_right = 0;
  for (size_t i = 0; error == 0 && i < sizeof(digits) / sizeof(digits[0]); ++i) {
    bool is_right = false;
    error = classify(digits[i], is_right);
    num_right += is_right;
  }
  if (error != 0) {
    hal_write("Error ");
    write_unsigned(error);
    hal_write("\n");
  }
  hal_finish(error != 0 || num_right != sizeof(digits) / sizeof(digits[0]));
}
