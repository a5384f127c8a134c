// SPDX-License-Identifier: BSD-3-Clause
// Weights of 1 to 8 bits as torchao packs them: a header of 64 bytes, then blocks of 8 rows.
#pragma once

#include <cstdint>
#include <cstring>

#include <executorch/kernels/portable/loops/checks.h>

namespace executorch::kernels::torchao {

using executorch::aten::Tensor;

constexpr int64_t kHeaderBytes = 64;
constexpr int64_t kRows = 8;           // of a block
constexpr int64_t kChunkColumns = 16;  // codes are packed 8 x 16 at a time
constexpr int64_t kChunk = kRows * kChunkColumns;

// A linear's weight [n][k]. Each block of rows holds, group by group, the codes, 8 f32 scales, 8
// int32 sums of values and (with zeros) 8 int32 zero points; then (with bias) 8 f32.
struct LinearWeight {
  int bits = 0;
  bool has_zeros = false, has_bias = false;
  int64_t n = 0, k = 0, group_size = 0;
  const uint8_t* blocks = nullptr;
  int64_t code_bytes = 0, group_bytes = 0, block_bytes = 0;

  int64_t groups() const { return k / group_size; }
  // What a code is less to be the value: 8 bits are stored as they are, as signed bytes.
  int32_t offset() const { return 1 << (bits - 1); }
  const uint8_t* block(int64_t index) const { return blocks + index * block_bytes; }
  const uint8_t* codes(int64_t block_index, int64_t group) const {
    return block(block_index) + group * group_bytes;
  }
  // Value `row` of the numbers after the codes: 0 scales, 1 sums, 2 zero points.
  template <typename T>
  T number(int64_t block_index, int64_t group, int place, int64_t row) const {
    return load<T>(codes(block_index, group) + code_bytes + (place * kRows + row) * 4);
  }
  float bias(int64_t block_index, int64_t row) const {
    return load<float>(block(block_index + 1) - (kRows - row) * 4);
  }

  template <typename T>
  static T load(const void* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
};

// Reads and checks the packed bytes of a linear's weight against what the call says of it.
bool read_linear_weight(const OpCall& call, const Tensor& packed, int bits, int64_t group_size,
                        int64_t n, int64_t k, LinearWeight& weight);

// Checks an embedding's packed bytes; `rows` is where the first one begins.
bool read_embedding(const OpCall& call, const Tensor& packed, int bits, int64_t count,
                    int64_t columns, const uint8_t*& rows);

// Whether `indices` is Int or Long of one dimension, all in [0, count).
bool check_rows(const OpCall& call, const Tensor& indices, int64_t count);
inline int64_t row_index(const Tensor& indices, int64_t i) {
  return indices.scalar_type() == executorch::aten::ScalarType::Int
             ? indices.const_data_ptr<int32_t>()[i]
             : indices.const_data_ptr<int64_t>()[i];
}

}  // namespace executorch::kernels::torchao
