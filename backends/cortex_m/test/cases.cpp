// SPDX-License-Identifier: BSD-3-Clause
// Firmware that fills the inputs of a program with the bytes of one generator (drawn.py has it,
// too), runs it, and prints a hash of each output and the ticks of the processor's timer. Instead
// of examples/raspberry_pi/pico2/main.cpp.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <executorch/examples/raspberry_pi/pico2/hal.h>
#include <executorch/examples/raspberry_pi/pico2/network.h>
#include <executorch/examples/raspberry_pi/pico2/numbers.h>

#ifndef FLOAT_INPUTS
#define FLOAT_INPUTS 0
#endif

namespace {

struct Bytes {
  uint32_t state = 1;

  int8_t next() {
    state = state * 1664525u + 1013904223u;
    return static_cast<int8_t>(state >> 24);
  }
};

void fill(Bytes& bytes, const NetworkBytes& input) {
  if (FLOAT_INPUTS == 0) {
    for (size_t i = 0; i < input.size; ++i) {
      input.data[i] = static_cast<uint8_t>(bytes.next());
    }
    return;
  }
  for (size_t i = 0; i < input.size; i += sizeof(float)) {
    const float value = static_cast<float>(bytes.next()) / 100.0f;
    std::memcpy(input.data + i, &value, sizeof(float));
  }
}

uint32_t hash(const NetworkBytes& output) {
  uint32_t found = 2166136261u;
  for (size_t i = 0; i < output.size; ++i) {
    found = (found ^ output.data[i]) * 16777619u;
  }
  return found;
}

// Counts down from 2^24 - 1 at the processor's clock.
volatile uint32_t* const timer = reinterpret_cast<volatile uint32_t*>(0xE000E010);

}  // namespace

int main() {
  hal_init();
  uint32_t error = network_load();
  Bytes bytes;
  for (size_t i = 0; error == 0 && network_bytes(false, i).data != nullptr; ++i) {
    fill(bytes, network_bytes(false, i));
  }
  if (error == 0) {
    const float* scores = nullptr;
    timer[1] = 0xFFFFFF;
    timer[2] = 0;
    timer[0] = 5;
    error = network_run(scores);
  }
  const uint32_t ticks = 0xFFFFFF - timer[2];
  for (size_t i = 0; error == 0 && network_bytes(true, i).data != nullptr; ++i) {
    write_unsigned(hash(network_bytes(true, i)));
    hal_write("\n");
  }
  if (error != 0) {
    hal_write("Error ");
    write_unsigned(error);
    hal_write("\n");
  } else {
    hal_write("ticks ");
    write_unsigned(ticks);
    hal_write("\n");
  }
  hal_finish(error != 0);
}
