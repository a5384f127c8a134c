// SPDX-License-Identifier: BSD-3-Clause
// The network, as main.cpp sees it: network_interpreter.cpp loads and runs the program,
// network_source.cpp calls the source that executorch.codegen.c made of it. Both have static memory
// alone.
#pragma once

#include <cstddef>
#include <cstdint>

/// To be called once: 0, or an error code of the runtime.
uint32_t network_load();
/// What the next run reads, to be written before each: of the digits 784 pixels, 1 for white. The
/// run may overwrite it.
float* network_input();
/// Runs; `scores` are the numbers of the output, of the digits ten, valid until the next run. 0, or
/// an error code.
uint32_t network_run(const float*& scores);

struct NetworkBytes {
  uint8_t* data = nullptr;
  size_t size = 0;
};
/// The memory of an input or an output of the interpreter's network; none beyond the last.
NetworkBytes network_bytes(bool is_output, size_t index);
