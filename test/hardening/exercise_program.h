// SPDX-License-Identifier: BSD-3-Clause
// Does with a file of unknown content whatever a careful user would: load, look, run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace executorch::runtime::testing {

// How far a file got.
enum class Outcome { kRefused, kMethodRefused, kFailed, kRan };

// Loads the program with full verification, asks for all metadata, loads every method, runs it
// twice with inputs of zeros made from the metadata, and reads its outputs. `data` may be unaligned
// and is not kept. Returns how far the last method got. Nothing in a file may make this crash, hang
// or leak.
Outcome exercise_program(const uint8_t* data, size_t size);

}  // namespace executorch::runtime::testing
