// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/test/sample_payload.h>

#include <cstring>
#include <limits>
#include <memory>

namespace executorch::backends::xnnpack::testing {

using fb_xnnpack::XNodeUnion;
using runtime::Error;
using runtime::Result;

namespace {

constexpr size_t kAlignment = 16;
constexpr size_t kHeaderSize = 32;

/// Sizes of the constants: filter, bias, addend.
constexpr size_t kElements[] = {3 * 3 * 3 * 2, 3, 1};

std::vector<uint8_t> constant_bytes(size_t index) {
  const std::vector<float> values(kElements[index], 0.5f);
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

fb_xnnpack::_XNNNodeConvT convolution() {
  fb_xnnpack::_XNNNodeConvT conv;
  conv.padding_top = conv.padding_right = conv.padding_bottom = conv.padding_left = 1;
  conv.kernel_height = conv.kernel_width = 3;
  conv.subsampling_height = conv.subsampling_width = 1;
  conv.dilation_height = conv.dilation_width = 1;
  conv.group_input_channels = 2;
  conv.group_output_channels = 3;
  conv.groups = 1;
  conv.input1_id = 0;
  conv.filter_id = 1;
  conv.bias_id = 2;
  conv.output_id = 4;
  return conv;
}

fb_xnnpack::_XNNPooling2DT pooling() {
  fb_xnnpack::_XNNPooling2DT pool;
  pool.pooling_height = pool.pooling_width = 2;
  pool.stride_height = pool.stride_width = 2;
  pool.dilation_height = pool.dilation_width = 1;
  pool.input_id = 4;
  pool.output_id = 6;
  pool.flags = 0x40;
  return pool;
}

void add_nodes(fb_xnnpack::XNNGraphT& graph) {
  auto& conv = add_node(graph, XNodeUnion::XNNConv2d, convolution());
  conv.output_min_max = std::make_unique<fb_xnnpack::OutputMinMaxT>();
  conv.output_min_max->output_max = std::numeric_limits<float>::infinity();
  fb_xnnpack::_XNNNode2x1T sum;
  sum.input1_id = 4;
  sum.input2_id = 3;
  sum.output_id = 5;
  add_node(graph, XNodeUnion::XNNAdd, sum);
  add_node(graph, XNodeUnion::XNNMaxPooling2d, pooling());
  fb_xnnpack::XNNStaticTransposeT transpose;
  transpose.num_dims = 4;
  transpose.perm = {0, 3, 1, 2};
  transpose.input_id = 6;
  transpose.output_id = 7;
  add_node(graph, XNodeUnion::XNNStaticTranspose, transpose);
  fb_xnnpack::XNNStaticSliceT slice;
  slice.num_dims = 4;
  slice.offsets = {0, 0, 1, 1};
  slice.sizes = {1, 3, 2, 2};
  slice.input_id = 7;
  slice.output_id = 8;
  add_node(graph, XNodeUnion::XNNStaticSlice, slice);
}

void put(std::vector<uint8_t>& bytes, size_t at, uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

std::vector<uint8_t> with_header(const uint8_t* flatbuffer, size_t size,
                                 const std::vector<uint8_t>& constants) {
  const size_t padded = (size + kAlignment - 1) / kAlignment * kAlignment;
  std::vector<uint8_t> bytes(kHeaderSize + padded);
  std::memcpy(bytes.data() + 4, "XH00\x1e", 5);
  put(bytes, 10, kHeaderSize);
  put(bytes, 14, static_cast<uint32_t>(size));
  put(bytes, 18, static_cast<uint32_t>(bytes.size()));
  put(bytes, 22, static_cast<uint32_t>(constants.size()));
  std::memcpy(bytes.data() + kHeaderSize, flatbuffer, size);
  bytes.insert(bytes.end(), constants.begin(), constants.end());
  return bytes;
}

void finish(flatbuffers::FlatBufferBuilder& builder, const fb_xnnpack::XNNGraphT& graph,
            const char* identifier) {
  builder.ForceDefaults(true);
  builder.Finish(fb_xnnpack::CreateXNNGraph(builder, &graph), identifier);
}

/// Describes the constants in the graph; what goes into the region comes back.
std::vector<uint8_t> add_constants(fb_xnnpack::XNNGraphT& graph, Constants constants) {
  std::vector<uint8_t> region;
  if (constants == Constants::kFlatbuffer) {
    graph.constant_buffer.push_back(std::make_unique<fb_xnnpack::BufferT>());
  } else {
    graph.constant_data.push_back(std::make_unique<fb_xnnpack::ConstantDataOffsetT>());
  }
  for (size_t i = 0; i < 3; ++i) {
    const auto bytes = constant_bytes(i);
    if (constants == Constants::kFlatbuffer) {
      graph.constant_buffer.push_back(std::make_unique<fb_xnnpack::BufferT>());
      graph.constant_buffer.back()->storage = bytes;
      continue;
    }
    graph.constant_data.push_back(std::make_unique<fb_xnnpack::ConstantDataOffsetT>());
    auto& entry = *graph.constant_data.back();
    entry.offset = region.size();
    entry.size = bytes.size();
    if (constants == Constants::kNamed) {
      entry.named_key = std::to_string(i);
    } else {
      region.insert(region.end(), bytes.begin(), bytes.end());
    }
  }
  return region;
}

}  // namespace

fb_xnnpack::XNNTensorValueT tensor_of(const fb_xnnpack::XNNGraphT& graph,
                                      fb_xnnpack::XNNDatatype type, std::vector<uint32_t> dims,
                                      uint32_t constant, uint32_t flags, uint32_t external) {
  fb_xnnpack::XNNTensorValueT value;
  value.datatype = type;
  value.num_dims = static_cast<uint32_t>(dims.size());
  value.dims = std::move(dims);
  value.constant_buffer_idx = constant;
  value.flags = flags;
  value.external_id = external;
  value.id_out = static_cast<uint32_t>(graph.xvalues.size());
  return value;
}

void add_tensor(fb_xnnpack::XNNGraphT& graph, const fb_xnnpack::XNNTensorValueT& value) {
  auto entry = std::make_unique<fb_xnnpack::XValueT>();
  entry->xvalue_union.Set(fb_xnnpack::XNNTensorValueT(value));
  graph.xvalues.push_back(std::move(entry));
}

void add_value(fb_xnnpack::XNNGraphT& graph, std::vector<uint32_t> dims, uint32_t constant,
               uint32_t flags, uint32_t external) {
  add_tensor(graph, tensor_of(graph, fb_xnnpack::XNNDatatype::xnn_datatype_fp32, std::move(dims),
                              constant, flags, external));
}

fb_xnnpack::XNNGraphT sample_graph() {
  fb_xnnpack::XNNGraphT graph;
  graph.version = "0";
  graph.num_externs = 3;
  add_value(graph, {1, 6, 6, 2}, 0, 1, 0);
  add_value(graph, {3, 3, 3, 2}, 1);
  add_value(graph, {3}, 2);
  add_value(graph, {1}, 3);
  add_value(graph, {1, 6, 6, 3});
  add_value(graph, {1, 6, 6, 3}, 0, 2, 2);
  add_value(graph, {1, 3, 3, 3});
  add_value(graph, {1, 3, 3, 3});
  add_value(graph, {1, 3, 2, 2}, 0, 2, 1);
  add_nodes(graph);
  return graph;
}

std::vector<uint8_t> pack(fb_xnnpack::XNNGraphT graph, Constants constants) {
  const auto region = add_constants(graph, constants);
  return constants == Constants::kFlatbuffer ? pack_as_is(graph) : pack_with_header(graph, region);
}

std::vector<uint8_t> pack_as_is(const fb_xnnpack::XNNGraphT& graph) {
  flatbuffers::FlatBufferBuilder builder;
  finish(builder, graph, "XN00");
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::vector<uint8_t> pack_with_header(const fb_xnnpack::XNNGraphT& graph,
                                      const std::vector<uint8_t>& region) {
  flatbuffers::FlatBufferBuilder builder;
  finish(builder, graph, "XN01");
  return with_header(builder.GetBufferPointer(), builder.GetSize(), region);
}

Result<const runtime::TensorLayout> SampleData::get_tensor_layout(std::string_view) const {
  return Error::NotSupported;
}

Result<runtime::FreeableBuffer> SampleData::get_data(std::string_view key) const {
  for (size_t i = 0; i < 3; ++i) {
    if (key == std::to_string(i)) {
      auto* bytes = new std::vector<uint8_t>(constant_bytes(i));
      return runtime::FreeableBuffer(
          bytes->data(), bytes->size(),
          [](void* owner, void*, size_t) { delete static_cast<std::vector<uint8_t>*>(owner); },
          bytes);
    }
  }
  return Error::NotFound;
}

Error SampleData::load_data_into(std::string_view, void*, size_t) const {
  return Error::NotSupported;
}

Result<uint32_t> SampleData::get_num_keys() const {
  return 3u;
}

Result<const char*> SampleData::get_key(uint32_t) const {
  return Error::NotSupported;
}

}  // namespace executorch::backends::xnnpack::testing
