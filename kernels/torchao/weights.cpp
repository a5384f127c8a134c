// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/kernels/torchao/weights.h>

#include <cinttypes>

namespace executorch::kernels::torchao {

using executorch::aten::ScalarType;

namespace {

constexpr int32_t kMagic = 6712, kLinear = 1, kEmbedding = 2;

bool check_bytes(const OpCall& call, const Tensor& packed) {
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      (packed.scalar_type() == ScalarType::Char || packed.scalar_type() == ScalarType::Byte) &&
          packed.dim() == 1 && packed.numel() >= kHeaderBytes,
      InvalidArgument, false,
      "%s: expected packed weights of Char with 1 dim and at least %" PRId64
      " bytes, "
      "found %s %s",
      call.op, static_cast<int64_t>(kHeaderBytes),
      executorch::runtime::toString(packed.scalar_type()), ShapeText(packed).text);
  return true;
}

int32_t header_field(const Tensor& packed, int index) {
  return LinearWeight::load<int32_t>(static_cast<const uint8_t*>(packed.const_data_ptr()) +
                                     index * 4);
}

}  // namespace

bool read_linear_weight(const OpCall& call, const Tensor& packed, int bits, int64_t group_size,
                        int64_t n, int64_t k, LinearWeight& weight) {
  if (!check_bytes(call, packed)) {
    return false;
  }
  const auto field = [&](int index) { return header_field(packed, index); };
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      field(0) == kMagic && field(1) == kLinear && field(2) == bits && field(5) == kRows &&
          field(6) == kChunkColumns && field(7) == 2,
      InvalidArgument, false,
      "%s: expected weights of %d bits packed for 'universal', found header %d, %d, "
      "%d; pack them again",
      call.op, bits, field(0), field(1), field(2));
  const int64_t bytes = packed.numel() - kHeaderBytes;
  // Sizes beyond what the bytes can hold are refused before anything is multiplied.
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      n > 0 && n <= bytes && k > 0 && k / 8 <= bytes && group_size > 0 &&
          group_size % kChunkColumns == 0 && k % group_size == 0 && group_size <= 65536,
      InvalidArgument, false,
      "%s: expected n and k of the packing and a group size (at most 65536) that is "
      "a multiple of 16 and divides k, found n %" PRId64 ", k %" PRId64 ", group_size %" PRId64,
      call.op, n, static_cast<int64_t>(k), static_cast<int64_t>(group_size));
  weight.bits = bits;
  weight.has_zeros = field(3) != 0;
  weight.has_bias = field(4) != 0;
  weight.n = n;
  weight.k = k;
  weight.group_size = group_size;
  weight.blocks = static_cast<const uint8_t*>(packed.const_data_ptr()) + kHeaderBytes;
  weight.code_bytes = group_size * bits;
  weight.group_bytes = weight.code_bytes + 4 * kRows * (weight.has_zeros ? 3 : 2);
  weight.block_bytes = weight.groups() * weight.group_bytes + (weight.has_bias ? 4 * kRows : 0);
  const int64_t blocks = (n + kRows - 1) / kRows;
  ET_KERNEL_CHECK_MSG(call.ctx,
                      bytes % weight.block_bytes == 0 && bytes / weight.block_bytes == blocks,
                      InvalidArgument, false,
                      "%s: expected %" PRId64 " blocks of %" PRId64
                      " bytes after the header, found %" PRId64 " bytes",
                      call.op, static_cast<int64_t>(blocks),
                      static_cast<int64_t>(weight.block_bytes), static_cast<int64_t>(bytes));
  return true;
}

bool read_embedding(const OpCall& call, const Tensor& packed, int bits, int64_t count,
                    int64_t columns, const uint8_t*& rows) {
  if (!check_bytes(call, packed)) {
    return false;
  }
  const auto field = [&](int index) { return header_field(packed, index); };
  ET_KERNEL_CHECK_MSG(call.ctx,
                      field(0) == kMagic && field(1) == kEmbedding && field(2) == 1 &&
                          field(3) == bits && field(4) == 32 && field(5) == 128,
                      InvalidArgument, false,
                      "%s: expected an embedding of %d bits, found header %d, %d, %d, %d; pack it "
                      "again",
                      call.op, bits, field(0), field(1), field(2), field(3));
  const int64_t bytes = packed.numel() - kHeaderBytes;
  const bool in_range = count > 0 && columns > 0 && columns % 32 == 0 && columns / 8 <= bytes;
  const int64_t row_bytes = in_range ? columns / 8 * bits : 1;
  ET_KERNEL_CHECK_MSG(call.ctx, in_range && bytes % row_bytes == 0 && bytes / row_bytes == count,
                      InvalidArgument, false,
                      "%s: expected %" PRId64 " rows of %" PRId64
                      " values (a multiple of 32) of %d bits after the "
                      "header, found %" PRId64 " bytes",
                      call.op, count, static_cast<int64_t>(columns), bits,
                      static_cast<int64_t>(bytes));
  rows = static_cast<const uint8_t*>(packed.const_data_ptr()) + kHeaderBytes;
  return true;
}

bool check_rows(const OpCall& call, const Tensor& indices, int64_t count) {
  const ScalarType type = indices.scalar_type();
  ET_KERNEL_CHECK_MSG(
      call.ctx, (type == ScalarType::Int || type == ScalarType::Long) && indices.dim() == 1,
      InvalidArgument, false, "%s: expected indices of Int or Long with 1 dim, found %s %s",
      call.op, executorch::runtime::toString(type), ShapeText(indices).text);
  for (int64_t i = 0; i < static_cast<int64_t>(indices.numel()); ++i) {
    const int64_t row = row_index(indices, i);
    ET_KERNEL_CHECK_MSG(call.ctx, row >= 0 && row < count, InvalidArgument, false,
                        "%s: expected indices in [0, %" PRId64 "), found %" PRId64, call.op, count,
                        static_cast<int64_t>(row));
  }
  return true;
}

}  // namespace executorch::kernels::torchao
