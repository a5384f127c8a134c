// SPDX-License-Identifier: BSD-3-Clause
// Types, and the parameters of quantization that each of them needs.
#include <executorch/backends/xnnpack/runtime/values.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <iterator>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNNQuantizedTensorValue;
using fb_xnnpack::XNNQuantParams;
using fb_xnnpack::XNNTensorValue;
using runtime::Error;

namespace {

constexpr size_t kGroupMultiple = 32;

struct TypeRow {
  XNNDatatype type;
  XNNQuantParams parameters;
  size_t bits;
  int32_t min_zero_point = 0;
  int32_t max_zero_point = 0;
};
constexpr TypeRow kTypes[] = {
    {XNNDatatype::xnn_datatype_fp32, XNNQuantParams::NONE, 32},
    {XNNDatatype::xnn_datatype_fp16, XNNQuantParams::NONE, 16},
    {XNNDatatype::xnn_datatype_qint8, XNNQuantParams::PerTensorQuant, 8, -128, 127},
    {XNNDatatype::xnn_datatype_quint8, XNNQuantParams::PerTensorQuant, 8, 0, 255},
    {XNNDatatype::xnn_datatype_qint32, XNNQuantParams::PerTensorQuant, 32},
    {XNNDatatype::xnn_datatype_qcint8, XNNQuantParams::PerChannelQuant, 8},
    {XNNDatatype::xnn_datatype_qcint4, XNNQuantParams::PerChannelQuant, 4},
    {XNNDatatype::xnn_datatype_qcint32, XNNQuantParams::PerChannelQuant, 32},
    {XNNDatatype::xnn_datatype_qdint8, XNNQuantParams::PerTokenDynamicQuant, 8},
    {XNNDatatype::xnn_datatype_qbint4, XNNQuantParams::PerChannelGroupQuant, 4},
};

const TypeRow* find(XNNDatatype type) {
  const TypeRow* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                    [&](const TypeRow& each) { return each.type == type; });
  return row == std::end(kTypes) ? nullptr : row;
}

Error shape_of(const XNNTensorValue& tensor, uint32_t id, Shape& out) {
  const auto* dims = tensor.dims();
  out.rank = dims == nullptr ? 0 : dims->size();
  ET_CHECK_OR_RETURN_ERROR(out.rank <= kMaxRank && tensor.num_dims() == out.rank, InvalidProgram,
                           "XNNPACK value %" PRIu32 ": %zu dimensions", id, out.rank);
  for (size_t i = 0; i < out.rank; ++i) {
    out.dims[i] = dims->Get(static_cast<uint32_t>(i));
  }
  ET_CHECK_OR_RETURN_ERROR(out.num_elements() <= kMaxElements, InvalidProgram,
                           "XNNPACK value %" PRIu32 ": too many elements", id);
  return Error::Ok;
}

Error by_tensor(const fb_xnnpack::PerTensorQuant& given, const TypeRow& row, uint32_t id,
                Value& out) {
  out.scale = given.scale();
  out.zero_point = given.zero_point();
  ET_CHECK_OR_RETURN_ERROR(is_scale(out.scale), InvalidProgram,
                           "XNNPACK value %" PRIu32 ": a scale of %g", id,
                           static_cast<double>(out.scale));
  ET_CHECK_OR_RETURN_ERROR(
      out.zero_point >= row.min_zero_point && out.zero_point <= row.max_zero_point, InvalidProgram,
      "XNNPACK value %" PRIu32 ": zero point %d, expected %d to %d", id,
      static_cast<int>(out.zero_point), static_cast<int>(row.min_zero_point),
      static_cast<int>(row.max_zero_point));
  return Error::Ok;
}

/// The number of scales that follows from the shape; where they are is for the constants.
Error by_channel(int32_t channel_dim, const Shape& shape, uint32_t id, Value& out) {
  ET_CHECK_OR_RETURN_ERROR(channel_dim >= 0 && static_cast<size_t>(channel_dim) < shape.rank,
                           InvalidProgram,
                           "XNNPACK value %" PRIu32 ": channels in dimension %d of %zu", id,
                           static_cast<int>(channel_dim), shape.rank);
  out.channel_dim = static_cast<size_t>(channel_dim);
  out.num_scales = shape.dims[out.channel_dim];
  return Error::Ok;
}

Error by_group(const fb_xnnpack::PerChannelGroupQuant& given, const Shape& shape, uint32_t id,
               Value& out) {
  const size_t group = given.group_size() > 0 ? static_cast<size_t>(given.group_size()) : 0;
  ET_CHECK_OR_RETURN_ERROR(shape.rank == 2 && given.channel_dim() == 0 && group > 0 &&
                               group % kGroupMultiple == 0 && shape.dims[1] % group == 0,
                           InvalidProgram,
                           "XNNPACK value %" PRIu32
                           ": groups of %zu, expected rows of whole multiples of "
                           "%zu",
                           id, group, kGroupMultiple);
  out.group_size = group;
  out.num_scales = shape.dims[0] * (shape.dims[1] / group);
  return Error::Ok;
}

Error read_parameters(const XNNQuantizedTensorValue& value, const TypeRow& row, const Shape& shape,
                      uint32_t id, Value& out) {
  out.quantization = value.quant_params();
  switch (row.parameters) {
    case XNNQuantParams::PerTensorQuant:
      return by_tensor(*value.quant_params_as_PerTensorQuant(), row, id, out);
    case XNNQuantParams::PerChannelQuant:
      return by_channel(value.quant_params_as_PerChannelQuant()->channel_dim(), shape, id, out);
    case XNNQuantParams::PerChannelGroupQuant:
      return by_group(*value.quant_params_as_PerChannelGroupQuant(), shape, id, out);
    default: {
      const int32_t dims = value.quant_params_as_PerTokenDynamicQuant()->num_nonbatch_dims();
      ET_CHECK_OR_RETURN_ERROR(dims > 0 && static_cast<size_t>(dims) <= shape.rank &&
                                   !out.is_constant() && out.tensor->flags() == 0,
                               InvalidProgram,
                               "XNNPACK value %" PRIu32
                               ": quantized while running by %d of %zu dimensions",
                               id, static_cast<int>(dims), shape.rank);
      out.num_nonbatch_dims = static_cast<size_t>(dims);
      return Error::Ok;
    }
  }
}

}  // namespace

bool is_scale(float scale) {
  return std::isnormal(scale) && scale > 0;
}

uint64_t size_of(XNNDatatype type, const Shape& shape) {
  const TypeRow* row = find(type);
  const uint64_t elements = shape.num_elements();
  if (row == nullptr || elements == 0) {
    return 0;
  }
  if (row->bits < 8 && shape.rank > 0) {
    const uint64_t last = shape.dims[shape.rank - 1];
    return elements / last * ((last * row->bits + 7) / 8);
  }
  return elements * (row->bits / 8);
}

Error read_value(const fb_xnnpack::XValue& value, uint32_t id, Value& out, Shape& shape) {
  const uint32_t name = id;
  const XNNQuantizedTensorValue* quantized = value.xvalue_union_as_XNNQuantizedTensorValue();
  out.tensor =
      quantized != nullptr ? quantized->tensor_value() : value.xvalue_union_as_XNNTensorValue();
  ET_CHECK_OR_RETURN_ERROR(
      out.tensor != nullptr && out.tensor->dq_datatype() == XNNDatatype::xnn_datatype_invalid,
      NotSupported, "XNNPACK value %" PRIu32 ": quantized in a way of old exporters", name);
  ET_CHECK_OR_RETURN_ERROR(out.tensor->id_out() == id, InvalidProgram,
                           "XNNPACK value %" PRIu32 " calls itself %" PRIu32, name,
                           static_cast<uint32_t>(out.tensor->id_out()));
  const TypeRow* row = find(out.type());
  ET_CHECK_OR_RETURN_ERROR(row != nullptr, NotSupported,
                           "XNNPACK value %" PRIu32 ": this build has no %s", name,
                           fb_xnnpack::EnumNameXNNDatatype(out.type()));
  const XNNQuantParams found =
      quantized == nullptr ? XNNQuantParams::NONE : quantized->quant_params_type();
  ET_CHECK_OR_RETURN_ERROR(
      found == row->parameters && (quantized == nullptr || quantized->quant_params() != nullptr),
      InvalidProgram, "XNNPACK value %" PRIu32 ": %s with parameters %s, expected %s", name,
      fb_xnnpack::EnumNameXNNDatatype(out.type()), fb_xnnpack::EnumNameXNNQuantParams(found),
      fb_xnnpack::EnumNameXNNQuantParams(row->parameters));
  ET_CHECK_OK_OR_RETURN_ERROR(shape_of(*out.tensor, name, shape));
  return quantized == nullptr ? Error::Ok : read_parameters(*quantized, *row, shape, name, out);
}

}  // namespace executorch::backends::xnnpack
