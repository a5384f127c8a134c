// SPDX-License-Identifier: BSD-3-Clause
// The loops of torchao's operators on plain arrays.
#pragma once

#include <cstdint>

#include <executorch/kernels/torchao/weights.h>

namespace executorch::kernels::torchao {

// Codes of `count` values (a multiple of 32) as bytes: blocks of 128, then at most one of 64 and
// one of 32. Of 8 bits they are made unsigned, too: a value is code - 2^(bits - 1).
void unpack_codes(int bits, const uint8_t* packed, int64_t count, uint8_t* codes);

// A row of activations in 8 bits: x is about (code - zero) * scale.
struct QuantizedRow {
  float scale;
  float zero;
};
// `sums` takes the sum of codes of each group.
QuantizedRow quantize_row(const float* x, int64_t k, int64_t group_size, int8_t* codes,
                          int32_t* sums);

// What quantize_row made of some rows.
struct Activations {
  int64_t rows;
  const int8_t* codes;  // rows x k
  const int32_t* sums;  // rows x groups
  const QuantizedRow* parameters;
};

// Bytes of scratch memory, aligned to 64, that a call below needs.
int64_t block_scratch_bytes(const LinearWeight& weight);

// out[i * out_stride + j] for the rows of a block of weights, of which `valid` exist.
void multiply_block(const LinearWeight& weight, int64_t block, const Activations& x, int64_t valid,
                    uint8_t* scratch, float* out, int64_t out_stride);

}  // namespace executorch::kernels::torchao
