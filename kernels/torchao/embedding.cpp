// SPDX-License-Identifier: BSD-3-Clause
// Rows of tables of 1 to 8 bits, and of a linear's weight that serves as one.
#include <executorch/kernels/torchao/CustomOpsNativeFunctions.h>

#include <algorithm>
#include <cinttypes>

#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/torchao/low_bits.h>
#include <executorch/kernels/torchao/weights.h>

namespace torch::executor::native {

namespace {

using namespace ::executorch::kernels;
using namespace ::executorch::kernels::torchao;

bool take_result(const OpCall& call, const Tensor& indices, int64_t columns, Tensor& out) {
  Shape shape;
  shape.push(indices.numel());
  shape.push(columns);
  if (!check_dtype(call, "out", out, ScalarType::Float) || !resize_output(call, out, shape)) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(out), InvalidArgument, false,
                      "%s: expected out in row-major order, found another", call.op);
  return true;
}

bool check_parameters(const OpCall& call, const Tensor& scales, const Tensor& zeros, int64_t count,
                      int64_t columns) {
  if (!check_dtype(call, "weight_scales", scales, ScalarType::Float) ||
      !check_dtype(call, "weight_zeros", zeros, ScalarType::Char) ||
      !check_rank(call, "weight_scales", scales, 2) ||
      !check_rank(call, "weight_zeros", zeros, 2)) {
    return false;
  }
  const int64_t groups = scales.size(1);
  ET_KERNEL_CHECK_MSG(call.ctx,
                      scales.size(0) == count && groups > 0 && columns % groups == 0 &&
                          columns / groups % 32 == 0 && optimized::same_sizes(scales, zeros) &&
                          is_row_major(scales) && is_row_major(zeros),
                      InvalidArgument, false,
                      "%s: expected row-major weight_scales and weight_zeros [%" PRId64
                      ", groups] with "
                      "groups of a multiple of 32 columns, found %s and %s",
                      call.op, count, ShapeText(scales).text, ShapeText(zeros).text);
  return true;
}

Tensor& embedding(const OpCall& call, int bits, const Tensor& packed, int64_t count,
                  int64_t columns, const Tensor& scales, const Tensor& zeros, const Tensor& indices,
                  Tensor& out) {
  const uint8_t* rows = nullptr;
  if (!read_embedding(call, packed, bits, count, columns, rows) ||
      !check_parameters(call, scales, zeros, count, columns) || !check_rows(call, indices, count) ||
      !take_result(call, indices, columns, out)) {
    return out;
  }
  constexpr int64_t kBlock = 128;  // whose rows are unpacked at a time
  const int64_t groups = scales.size(1), group_size = columns / groups;
  const int32_t offset = 1 << (bits - 1);
  auto* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < static_cast<int64_t>(indices.numel()); ++i) {
    const int64_t row = row_index(indices, i);
    const uint8_t* from = rows + row * (columns / 8 * bits);
    for (int64_t at = 0; at < columns; at += kBlock) {
      uint8_t codes[kBlock];
      const int64_t n = std::min(kBlock, columns - at);
      unpack_codes(bits, from + at / 8 * bits, n, codes);
      for (int64_t j = 0; j < n; ++j) {
        const int64_t param = row * groups + (at + j) / group_size;
        const int32_t value = codes[j] - offset - zeros.const_data_ptr<int8_t>()[param];
        to[i * columns + at + j] =
            static_cast<float>(value) * scales.const_data_ptr<float>()[param];
      }
    }
  }
  return out;
}

Tensor& shared_embedding(const OpCall& call, int bits, const Tensor& packed, int64_t group_size,
                         int64_t n, int64_t k, const Tensor& indices, Tensor& out) {
  LinearWeight weight;
  if (!read_linear_weight(call, packed, bits, group_size, n, k, weight) ||
      !check_rows(call, indices, n) || !take_result(call, indices, k, out)) {
    return out;
  }
  auto* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < static_cast<int64_t>(indices.numel()); ++i) {
    const int64_t index = row_index(indices, i), block = index / kRows, row = index % kRows;
    for (int64_t at = 0; at < k; at += kChunkColumns) {
      uint8_t codes[kChunk];
      const int64_t group = at / group_size;
      unpack_codes(bits, weight.codes(block, group) + at % group_size * bits, kChunk, codes);
      const float scale = weight.number<float>(block, group, 0, row);
      const int32_t zero = weight.has_zeros ? weight.number<int32_t>(block, group, 2, row) : 0;
      for (int64_t j = 0; j < kChunkColumns; ++j) {
        const int32_t code = codes[j / 8 * (kChunk / 2) + row * 8 + j % 8];
        // Zero points of corrupted files may be anything.
        const float value = static_cast<float>(code - weight.offset()) - static_cast<float>(zero);
        to[i * k + at + j] = value * scale;
      }
    }
  }
  return out;
}

}  // namespace

#define EMBEDDINGS(BITS)                                                                        \
  Tensor& torchao_embedding_##BITS##bit_out(                                                    \
      KernelRuntimeContext& ctx, const Tensor& packed_weight_qvals, int64_t num_embeddings,     \
      int64_t embedding_dim, const Tensor& weight_scales, const Tensor& weight_zeros,           \
      const Tensor& indices, Tensor& out) {                                                     \
    return embedding({ctx, "_embedding_" #BITS "bit.out"}, BITS, packed_weight_qvals,           \
                     num_embeddings, embedding_dim, weight_scales, weight_zeros, indices, out); \
  }                                                                                             \
  Tensor& torchao_shared_embedding_##BITS##bit_out(                                             \
      KernelRuntimeContext& ctx, const Tensor& packed_weights, int64_t group_size, int64_t n,   \
      int64_t k, const Tensor& indices, Tensor& out) {                                          \
    return shared_embedding({ctx, "_shared_embedding_" #BITS "bit.out"}, BITS, packed_weights,  \
                            group_size, n, k, indices, out);                                    \
  }

EMBEDDINGS(1)
EMBEDDINGS(2)
EMBEDDINGS(3)
EMBEDDINGS(4)
EMBEDDINGS(5)
EMBEDDINGS(6)
EMBEDDINGS(7)
EMBEDDINGS(8)

#undef EMBEDDINGS

}  // namespace torch::executor::native
