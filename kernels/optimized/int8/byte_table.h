// SPDX-License-Identifier: BSD-3-Clause
// Functions of a byte, looked up.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

struct ByteTableKernel {
  void (*look_up)(const uint8_t* table, const uint8_t* from, int64_t count, uint8_t* to);
};

// Of the processor; chosen at every call, so that tests can go through all instruction sets.
const ByteTableKernel& byte_table_kernel();

// to[i] = table[from[i]], of 256 bytes; `to` may be `from`. Threaded.
void look_up_bytes(const uint8_t* table, const uint8_t* from, int64_t count, uint8_t* to);

}  // namespace executorch::kernels::optimized
