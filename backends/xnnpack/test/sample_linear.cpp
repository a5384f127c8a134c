// SPDX-License-Identifier: BSD-3-Clause
// linear_graph(): one fully connected layer, its constants within the flatbuffer.
#include <executorch/backends/xnnpack/test/sample_payload.h>

#include <cstring>
#include <memory>

namespace executorch::backends::xnnpack::testing {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNodeUnion;

namespace {

constexpr uint32_t kInputs = 32;
constexpr uint32_t kOutputs = 8;
constexpr uint16_t kHalfQuarter = 0x3400;
constexpr uint16_t kHalfOne = 0x3C00;

bool is_static(Linear kind) {
  return kind == Linear::kStatic || kind == Linear::kStaticByChannel;
}

template <typename T>
uint32_t add_constant(fb_xnnpack::XNNGraphT& graph, size_t count, T value) {
  const std::vector<T> values(count, value);
  auto buffer = std::make_unique<fb_xnnpack::BufferT>();
  buffer->storage.resize(count * sizeof(T));
  std::memcpy(buffer->storage.data(), values.data(), buffer->storage.size());
  graph.constant_buffer.push_back(std::move(buffer));
  return static_cast<uint32_t>(graph.constant_buffer.size() - 1);
}

template <typename Parameters>
void add_quantized(fb_xnnpack::XNNGraphT& graph, const fb_xnnpack::XNNTensorValueT& value,
                   Parameters parameters) {
  fb_xnnpack::XNNQuantizedTensorValueT quantized;
  quantized.tensor_value = std::make_unique<fb_xnnpack::XNNTensorValueT>(value);
  quantized.quant_params.Set(std::move(parameters));
  auto entry = std::make_unique<fb_xnnpack::XValueT>();
  entry->xvalue_union.Set(std::move(quantized));
  graph.xvalues.push_back(std::move(entry));
}

fb_xnnpack::PerTensorQuantT by_tensor(float scale, int32_t zero_point) {
  fb_xnnpack::PerTensorQuantT parameters;
  parameters.scale = scale;
  parameters.zero_point = zero_point;
  return parameters;
}

fb_xnnpack::PerChannelQuantT by_channel(float scale) {
  fb_xnnpack::PerChannelQuantT parameters;
  parameters.scale.assign(kOutputs, scale);
  return parameters;
}

void add_argument(fb_xnnpack::XNNGraphT& graph, Linear kind, uint32_t size, bool is_output) {
  const uint32_t flags = is_output ? 2 : 1;
  const XNNDatatype type = is_static(kind)         ? XNNDatatype::xnn_datatype_qint8
                           : kind == Linear::kHalf ? XNNDatatype::xnn_datatype_fp16
                                                   : XNNDatatype::xnn_datatype_fp32;
  const auto value = tensor_of(graph, type, {4, size}, 0, flags, is_output ? 1 : 0);
  if (is_static(kind)) {
    add_quantized(graph, value, by_tensor(0.5f, 1));
  } else {
    add_tensor(graph, value);
  }
}

/// Every weight is 0.25: as 2 by 0.125, and 4-bit numbers store 8 more.
void add_filter(fb_xnnpack::XNNGraphT& graph, Linear kind) {
  const std::vector<uint32_t> dims = {kOutputs, kInputs};
  const size_t count = size_t{kOutputs} * kInputs;
  switch (kind) {
    case Linear::kHalf:
      return add_tensor(graph, tensor_of(graph, XNNDatatype::xnn_datatype_fp16, dims,
                                         add_constant(graph, count, kHalfQuarter)));
    case Linear::kStatic:
      return add_quantized(graph,
                           tensor_of(graph, XNNDatatype::xnn_datatype_qint8, dims,
                                     add_constant<int8_t>(graph, count, 2)),
                           by_tensor(0.125f, 0));
    case Linear::kStaticByChannel:
    case Linear::kDynamic:
      return add_quantized(graph,
                           tensor_of(graph, XNNDatatype::xnn_datatype_qcint8, dims,
                                     add_constant<int8_t>(graph, count, 2)),
                           by_channel(0.125f));
    case Linear::kDynamic4:
      return add_quantized(graph,
                           tensor_of(graph, XNNDatatype::xnn_datatype_qcint4, dims,
                                     add_constant<uint8_t>(graph, count / 2, 0xAA)),
                           by_channel(0.125f));
    case Linear::kGroups4: {
      fb_xnnpack::PerChannelGroupQuantT parameters;
      parameters.group_size = kInputs;
      parameters.scale.assign(kOutputs, 0.125f);
      return add_quantized(graph,
                           tensor_of(graph, XNNDatatype::xnn_datatype_qbint4, dims,
                                     add_constant<uint8_t>(graph, count / 2, 0xAA)),
                           std::move(parameters));
    }
  }
}

/// 1; of the static kinds as 16 by 0.5 * 0.125.
void add_bias(fb_xnnpack::XNNGraphT& graph, Linear kind) {
  const std::vector<uint32_t> dims = {kOutputs};
  if (kind == Linear::kHalf) {
    return add_tensor(graph, tensor_of(graph, XNNDatatype::xnn_datatype_fp16, dims,
                                       add_constant(graph, kOutputs, kHalfOne)));
  }
  if (!is_static(kind)) {
    return add_tensor(graph, tensor_of(graph, XNNDatatype::xnn_datatype_fp32, dims,
                                       add_constant(graph, kOutputs, 1.0f)));
  }
  const uint32_t constant = add_constant<int32_t>(graph, kOutputs, 16);
  if (kind == Linear::kStatic) {
    return add_quantized(graph, tensor_of(graph, XNNDatatype::xnn_datatype_qint32, dims, constant),
                         by_tensor(0.0625f, 0));
  }
  add_quantized(graph, tensor_of(graph, XNNDatatype::xnn_datatype_qcint32, dims, constant),
                by_channel(0.0625f));
}

/// A node that makes the input int8 row by row; its output is the last value.
void add_conversion(fb_xnnpack::XNNGraphT& graph) {
  fb_xnnpack::PerTokenDynamicQuantT parameters;
  parameters.num_nonbatch_dims = 1;
  add_quantized(graph, tensor_of(graph, XNNDatatype::xnn_datatype_qdint8, {4, kInputs}),
                std::move(parameters));
  fb_xnnpack::_XNNNode1x1T convert;
  convert.output_id = static_cast<uint32_t>(graph.xvalues.size() - 1);
  add_node(graph, XNodeUnion::XNNConvert, convert);
}

}  // namespace

fb_xnnpack::XNNGraphT linear_graph(Linear kind) {
  fb_xnnpack::XNNGraphT graph;
  graph.version = "0";
  graph.num_externs = 2;
  graph.constant_buffer.push_back(std::make_unique<fb_xnnpack::BufferT>());
  add_argument(graph, kind, kInputs, false);
  add_filter(graph, kind);
  add_bias(graph, kind);
  add_argument(graph, kind, kOutputs, true);
  uint32_t input = 0;
  if (!is_static(kind) && kind != Linear::kHalf) {
    add_conversion(graph);
    input = static_cast<uint32_t>(graph.xvalues.size() - 1);
  }
  fb_xnnpack::XNNFullyConnectedT layer;
  layer.input1_id = input;
  layer.filter_id = 1;
  layer.bias_id = 2;
  layer.output_id = 3;
  auto& node = add_node(graph, XNodeUnion::XNNFullyConnected, layer);
  node.output_min_max = std::make_unique<fb_xnnpack::OutputMinMaxT>();
  node.output_min_max->output_min = -6;
  node.output_min_max->output_max = 6;
  return graph;
}

}  // namespace executorch::backends::xnnpack::testing
