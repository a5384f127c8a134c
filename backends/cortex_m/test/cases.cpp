// SPDX-License-Identifier: BSD-3-Clause
// Firmware that fills the inputs of a program with the bytes of one generator (drawn.py has it,
// too), runs it, and prints a hash of each output and the instructions it took, which an emulator
// counts that takes equally long for each. Instead of examples/raspberry_pi/pico2/main.cpp.
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

// Counts down from 2^24 - 1 at the board's clock, and sets a bit when it begins anew.
volatile uint32_t* const timer = reinterpret_cast<volatile uint32_t*>(0xE000E010);

void start_timer() {
  timer[1] = 0xFFFFFF;
  timer[2] = 0;
  timer[0] = 5;
}

uint32_t ticks() {
  return 0xFFFFFF - timer[2];
}

bool timer_began_anew() {
  return (timer[0] >> 16 & 1) != 0;
}

constexpr uint32_t kKnown = 2'000'000;  // instructions, two a turn

// The boards' clocks differ, so ticks of one say nothing about another.
uint32_t ticks_of_known() {
  uint32_t turns = kKnown / 2;
  start_timer();
  __asm volatile("1: subs %0, %0, #1\n bne 1b" : "+l"(turns) : : "cc");
  return ticks();
}

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
    start_timer();
    error = network_run(scores);
  }
  const uint32_t taken = ticks();
  if (error == 0 && timer_began_anew()) {
    hal_write("more instructions than the timer counts\n");
    hal_finish(true);
  }
  for (size_t i = 0; error == 0 && network_bytes(true, i).data != nullptr; ++i) {
    write_unsigned(hash(network_bytes(true, i)));
    hal_write("\n");
  }
  if (error != 0) {
    hal_write("Error ");
    write_unsigned(error);
    hal_write("\n");
  } else {
    hal_write("instructions ");
    write_unsigned(static_cast<uint32_t>(uint64_t{taken} * kKnown / ticks_of_known()));
    hal_write("\n");
  }
  hal_finish(error != 0);
}
