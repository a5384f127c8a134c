// SPDX-License-Identifier: BSD-3-Clause
// Rows of a quantized table by index, dequantized. Elements have 8, 4 or 2 bits; scales are one for
// a row or one for each group of its columns.
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/quantized/CustomOpsNativeFunctions.h>
#include <executorch/kernels/quantized/range.h>

#include <algorithm>
#include <cinttypes>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

struct Table {
  const Tensor& weight;
  const Tensor& scales;
  const std::optional<Tensor>& zero_points;
  int bits;
  int64_t quant_min;
  int64_t quant_max;

  int64_t columns() const { return weight.sizes()[1] * (8 / bits); }
  int64_t groups() const { return scales.dim() == 2 ? scales.sizes()[1] : 1; }
};

// Element `column` of a packed row. Four bits: the high half of a byte comes first. Two bits: the
// lowest come first. Both are stored with their least value as 0.
template <typename Read>
float unpacked(int bits, int64_t column, const Read& read) {
  if (bits == 8) {
    return read(column);
  }
  const int byte = static_cast<int>(read(column / (8 / bits))) & 0xFF;
  if (bits == 4) {
    return static_cast<float>((column % 2 == 0 ? byte >> 4 : byte & 15) - 8);
  }
  return static_cast<float>((byte >> (2 * (column % 4)) & 3) - 2);
}

bool check_table(const OpCall& call, const Table& table) {
  const ScalarType type = table.weight.scalar_type();
  ET_KERNEL_CHECK_MSG(call.ctx,
                      type == ScalarType::Byte || (type == ScalarType::Char && table.bits == 8),
                      InvalidArgument, false, "%s: expected weight of Byte%s, found %s", call.op,
                      table.bits == 8 ? " or Char" : "", ::executorch::runtime::toString(type));
  const int64_t half = int64_t{1} << (table.bits - 1);
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      table.quant_min <= table.quant_max &&
          (table.bits == 8 || (table.quant_min == -half && table.quant_max == half - 1)),
      InvalidArgument, false,
      "%s: expected the range of the weight's bits, found [%" PRId64 ", %" PRId64 "] for %d bits",
      call.op, static_cast<int64_t>(table.quant_min), static_cast<int64_t>(table.quant_max),
      table.bits);
  if (!check_rank(call, "weight", table.weight, 2) ||
      !check_floating(call, "weight_scales", table.scales)) {
    return false;
  }
  const Tensor& scales = table.scales;
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      (scales.dim() == 1 || scales.dim() == 2) && scales.sizes()[0] == table.weight.sizes()[0] &&
          table.groups() > 0 && table.columns() % table.groups() == 0,
      InvalidArgument, false,
      "%s: expected weight_scales for each of %" PRId64 " rows of %" PRId64 " columns, found %s",
      call.op, static_cast<int64_t>(table.weight.sizes()[0]), static_cast<int64_t>(table.columns()),
      ShapeText(scales).text);
  return !table.zero_points.has_value() ||
         (check_computable(call, "weight_zero_points", *table.zero_points) &&
          check_count(call, "elements of weight_zero_points", table.zero_points->numel(),
                      scales.numel()) &&
          check_rank(call, "weight_zero_points", *table.zero_points, scales.dim()));
}

bool check_indices(const OpCall& call, const Tensor& indices) {
  const ScalarType type = indices.scalar_type();
  ET_KERNEL_CHECK_MSG(call.ctx, type == ScalarType::Int || type == ScalarType::Long,
                      InvalidArgument, false, "%s: expected indices of Int or Long, found %s",
                      call.op, ::executorch::runtime::toString(type));
  ET_KERNEL_CHECK_MSG(call.ctx, indices.dim() < Shape::kMaxDims, InvalidArgument, false,
                      "%s: expected indices of fewer dims, found %d", call.op,
                      static_cast<int>(indices.dim()));
  return true;
}

// Writes one dequantized row.
void write_row(const Table& table, int64_t row, const StridedWriter<float>& writer, int64_t at,
               int64_t stride) {
  const StridedReader<float> weight(table.weight);
  const StridedReader<float> scales(table.scales);
  const StridedReader<float> zeros(table.zero_points.has_value() ? *table.zero_points
                                                                 : table.scales);
  const StridedView codes = StridedView::of(table.weight);
  const StridedView scale_view = StridedView::of(table.scales);
  const StridedView zero_view =
      StridedView::of(table.zero_points.has_value() ? *table.zero_points : table.scales);
  const int64_t columns = table.columns();
  const int64_t group_size = columns / table.groups();
  const auto read = [&](int64_t byte) {
    return weight.at(row * codes.strides[0] + byte * codes.strides[1]);
  };
  const auto param = [&](const StridedReader<float>& reader, const StridedView& view,
                         int64_t group) {
    return reader.at(row * view.strides[0] + (view.ndim == 2 ? group * view.strides[1] : 0));
  };
  for (int64_t column = 0; column < columns; ++column) {
    const int64_t group = column / group_size;
    const float zero = table.zero_points.has_value() ? param(zeros, zero_view, group) : 0.0F;
    const float value = unpacked(table.bits, column, read) - zero;
    writer.put(at + column * stride, value * param(scales, scale_view, group));
  }
}

Tensor& embed(const OpCall& call, const Table& table, const Tensor& indices,
              std::optional<ScalarType> dtype, Tensor& out) {
  if (!check_table(call, table) || !check_indices(call, indices) ||
      !check_floating(call, "out", out) ||
      (dtype.has_value() && !check_dtype(call, "out", out, *dtype))) {
    return out;
  }
  Shape shape(indices);
  shape.push(table.columns());
  if (!resize_output(call, out, shape)) {
    return out;
  }
  const StridedReader<int64_t> reader(indices);
  const StridedWriter<float> writer(out);
  const StridedView from = StridedView::of(indices);
  const StridedView to = StridedView::of(out);
  Odometer<2> odometer(from.ndim, from.sizes);
  odometer.set_strides(0, from.strides);
  odometer.set_strides(1, to.strides);
  const int64_t rows = table.weight.sizes()[0];
  for (int64_t i = 0; i < indices.numel(); ++i, odometer.next()) {
    const int64_t row = reader.at(odometer.offset(0));
    ET_KERNEL_CHECK_MSG(call.ctx, row >= 0 && row < rows, InvalidArgument, out,
                        "%s: expected indices in [0, %" PRId64 "), found %" PRId64, call.op,
                        static_cast<int64_t>(rows), static_cast<int64_t>(row));
    write_row(table, row, writer, odometer.offset(1), to.strides[to.ndim - 1]);
  }
  return out;
}

}  // namespace

#define EMBEDDING(BITS, NAME)                                                                  \
  Tensor& quantized_##NAME##_out(                                                              \
      KernelRuntimeContext& ctx, const Tensor& weight, const Tensor& weight_scales,            \
      const std::optional<Tensor>& weight_zero_points, int64_t weight_quant_min,               \
      int64_t weight_quant_max, const Tensor& indices, Tensor& out) {                          \
    return embed(                                                                              \
        {ctx, #NAME ".out"},                                                                   \
        {weight, weight_scales, weight_zero_points, BITS, weight_quant_min, weight_quant_max}, \
        indices, std::nullopt, out);                                                           \
  }                                                                                            \
  Tensor& quantized_##NAME##_dtype_out(                                                        \
      KernelRuntimeContext& ctx, const Tensor& weight, const Tensor& weight_scales,            \
      const std::optional<Tensor>& weight_zero_points, int64_t weight_quant_min,               \
      int64_t weight_quant_max, const Tensor& indices, std::optional<ScalarType> dtype,        \
      Tensor& out) {                                                                           \
    return embed(                                                                              \
        {ctx, #NAME ".dtype_out"},                                                             \
        {weight, weight_scales, weight_zero_points, BITS, weight_quant_min, weight_quant_max}, \
        indices, dtype, out);                                                                  \
  }

EMBEDDING(8, embedding_byte)
EMBEDDING(4, embedding_4bit)
EMBEDDING(2, embedding_2bit)

#undef EMBEDDING

}  // namespace torch::executor::native
