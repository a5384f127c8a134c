// SPDX-License-Identifier: BSD-3-Clause
// Functions of a byte are looked up, with the bits of the nodes that they stand for.
#include <executorch/backends/xnnpack/runtime/preparation/byte_tables.h>
#include <executorch/backends/xnnpack/test/loaded_delegate.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <cstring>

namespace executorch::backends::xnnpack::testing {
namespace {

using executorch::aten::ScalarType;
using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNodeUnion;
using runtime::Error;
using GraphT = fb_xnnpack::XNNGraphT;

// Values of the graph below.
enum : uint32_t { kX, kFloats, kSigmoid, kMultiply, kNumber, kSum, kY, kMore };

void add_bytes(GraphT& graph, XNNDatatype type, float scale, int32_t zero_point, uint32_t flags,
               uint32_t external) {
  fb_xnnpack::PerTensorQuantT parameters;
  parameters.scale = scale;
  parameters.zero_point = zero_point;
  fb_xnnpack::XNNQuantizedTensorValueT quantized;
  quantized.tensor_value = std::make_unique<fb_xnnpack::XNNTensorValueT>(
      tensor_of(graph, type, {1, 4, 8, 8}, 0, flags, external));
  quantized.quant_params.Set(std::move(parameters));
  auto entry = std::make_unique<fb_xnnpack::XValueT>();
  entry->xvalue_union.Set(std::move(quantized));
  graph.xvalues.push_back(std::move(entry));
}

void add_unary(GraphT& graph, XNodeUnion kind, uint32_t input, uint32_t output) {
  fb_xnnpack::_XNNNode1x1T node;
  node.input_id = input;
  node.output_id = output;
  add_node(graph, kind, node);
}

void add_binary(GraphT& graph, XNodeUnion kind, uint32_t a, uint32_t b, uint32_t output) {
  fb_xnnpack::_XNNNode2x1T node;
  node.input1_id = a;
  node.input2_id = b;
  node.output_id = output;
  add_node(graph, kind, node);
}

/// y = x * sigmoid(x) + 0.25, x and y of bytes; with `is_seen` the sum is an output, too.
GraphT function_graph(XNNDatatype type, bool is_seen) {
  const int32_t middle = type == XNNDatatype::xnn_datatype_qint8 ? 0 : 128;
  GraphT graph;
  graph.num_externs = is_seen ? 3 : 2;
  add_bytes(graph, type, 0.05f, middle + 9, 1, 0);
  for (int i = 0; i < 3; ++i) {
    add_value(graph, {1, 4, 8, 8});
  }
  add_value(graph, {1}, 1);
  if (is_seen) {
    add_value(graph, {1, 4, 8, 8}, 0, 2, 2);
  } else {
    add_value(graph, {1, 4, 8, 8});
  }
  add_bytes(graph, type, 0.03f, middle - 90, 2, 1);
  for (int i = 0; i < 2; ++i) {
    graph.constant_buffer.push_back(std::make_unique<fb_xnnpack::BufferT>());
  }
  const float quarter = 0.25f;
  graph.constant_buffer[1]->storage.resize(sizeof(quarter));
  std::memcpy(graph.constant_buffer[1]->storage.data(), &quarter, sizeof(quarter));
  add_unary(graph, XNodeUnion::XNNConvert, kX, kFloats);
  add_unary(graph, XNodeUnion::XNNSigmoid, kFloats, kSigmoid);
  add_binary(graph, XNodeUnion::XNNMultiply, kFloats, kSigmoid, kMultiply);
  add_binary(graph, XNodeUnion::XNNAdd, kMultiply, kNumber, kSum);
  add_unary(graph, XNodeUnion::XNNConvert, kSum, kY);
  return graph;
}

/// How many nodes of a graph got a table, and how many are needed.
std::pair<size_t, size_t> tables_and_nodes(const GraphT& source) {
  const auto bytes = pack_as_is(source);
  std::vector<uint64_t> aligned(bytes.size() / sizeof(uint64_t) + 1);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(aligned.data()));
  const Payload payload = open_payload(aligned.data(), bytes.size()).get();
  Graph graph = std::move(read_graph(*payload.graph, false).get());
  Kept kept;
  Definitions definitions(graph, payload, nullptr, kept);
  EXPECT_EQ(definitions.load_constants(), Error::Ok);
  EXPECT_EQ(make_byte_tables(definitions, graph), Error::Ok);
  const auto count = [&](auto is) {
    return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(), is));
  };
  return {count([](const GraphNode& node) { return node.table != nullptr; }),
          count([](const GraphNode& node) { return node.is_needed; })};
}

class ByteTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_xnnpack_backend(), Error::Ok);
    ASSERT_TRUE(Loaded::backend().is_available());  // initializes XNNPACK
  }
};

TEST_F(ByteTablesTest, AreEqualToTheNodesForEveryByte) {
  for (const XNNDatatype type :
       {XNNDatatype::xnn_datatype_qint8, XNNDatatype::xnn_datatype_quint8}) {
    const ScalarType scalar =
        type == XNNDatatype::xnn_datatype_qint8 ? ScalarType::Char : ScalarType::Byte;
    const auto x = extension::full({1, 4, 8, 8}, 0, scalar);
    auto* const bytes = static_cast<uint8_t*>(x->mutable_data_ptr());
    for (size_t i = 0; i < 256; ++i) {
      bytes[i] = static_cast<uint8_t>(i);
    }
    const auto looked_up = extension::full({1, 4, 8, 8}, 0, scalar);
    const auto computed = extension::full({1, 4, 8, 8}, 0, scalar);
    Loaded alone(pack_as_is(function_graph(type, false)));
    ASSERT_EQ(alone.run({x, looked_up}), Error::Ok);
    Loaded seen(pack_as_is(function_graph(type, true)));
    ASSERT_EQ(seen.run({x, computed, extension::full({1, 4, 8, 8}, 0.0)}), Error::Ok);
    EXPECT_EQ(std::memcmp(looked_up->const_data_ptr(), computed->const_data_ptr(), 256), 0);
    EXPECT_NE(bytes[0], static_cast<const uint8_t*>(looked_up->const_data_ptr())[0]);
  }
}

TEST_F(ByteTablesTest, StandForNodesThatNobodyElseReads) {
  const std::pair<size_t, size_t> one_table{1, 1};
  const std::pair<size_t, size_t> none{0, 5};
  const XNNDatatype type = XNNDatatype::xnn_datatype_qint8;
  EXPECT_EQ(tables_and_nodes(function_graph(type, false)), one_table);
  EXPECT_EQ(tables_and_nodes(function_graph(type, true)), none);
  GraphT two_sources = function_graph(type, false);  // x + another input, back to bytes
  two_sources.num_externs = 3;
  add_bytes(two_sources, type, 0.05f, 0, 1, 2);
  add_value(two_sources, {1, 4, 8, 8});
  add_unary(two_sources, XNodeUnion::XNNConvert, kMore, kMore + 1);
  std::rotate(two_sources.xnodes.rbegin(), two_sources.xnodes.rbegin() + 1,
              two_sources.xnodes.rend());
  two_sources.xnodes[3]->xnode_union.AsXNNMultiply()->input1_id = kMore + 1;
  EXPECT_EQ(tables_and_nodes(two_sources), std::make_pair(size_t{0}, size_t{6}));
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
