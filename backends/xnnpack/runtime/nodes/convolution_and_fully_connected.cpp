// SPDX-License-Identifier: BSD-3-Clause
// Kinds of nodes with a filter and perhaps a bias, which are packed: linear layers and
// convolutions.
#include <executorch/backends/xnnpack/runtime/nodes/convolution_and_fully_connected.h>
#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>
#include <executorch/backends/xnnpack/runtime/nodes/pooling_and_resize.h>

#include <algorithm>
#include <cinttypes>
#include <iterator>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using runtime::Error;

using Values = std::vector<Value>;

namespace {

// ---- Types ----

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

/// Bits of FilterTypes::kinds.
constexpr uint32_t kLinear = 1;
constexpr uint32_t kConv = 2;
constexpr uint32_t kDepthwise = 4;
constexpr uint32_t kTransposed = 8;
constexpr uint32_t kAll = kLinear | kConv | kDepthwise | kTransposed;

struct FilterTypes {
  XNNDatatype input;
  XNNDatatype filter;
  XNNDatatype bias;
  XNNDatatype output;
  uint32_t kinds;
};
constexpr FilterTypes kFilterTypes[] = {
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

/// The dimension of a filter that has one scale for each of its elements is the output channels,
/// and what is quantized by row has its parameters for every row that the node reads.
Error check_parameters(const XNode& node, uint32_t kind, const Value& input, const Value& filter) {
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

template <uint32_t kind>
Error types(const XNode& node, const Operands& operands, const Values& values) {
  const Value& input = values[operands.inputs[0]];
  const Value& filter = values[operands.inputs[1]];
  const bool has_bias = operands.num_packed > 1;
  const XNNDatatype output = values[operands.output].type();
  const auto* row =
      std::find_if(std::begin(kFilterTypes), std::end(kFilterTypes), [&](const FilterTypes& each) {
        return (each.kinds & kind) != 0 && each.input == input.type() &&
               each.filter == filter.type() && each.output == output &&
               (!has_bias || each.bias == values[operands.inputs[2]].type());
      });
  ET_CHECK_OR_RETURN_ERROR(
      row != std::end(kFilterTypes), NotSupported,
      "XNNPACK %s: no kernel for %s by %s with bias %s", name_of(node),
      fb_xnnpack::EnumNameXNNDatatype(input.type()), fb_xnnpack::EnumNameXNNDatatype(filter.type()),
      has_bias ? fb_xnnpack::EnumNameXNNDatatype(values[operands.inputs[2]].type()) : "none");
  return check_parameters(node, kind, input, filter);
}

// ---- Shapes ----

template <typename Table>
void filter_operands(const XNode& node, Operands& out) {
  const auto& table = table_of<Table>(node);
  out.inputs[0] = table.input1_id();
  out.inputs[1] = table.filter_id();
  out.inputs[2] = table.bias_id();
  out.num_packed = table.bias_id() == kNoValue ? 1 : 2;
  out.num_inputs = 1 + out.num_packed;
  out.output = table.output_id();
}

Error check_bias(const Shapes& shapes, uint32_t bias, uint64_t channels) {
  ET_CHECK_OR_RETURN_ERROR(
      bias == kNoValue || (shapes[bias].rank == 1 && shapes[bias].dims[0] == channels),
      InvalidProgram, "XNNPACK: a bias does not have %zu elements", static_cast<size_t>(channels));
  return Error::Ok;
}

Error fully_connected(const XNode& x, const Operands&, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::XNNFullyConnected>(x);
  const Shape& input = shapes[node.input1_id()];
  const Shape& filter = shapes[node.filter_id()];
  ET_CHECK_OR_RETURN_ERROR(node.flags() == 0, InvalidProgram,
                           "XNNPACK fully connected: flags %" PRIu32 ", expected 0",
                           static_cast<uint32_t>(node.flags()));
  ET_CHECK_OR_RETURN_ERROR(
      input.rank >= 1 && filter.rank == 2 && input.dims[input.rank - 1] == filter.dims[1],
      InvalidProgram, "XNNPACK fully connected: the input does not fit the filter");
  out = input;
  out.dims[out.rank - 1] = filter.dims[0];
  return check_bias(shapes, node.bias_id(), filter.dims[0]);
}

/// What all three convolutions need of filter, bias and input. Returns the output channels.
Error check_filter(const fb_xnnpack::_XNNNodeConv& node, const Shapes& shapes, bool depthwise,
                   uint64_t& out_channels) {
  const Shape& input = shapes[node.input1_id()];
  const Shape& filter = shapes[node.filter_id()];
  const uint64_t in_channels = uint64_t{node.groups()} * node.group_input_channels();
  out_channels = uint64_t{node.groups()} * node.group_output_channels();
  ET_CHECK_OR_RETURN_ERROR(node.flags() == 0, InvalidProgram,
                           "XNNPACK convolution: flags %" PRIu32 ", expected 0",
                           static_cast<uint32_t>(node.flags()));
  ET_CHECK_OR_RETURN_ERROR(
      in_channels > 0 && out_channels > 0 && input.rank == 4 && input.dims[3] == in_channels,
      InvalidProgram, "XNNPACK convolution: the input does not have %zu channels",
      static_cast<size_t>(in_channels));
  const uint64_t first = depthwise ? 1 : out_channels;
  const uint64_t last = depthwise ? out_channels : node.group_input_channels();
  ET_CHECK_OR_RETURN_ERROR(!depthwise || node.group_input_channels() == 1, InvalidProgram,
                           "XNNPACK depthwise convolution: more than one channel a group");
  ET_CHECK_OR_RETURN_ERROR(filter.rank == 4 && filter.dims[0] == first &&
                               filter.dims[1] == node.kernel_height() &&
                               filter.dims[2] == node.kernel_width() && filter.dims[3] == last,
                           InvalidProgram, "XNNPACK convolution: the filter does not fit the node");
  return check_bias(shapes, node.bias_id(), out_channels);
}

template <bool depthwise>
Error convolution(const XNode& x, const Operands&, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::_XNNNodeConv>(x);
  uint64_t channels = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check_filter(node, shapes, depthwise, channels));
  out = shapes[node.input1_id()];
  ET_CHECK_OK_OR_RETURN_ERROR(slide(
      out.dims[1],
      {vertical(node), node.kernel_height(), node.subsampling_height(), node.dilation_height()},
      out.dims[1]));
  ET_CHECK_OK_OR_RETURN_ERROR(slide(
      out.dims[2],
      {horizontal(node), node.kernel_width(), node.subsampling_width(), node.dilation_width()},
      out.dims[2]));
  out.dims[3] = static_cast<size_t>(channels);
  return Error::Ok;
}

/// The inverse of slide(), with `adjustment` more.
Error spread(uint64_t size, const Window& window, uint64_t adjustment, size_t& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_window(window));
  ET_CHECK_OR_RETURN_ERROR(size > 0 && adjustment < window.stride, InvalidProgram,
                           "XNNPACK transposed convolution: an adjustment of %zu",
                           static_cast<size_t>(adjustment));
  const uint64_t full = (size - 1) * window.stride + window.extent() + adjustment;
  ET_CHECK_OR_RETURN_ERROR(full > window.padding, InvalidProgram,
                           "XNNPACK transposed convolution: nothing but padding");
  out = static_cast<size_t>(full - window.padding);
  return Error::Ok;
}

Error transposed_convolution(const XNode& x, const Operands&, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::_XNNNodeConv>(x);
  uint64_t channels = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check_filter(node, shapes, false, channels));
  out = shapes[node.input1_id()];
  ET_CHECK_OK_OR_RETURN_ERROR(spread(
      out.dims[1],
      {vertical(node), node.kernel_height(), node.subsampling_height(), node.dilation_height()},
      node.adjustment_height(), out.dims[1]));
  ET_CHECK_OK_OR_RETURN_ERROR(spread(
      out.dims[2],
      {horizontal(node), node.kernel_width(), node.subsampling_width(), node.dilation_width()},
      node.adjustment_width(), out.dims[2]));
  out.dims[3] = static_cast<size_t>(channels);
  return Error::Ok;
}

// ---- XNNPACK ----

uint32_t bias_of(const Operands& operands, const Ids& ids) {
  return operands.num_packed < 2 ? XNN_INVALID_VALUE_ID : ids[operands.inputs[2]];
}

xnn_status define_convolution(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                              const Limits& limits, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::_XNNNodeConv>(node);
  return xnn_define_convolution_2d(
      graph, n.padding_top(), n.padding_right(), n.padding_bottom(), n.padding_left(),
      n.kernel_height(), n.kernel_width(), n.subsampling_height(), n.subsampling_width(),
      n.dilation_height(), n.dilation_width(), n.groups(), n.group_input_channels(),
      n.group_output_channels(), limits.min, limits.max, ids[operands.inputs[0]],
      ids[operands.inputs[1]], bias_of(operands, ids), ids[operands.output], 0);
}

xnn_status define_depthwise(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                            const Limits& limits, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::_XNNNodeConv>(node);
  return xnn_define_depthwise_convolution_2d(
      graph, n.padding_top(), n.padding_right(), n.padding_bottom(), n.padding_left(),
      n.kernel_height(), n.kernel_width(), n.subsampling_height(), n.subsampling_width(),
      n.dilation_height(), n.dilation_width(), n.group_output_channels(), n.groups(), limits.min,
      limits.max, ids[operands.inputs[0]], ids[operands.inputs[1]], bias_of(operands, ids),
      ids[operands.output], 0);
}

xnn_status define_transposed(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                             const Limits& limits, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::_XNNNodeConv>(node);
  return xnn_define_deconvolution_2d(
      graph, n.padding_top(), n.padding_right(), n.padding_bottom(), n.padding_left(),
      n.adjustment_height(), n.adjustment_width(), n.kernel_height(), n.kernel_width(),
      n.subsampling_height(), n.subsampling_width(), n.dilation_height(), n.dilation_width(),
      n.groups(), n.group_input_channels(), n.group_output_channels(), limits.min, limits.max,
      ids[operands.inputs[0]], ids[operands.inputs[1]], bias_of(operands, ids),
      ids[operands.output], 0);
}

xnn_status define_linear(xnn_subgraph_t graph, const XNode&, const Operands& operands,
                         const Limits& limits, const Ids& ids) {
  return xnn_define_fully_connected(graph, limits.min, limits.max, ids[operands.inputs[0]],
                                    ids[operands.inputs[1]], bias_of(operands, ids),
                                    ids[operands.output], 0);
}

constexpr NodeKind kKinds[] = {
    {XNodeUnion::XNNFullyConnected, filter_operands<fb_xnnpack::XNNFullyConnected>, fully_connected,
     types<kLinear>, define_linear},
    {XNodeUnion::XNNConv2d, filter_operands<fb_xnnpack::_XNNNodeConv>, convolution<false>,
     types<kConv>, define_convolution},
    {XNodeUnion::XNNDepthwiseConv2d, filter_operands<fb_xnnpack::_XNNNodeConv>, convolution<true>,
     types<kDepthwise>, define_depthwise},
    {XNodeUnion::XNNConvTranspose2d, filter_operands<fb_xnnpack::_XNNNodeConv>,
     transposed_convolution, types<kTransposed>, define_transposed},
};

}  // namespace

bool widens(const XNode& node, const Operands& operands, const Values& values, uint32_t id) {
  const bool is_native = node.xnode_union_type() == XNodeUnion::XNNFullyConnected &&
                         values[operands.inputs[1]].type() == kHalf;
  return values[id].type() == kHalf && !is_native;
}

NodeKinds convolution_and_fully_connected_kinds() {
  return {kKinds, std::size(kKinds)};
}

}  // namespace executorch::backends::xnnpack
