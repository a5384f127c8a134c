// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/custom_ops/op_blocks.h>

#include <cinttypes>

#include <executorch/kernels/optimized/blocks/blocks.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/temporary.h>

namespace torch::executor::native {

namespace {

using namespace ::executorch::kernels;
using ::executorch::aten::ScalarType;
using optimized::BlockMatmul;
using optimized::BlockMatrix;

// The matrix that `weight` holds; k of 0: as many columns as there are bytes for.
bool take_matrix(const OpCall& call, const Tensor& weight, int64_t format, int64_t size, int64_t k,
                 BlockMatrix& matrix) {
  if (!check_dtype(call, "weight", weight, ScalarType::Byte) ||
      !check_rank(call, "weight", weight, 2)) {
    return false;
  }
  matrix.format = optimized::find_block_format(format);
  ET_KERNEL_CHECK_MSG(call.ctx, matrix.format >= 0, NotSupported, false,
                      "%s: expected a block format of GGUF such as 2 (Q4_0), found %" PRId64
                      ", which this version does not read",
                      call.op, format);
  const optimized::BlockFormat& facts = matrix.facts();
  const int64_t columns = matrix.block_columns(), bytes = matrix.block_bytes();
  matrix.k = k != 0 ? k : weight.size(1) / bytes * columns;
  matrix.n = size;
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      matrix.n > 0 && matrix.k > 0 && matrix.k % columns == 0 &&
          weight.size(0) == (matrix.n - 1) / optimized::kPanelRows + 1 &&
          weight.size(1) == matrix.panel_bytes() && is_row_major(weight),
      InvalidArgument, false,
      "%s: expected a %s weight of %" PRId64 " rows and %" PRId64 " columns (a multiple of %" PRId64
      ") in panels of %" PRId64 " rows, found %s",
      call.op, facts.name, size, matrix.k, columns, optimized::kPanelRows, ShapeText(weight).text);
  matrix.panels = weight.const_data_ptr<uint8_t>();
  return true;
}

// Like `tensor`, but for its last size, or with a further one.
Shape with_columns(const Tensor& tensor, bool replaced, int64_t columns) {
  Shape shape(tensor);
  if (replaced) {
    shape.sizes[shape.ndim - 1] = columns;
  } else {
    shape.push(columns);
  }
  return shape;
}

bool take_matmul(const OpCall& call, const Tensor& x, const Tensor& weight, int64_t format,
                 int64_t size, const std::optional<Tensor>& bias, const Tensor& out,
                 BlockMatmul& product) {
  const int64_t k = x.size(x.dim() - 1);
  ET_KERNEL_CHECK_MSG(call.ctx, k > 0, InvalidArgument, false,
                      "%s: expected x with columns, found %s", call.op, ShapeText(x).text);
  if (!take_matrix(call, weight, format, size, k, product.weight) ||
      !check_dtype(call, "out", out, ScalarType::Float) ||
      !resize_output(call, out, with_columns(x, true, size))) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(out), InvalidArgument, false,
                      "%s: expected out in row-major order, found another", call.op);
  if (bias.has_value()) {
    ET_KERNEL_CHECK_MSG(
        call.ctx,
        bias->scalar_type() == ScalarType::Float && bias->dim() == 1 && bias->size(0) == size,
        InvalidArgument, false, "%s: expected a Float bias of %" PRId64 " numbers, found %s %s",
        call.op, size, ::executorch::runtime::toString(bias->scalar_type()), ShapeText(*bias).text);
    product.bias = bias->const_data_ptr<float>();
  }
  product.out = out.mutable_data_ptr<float>();
  product.out_stride = size;
  return true;
}

bool check_rows(const OpCall& call, const Tensor& indices, int64_t count) {
  const ScalarType type = indices.scalar_type();
  ET_KERNEL_CHECK_MSG(call.ctx,
                      (type == ScalarType::Int || type == ScalarType::Long) &&
                          is_row_major(indices) && indices.dim() < Shape::kMaxDims,
                      InvalidArgument, false,
                      "%s: expected row-major indices of Int or Long, found %s %s", call.op,
                      ::executorch::runtime::toString(type), ShapeText(indices).text);
  for (int64_t i = 0; i < static_cast<int64_t>(indices.numel()); ++i) {
    const int64_t row = type == ScalarType::Int ? indices.const_data_ptr<int32_t>()[i]
                                                : indices.const_data_ptr<int64_t>()[i];
    ET_KERNEL_CHECK_MSG(call.ctx, row >= 0 && row < count, InvalidArgument, false,
                        "%s: expected indices in [0, %" PRId64 "), found %" PRId64, call.op, count,
                        row);
  }
  return true;
}

}  // namespace

void linear_of_blocks_out(RuntimeContext& ctx, const Tensor& x, TensorList weights,
                          IntArrayRef formats, IntArrayRef sizes,
                          ArrayRef<std::optional<Tensor>> biases, int64_t activation_bits,
                          TensorList out) {
  const OpCall call{ctx, "linear_of_blocks.out"};
  const size_t count = weights.size();
  ET_KERNEL_CHECK_MSG(ctx,
                      count > 0 && count <= optimized::kMaxBlockMatmuls &&
                          formats.size() == count && sizes.size() == count &&
                          biases.size() == count && out.size() == count,
                      InvalidArgument, ,
                      "%s: expected 1 to %" PRId64
                      " weights with as many formats, sizes, biases and results, found %zu, %zu, "
                      "%zu, %zu and %zu",
                      call.op, optimized::kMaxBlockMatmuls, count, formats.size(), sizes.size(),
                      biases.size(), out.size());
  ET_KERNEL_CHECK_MSG(ctx, activation_bits == 8 || activation_bits == 16, InvalidArgument, ,
                      "%s: expected activation_bits of 8 or 16, found %" PRId64, call.op,
                      activation_bits);
  if (!check_dtype(call, "x", x, ScalarType::Float)) {
    return;
  }
  ET_KERNEL_CHECK_MSG(ctx, x.dim() > 0 && is_row_major(x), InvalidArgument, ,
                      "%s: expected x with a dimension in row-major order, found %s", call.op,
                      ShapeText(x).text);
  BlockMatmul products[optimized::kMaxBlockMatmuls];
  for (size_t i = 0; i < count; ++i) {
    if (!take_matmul(call, x, weights[i], formats[i], sizes[i], biases[i], out[i], products[i])) {
      return;
    }
  }
  const int64_t rows = static_cast<int64_t>(x.numel()) / products[0].weight.k;
  if (rows == 0) {
    return;
  }
  const bool fine = activation_bits == 16;
  const int64_t bytes = optimized::block_matmul_bytes(products[0].weight.k, rows, fine);
  Temporary temporary;
  auto* scratch = static_cast<uint8_t*>(temporary.allocate(call, static_cast<size_t>(bytes), 64));
  if (scratch != nullptr) {
    optimized::multiply_blocks(products, static_cast<int64_t>(count), x.const_data_ptr<float>(),
                               rows, fine, scratch);
  }
}

Tensor& embedding_of_blocks_out(RuntimeContext& ctx, const Tensor& weight, int64_t format,
                                int64_t size, const Tensor& indices, Tensor& out) {
  const OpCall call{ctx, "embedding_of_blocks.out"};
  BlockMatrix matrix;
  if (!take_matrix(call, weight, format, size, 0, matrix) || !check_rows(call, indices, size) ||
      !check_dtype(call, "out", out, ScalarType::Float) ||
      !resize_output(call, out, with_columns(indices, false, matrix.k))) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, is_row_major(out), InvalidArgument, out,
                      "%s: expected out in row-major order, found another", call.op);
  for (int64_t i = 0; i < static_cast<int64_t>(indices.numel()); ++i) {
    const int64_t row = indices.scalar_type() == ScalarType::Int
                            ? indices.const_data_ptr<int32_t>()[i]
                            : indices.const_data_ptr<int64_t>()[i];
    optimized::read_block_row(matrix, row, out.mutable_data_ptr<float>() + i * matrix.k);
  }
  return out;
}

}  // namespace torch::executor::native
