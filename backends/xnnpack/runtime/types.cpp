// SPDX-License-Identifier: BSD-3-Clause
// One table of types for what has weights; everything else works in one type, but for conversions.
#include <executorch/backends/xnnpack/runtime/types.h>

#include <algorithm>
#include <iterator>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using runtime::Error;
using Values = std::vector<Value>;

namespace {

constexpr XNNDatatype kFloat = XNNDatatype::xnn_datatype_fp32;
constexpr XNNDatatype kHalf = XNNDatatype::xnn_datatype_fp16;
constexpr XNNDatatype kInt8 = XNNDatatype::xnn_datatype_qint8;
constexpr XNNDatatype kUint8 = XNNDatatype::xnn_datatype_quint8;
constexpr XNNDatatype kInt32 = XNNDatatype::xnn_datatype_qint32;
constexpr XNNDatatype kByChannel8 = XNNDatatype::xnn_datatype_qcint8;
constexpr XNNDatatype kByChannel4 = XNNDatatype::xnn_datatype_qcint4;
constexpr XNNDatatype kByChannel32 = XNNDatatype::xnn_datatype_qcint32;
constexpr XNNDatatype kByGroup4 = XNNDatatype::xnn_datatype_qbint4;
constexpr XNNDatatype kDynamic = XNNDatatype::xnn_datatype_qdint8;

/// Bits of WeightedRow::kinds.
constexpr unsigned kLinear = 1;
constexpr unsigned kConv = 2;
constexpr unsigned kDepthwise = 4;
constexpr unsigned kTransposed = 8;
constexpr unsigned kAll = kLinear | kConv | kDepthwise | kTransposed;

struct WeightedRow {
  XNNDatatype input;
  XNNDatatype filter;
  XNNDatatype bias;
  XNNDatatype output;
  unsigned kinds;
};
constexpr WeightedRow kWeighted[] = {
    {kFloat, kFloat, kFloat, kFloat, kAll},
    {kHalf, kHalf, kHalf, kHalf, kAll},
    {kHalf, kFloat, kFloat, kHalf, kConv | kDepthwise | kTransposed},
    {kInt8, kInt8, kInt32, kInt8, kAll},
    {kInt8, kByChannel8, kByChannel32, kInt8, kAll},
    {kUint8, kUint8, kInt32, kUint8, kAll},
    {kDynamic, kByChannel8, kFloat, kFloat, kLinear | kConv | kTransposed},
    {kDynamic, kByChannel8, kFloat, kHalf, kLinear | kConv},
    {kDynamic, kByChannel8, kHalf, kHalf, kLinear | kConv},
    {kDynamic, kByChannel4, kFloat, kFloat, kLinear},
    {kDynamic, kByChannel4, kFloat, kHalf, kLinear},
    {kDynamic, kByChannel4, kHalf, kHalf, kLinear},
    {kDynamic, kByGroup4, kFloat, kFloat, kLinear},
    {kDynamic, kByGroup4, kFloat, kHalf, kLinear},
    {kDynamic, kByGroup4, kHalf, kHalf, kLinear},
};

unsigned kind_of(const XNode& node) {
  switch (node.xnode_union_type()) {
    case XNodeUnion::XNNFullyConnected:
      return kLinear;
    case XNodeUnion::XNNConv2d:
      return kConv;
    case XNodeUnion::XNNDepthwiseConv2d:
      return kDepthwise;
    case XNodeUnion::XNNConvTranspose2d:
      return kTransposed;
    default:
      return 0;
  }
}

const char* name_of(const XNode& node) {
  return fb_xnnpack::EnumNameXNodeUnion(node.xnode_union_type());
}

/// The dimension of a filter that has one scale for each of its elements is the output channels,
/// and what is quantized by row has its parameters for every row that the node reads.
Error check_parameters(const XNode& node, unsigned kind, const Value& input, const Value& filter) {
  const size_t channel_dim = kind == kDepthwise ? 3 : 0;
  ET_CHECK_OR_RETURN_ERROR(
      filter.quantization == nullptr || filter.channel_dim == channel_dim || filter.num_scales == 0,
      InvalidProgram, "XNNPACK %s: scales by dimension %zu of the filter", name_of(node),
      filter.channel_dim);
  ET_CHECK_OR_RETURN_ERROR(filter.type() != kInt8 || filter.zero_point == 0, InvalidProgram,
                           "XNNPACK %s: a filter with zero point %d", name_of(node),
                           static_cast<int>(filter.zero_point));
  const size_t nonbatch = kind == kLinear ? 1 : 3;
  ET_CHECK_OR_RETURN_ERROR(input.type() != kDynamic || input.num_nonbatch_dims == nonbatch,
                           InvalidProgram, "XNNPACK %s: an input quantized by %zu dimensions",
                           name_of(node), input.num_nonbatch_dims);
  return Error::Ok;
}

Error check_weighted(const XNode& node, unsigned kind, const Operands& operands,
                     const Values& values) {
  const Value& input = values[operands.inputs[0]];
  const Value& filter = values[operands.inputs[1]];
  const bool has_bias = operands.num_packed > 1;
  const XNNDatatype output = values[operands.output].type();
  const auto* row =
      std::find_if(std::begin(kWeighted), std::end(kWeighted), [&](const WeightedRow& each) {
        return (each.kinds & kind) != 0 && each.input == input.type() &&
               each.filter == filter.type() && each.output == output &&
               (!has_bias || each.bias == values[operands.inputs[2]].type());
      });
  ET_CHECK_OR_RETURN_ERROR(
      row != std::end(kWeighted), NotSupported, "XNNPACK %s: no kernel for %s by %s with bias %s",
      name_of(node), fb_xnnpack::EnumNameXNNDatatype(input.type()),
      fb_xnnpack::EnumNameXNNDatatype(filter.type()),
      has_bias ? fb_xnnpack::EnumNameXNNDatatype(values[operands.inputs[2]].type()) : "none");
  return check_parameters(node, kind, input, filter);
}

bool is_activation(XNNDatatype type) {
  return type == kFloat || type == kHalf || type == kInt8 || type == kUint8;
}

}  // namespace

bool widens(const XNode& node, const Operands& operands, const Values& values, uint32_t id) {
  const bool native = kind_of(node) == kLinear && values[operands.inputs[1]].type() == kHalf;
  return values[id].type() == kHalf && !native;
}

Error check_types(const XNode& node, const Operands& operands, const Values& values) {
  if (const unsigned kind = kind_of(node); kind != 0) {
    return check_weighted(node, kind, operands, values);
  }
  const XNNDatatype output = values[operands.output].type();
  if (node.xnode_union_type() == XNodeUnion::XNNConvert) {
    ET_CHECK_OR_RETURN_ERROR(is_activation(values[operands.inputs[0]].type()) &&
                                 (is_activation(output) || output == kDynamic),
                             NotSupported, "XNNPACK: no conversion of %s to %s",
                             fb_xnnpack::EnumNameXNNDatatype(values[operands.inputs[0]].type()),
                             fb_xnnpack::EnumNameXNNDatatype(output));
    return Error::Ok;
  }
  for (size_t i = 0; i < operands.num_inputs; ++i) {
    const XNNDatatype input = values[operands.inputs[i]].type();
    ET_CHECK_OR_RETURN_ERROR(input == output && is_activation(input), NotSupported,
                             "XNNPACK %s: no kernel for input %zu of %s and output of %s",
                             name_of(node), i, fb_xnnpack::EnumNameXNNDatatype(input),
                             fb_xnnpack::EnumNameXNNDatatype(output));
  }
  return Error::Ok;
}

}  // namespace executorch::backends::xnnpack
