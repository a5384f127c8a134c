// SPDX-License-Identifier: BSD-3-Clause
// Elementwise operators computed tile by tile, beside one after the other over all of each output,
// as they are run when each operator is timed: equal bit for bit.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/fusion/fusion.h>

#include "xnnpack/subgraph.h"

#include <cstring>
#include <map>
#include <numeric>

namespace executorch::backends::xnnpack::testing {
namespace {

using Dims = std::vector<size_t>;

struct FreeGraph {
  void operator()(xnn_subgraph_t graph) const { xnn_delete_subgraph(graph); }
  void operator()(xnn_runtime_t runtime) const { xnn_delete_runtime(runtime); }
};
using Runtime = std::unique_ptr<xnn_runtime, FreeGraph>;

size_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), size_t{1}, std::multiplies<>());
}

/// A graph that is being made; inputs and outputs hold what they are given and what it computes.
class Graph {
 public:
  explicit Graph(bool is_bytes) : is_bytes_(is_bytes) {
    xnn_subgraph_t graph = nullptr;
    EXPECT_EQ(xnn_create_subgraph(kMaxExternals, 0, &graph), xnn_status_success);
    graph_.reset(graph);
  }

  uint32_t input(const Dims& dims) { return external(dims, XNN_VALUE_FLAG_EXTERNAL_INPUT); }
  void output(uint32_t value, const Dims& dims) {
    unary(xnn_unary_negate, value, external(dims, XNN_VALUE_FLAG_EXTERNAL_OUTPUT));
  }
  uint32_t internal() { return activation({1, 1, 1, 1}, XNN_INVALID_VALUE_ID, 0); }

  uint32_t unary(xnn_unary_operator type, uint32_t input, uint32_t output) {
    EXPECT_EQ(xnn_define_unary(graph_.get(), type, nullptr, input, output, 0), xnn_status_success);
    return output;
  }
  uint32_t unary(xnn_unary_operator type, uint32_t input) { return unary(type, input, internal()); }
  uint32_t binary(xnn_binary_operator type, uint32_t a, uint32_t b) {
    const uint32_t output = internal();
    EXPECT_EQ(xnn_define_binary(graph_.get(), type, nullptr, a, b, output, 0), xnn_status_success);
    return output;
  }
  uint32_t reshape(uint32_t input, const Dims& dims) {
    const uint32_t output = internal();
    EXPECT_EQ(xnn_define_static_reshape(graph_.get(), dims.size(), dims.data(), input, output, 0),
              xnn_status_success);
    return output;
  }
  uint32_t transpose(uint32_t input, const Dims& order) {
    const uint32_t output = internal();
    EXPECT_EQ(
        xnn_define_static_transpose(graph_.get(), order.size(), order.data(), input, output, 0),
        xnn_status_success);
    return output;
  }

  /// Weights with a scale for each output, which is dimension `channel_dim`.
  uint32_t weights(const Dims& dims, size_t channel_dim) {
    const size_t count = count_of(dims), channels = dims[channel_dim];
    uint32_t id = XNN_INVALID_VALUE_ID;
    if (!is_bytes_) {
      EXPECT_EQ(xnn_define_tensor_value(graph_.get(), xnn_datatype_fp32, dims.size(), dims.data(),
                                        numbers(count), XNN_INVALID_VALUE_ID, 0, &id),
                xnn_status_success);
      return id;
    }
    auto* const scales = static_cast<float*>(memory(channels * sizeof(float)));
    std::fill_n(scales, channels, 0.01f);
    EXPECT_EQ(xnn_define_channelwise_quantized_tensor_value(
                  graph_.get(), xnn_datatype_qcint8, scales, dims.size(), channel_dim, dims.data(),
                  bytes(count), XNN_INVALID_VALUE_ID, 0, &id),
              xnn_status_success);
    return id;
  }

  uint32_t linear(uint32_t input, size_t inputs, size_t outputs) {
    const uint32_t output = internal();
    EXPECT_EQ(
        xnn_define_fully_connected(graph_.get(), -kInfinity, kInfinity, input,
                                   weights({outputs, inputs}, 0), XNN_INVALID_VALUE_ID, output, 0),
        xnn_status_success);
    return output;
  }
  uint32_t convolution(uint32_t input, size_t inputs, size_t outputs, uint32_t kernel,
                       uint32_t padding) {
    const uint32_t output = internal();
    EXPECT_EQ(xnn_define_convolution_2d(
                  graph_.get(), padding, padding, padding, padding, kernel, kernel, 1, 1, 1, 1, 1,
                  inputs, outputs, -kInfinity, kInfinity, input,
                  weights({outputs, kernel, kernel, inputs}, 0), XNN_INVALID_VALUE_ID, output, 0),
              xnn_status_success);
    return output;
  }
  uint32_t depthwise(uint32_t input, size_t channels) {
    const uint32_t output = internal();
    EXPECT_EQ(xnn_define_depthwise_convolution_2d(
                  graph_.get(), 1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 1, channels, -kInfinity, kInfinity,
                  input, weights({1, 3, 3, channels}, 3), XNN_INVALID_VALUE_ID, output, 0),
              xnn_status_success);
    return output;
  }
  uint32_t product(uint32_t a, uint32_t b) {
    const uint32_t output = internal();
    EXPECT_EQ(xnn_define_batch_matrix_multiply(graph_.get(), a, b, output, 0), xnn_status_success);
    return output;
  }

  /// The bytes of all outputs, and how many operators ran with one ahead.
  std::pair<std::vector<uint8_t>, size_t> run(size_t threads, bool is_timed) {
    const Pool pool(pthreadpool_create(threads));
    xnn_runtime_t made = nullptr;
    EXPECT_EQ(xnn_create_runtime_v2(graph_.get(), pool.get(),
                                    is_timed ? XNN_FLAG_BASIC_PROFILING : 0, &made),
              xnn_status_success);
    const Runtime runtime(made);
    EXPECT_EQ(xnn_reshape_runtime(made), xnn_status_success);
    EXPECT_EQ(xnn_setup_runtime_v2(made, externals_.size(), externals_.data()), xnn_status_success);
    EXPECT_EQ(xnn_invoke_runtime(made), xnn_status_success);
    std::vector<uint8_t> found;
    for (const auto& [data, size] : outputs_) {
      found.insert(found.end(), data, data + size);
      std::memset(data, 0xA5, size);
    }
    const auto* const nodes = made->opdata;
    const size_t fused = std::count_if(nodes, nodes + made->num_ops, [](const auto& node) {
      return (node.flags & XNN_FLAG_COMPUTED_AHEAD) != 0;
    });
    return {found, fused};
  }

 private:
  static constexpr uint32_t kMaxExternals = 16;

  uint32_t external(const Dims& dims, uint32_t flag) {
    const auto id = static_cast<uint32_t>(externals_.size());
    const size_t count = count_of(dims);
    void* const data = is_bytes_ ? static_cast<void*>(bytes(count)) : numbers(count);
    externals_.push_back({id, data});
    if (flag == XNN_VALUE_FLAG_EXTERNAL_OUTPUT) {
      outputs_.push_back({static_cast<uint8_t*>(data), count * (is_bytes_ ? 1 : sizeof(float))});
    }
    return activation(dims, id, flag);
  }
  uint32_t activation(const Dims& dims, uint32_t external, uint32_t flags) {
    uint32_t id = XNN_INVALID_VALUE_ID;
    EXPECT_EQ(is_bytes_ ? xnn_define_quantized_tensor_value(graph_.get(), xnn_datatype_qint8, 3,
                                                            0.05f, dims.size(), dims.data(),
                                                            nullptr, external, flags, &id)
                        : xnn_define_tensor_value(graph_.get(), xnn_datatype_fp32, dims.size(),
                                                  dims.data(), nullptr, external, flags, &id),
              xnn_status_success);
    return id;
  }

  void* memory(size_t size) {
    return memory_.emplace_back(new std::max_align_t[size / sizeof(std::max_align_t) + 4]).get();
  }
  float* numbers(size_t count) {
    auto* const data = static_cast<float*>(memory(count * sizeof(float) + XNN_EXTRA_BYTES));
    std::normal_distribution<float> normal;
    std::generate_n(data, count, [&] { return normal(random_); });
    return data;
  }
  int8_t* bytes(size_t count) {
    auto* const data = static_cast<int8_t*>(memory(count + XNN_EXTRA_BYTES));
    std::uniform_int_distribution<int> any(-128, 127);
    std::generate_n(data, count, [&] { return static_cast<int8_t>(any(random_)); });
    return data;
  }

  const bool is_bytes_;
  std::unique_ptr<xnn_subgraph, FreeGraph> graph_;
  std::vector<std::unique_ptr<std::max_align_t[]>> memory_;
  std::vector<xnn_external_value> externals_;
  std::vector<std::pair<uint8_t*, size_t>> outputs_;
  std::mt19937 random_{7};
};

class ElementwiseGroup : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success); }

  static void check(Graph& graph, size_t expected_fused) {
    for (const size_t threads : {1, 2, 3}) {
      const auto [expected, none] = graph.run(threads, true);
      const auto [found, fused] = graph.run(threads, false);
      EXPECT_EQ(none, 0u);
      EXPECT_EQ(fused, expected_fused);
      EXPECT_EQ(found, expected) << threads << " threads";
    }
  }
};

/// What a layer is activated by and added to: its own sigmoid, another value, a number for each
/// channel. Behind it something reads the result twice.
void finish(Graph& graph, uint32_t value, const Dims& dims) {
  const uint32_t other = graph.input(dims), channels = graph.input({dims.back()});
  const uint32_t activated =
      graph.binary(xnn_binary_multiply, value, graph.unary(xnn_unary_sigmoid, value));
  const uint32_t sum = graph.binary(xnn_binary_add, other, activated);
  const uint32_t scaled = graph.binary(xnn_binary_multiply, channels, sum);
  graph.output(graph.binary(xnn_binary_subtract, scaled, sum), dims);
}
constexpr size_t kFinish = 6;  // operators

TEST_P(ElementwiseGroup, FollowsALinearLayer) {
  for (const auto& [rows, inputs, outputs] : std::initializer_list<std::array<size_t, 3>>{
           {1, 40, 700}, {37, 64, 96}, {200, 48, 33}, {130, 512, 1100}}) {
    Graph graph(GetParam());
    finish(graph, graph.linear(graph.input({rows, inputs}), inputs, outputs), {rows, outputs});
    check(graph, kFinish);
  }
}

TEST_P(ElementwiseGroup, FollowsAConvolution) {
  for (const auto& [batch, size, kernel] :
       std::initializer_list<std::array<size_t, 3>>{{1, 19, 1}, {1, 14, 5}, {2, 13, 5}}) {
    const size_t inputs = 24, outputs = 40;
    const Dims dims = {batch, size, size, outputs};
    Graph graph(GetParam());
    const uint32_t input = graph.input({batch, size, size, inputs});
    finish(graph, graph.convolution(input, inputs, outputs, kernel, kernel / 2), dims);
    check(graph, kFinish);
  }
}

TEST_P(ElementwiseGroup, FollowsAConvolutionByTiles) {
  for (const size_t size : {8, 13, 30}) {
    Graph graph(GetParam());
    const Dims dims = {2, size, size + 1, 48};
    finish(graph, graph.convolution(graph.input({2, size, size + 1, 32}), 32, 48, 3, 1), dims);
    check(graph, kFinish);
  }
}

/// By a filter so large that threads compute parts of the outputs of a pixel.
TEST_P(ElementwiseGroup, FollowsALargeConvolutionByTiles) {
  Graph graph(GetParam());
  const Dims dims = {1, 14, 15, 256};
  finish(graph, graph.convolution(graph.input({1, 14, 15, 192}), 192, 256, 3, 1), dims);
  check(graph, kFinish);
}

TEST_P(ElementwiseGroup, FollowsADepthwiseConvolution) {
  for (const size_t batch : {1, 3}) {
    Graph graph(GetParam());
    const Dims dims = {batch, 11, 14, 29};
    finish(graph, graph.depthwise(graph.input(dims), 29), dims);
    check(graph, kFinish);
  }
}

TEST_F(ElementwiseGroup, FollowsAProductOfValues) {
  Graph graph(false);
  const Dims dims = {2, 3, 50, 70};
  const uint32_t scores = graph.product(graph.input({2, 3, 50, 16}), graph.input({2, 3, 16, 70}));
  const uint32_t mask = graph.input({2, 1, 50, 70}), bias = graph.input({3, 50, 70});
  const uint32_t masked = graph.binary(xnn_binary_add, scores, mask);
  graph.output(graph.binary(xnn_binary_add, bias, masked), dims);
  check(graph, 3);
}

TEST_P(ElementwiseGroup, NeedsNothingAhead) {
  Graph graph(GetParam());
  const Dims dims = {5, 700, 9};
  finish(graph, graph.input(dims), dims);
  check(graph, kFinish - 1);
}

TEST_P(ElementwiseGroup, WritesWhatOthersRead) {
  Graph graph(GetParam());
  const Dims dims = {65, 90};
  const uint32_t value = graph.linear(graph.input({65, 30}), 30, 90);
  const uint32_t positive = graph.unary(xnn_unary_abs, value);
  const uint32_t sum = graph.binary(xnn_binary_add, positive, value);
  graph.output(graph.linear(value, 90, 50), {65, 50});
  graph.output(graph.linear(positive, 90, 50), {65, 50});
  graph.output(graph.linear(sum, 90, 50), {65, 50});
  check(graph, 5);
}

TEST_P(ElementwiseGroup, GoesThroughViews) {
  Graph graph(GetParam());
  const uint32_t value = graph.linear(graph.input({6, 40, 24}), 24, 36);
  const uint32_t heads = graph.reshape(value, {6, 40, 4, 9});
  const uint32_t scaled = graph.binary(xnn_binary_multiply, heads, graph.input({1}));
  graph.output(graph.binary(xnn_binary_add, scaled, graph.input({4, 9})), {6, 40, 4, 9});
  check(graph, 4);
}

TEST_P(ElementwiseGroup, GoesThroughTransposesOfOneElement) {
  for (const Dims& dims : {Dims{1, 32, 33, 1}, Dims{1, 1, 1, 3}, Dims{1, 9, 1, 40}}) {
    const size_t inputs = 64, outputs = dims[3];
    const Dims order = dims[1] == 1 || outputs == 1 ? Dims{0, 3, 1, 2} : Dims{0, 2, 1, 3};
    const Dims moved = {dims[order[0]], dims[order[1]], dims[order[2]], dims[order[3]]};
    Graph graph(GetParam());
    const uint32_t input = graph.input({dims[0], dims[1], dims[2], inputs});
    const uint32_t image = graph.convolution(input, inputs, outputs, 1, 0);
    graph.output(graph.transpose(image, order), moved);
    check(graph, 2);
  }
}

/// What a step makes of all of its input cannot begin before that is there.
TEST_P(ElementwiseGroup, EndsWhereAValueIsReadOutOfStep) {
  Graph graph(GetParam());
  const uint32_t row = graph.unary(xnn_unary_abs, graph.unary(xnn_unary_negate, graph.input({64})));
  const uint32_t other = graph.input({64, 64});
  graph.output(graph.binary(xnn_binary_add, other, row), {64, 64});
  check(graph, 2);
  Graph square(GetParam());
  const uint32_t value = square.unary(xnn_unary_abs, square.input({1, 50}));
  const uint32_t wide = square.binary(xnn_binary_add, value, square.input({50, 1}));
  square.output(wide, {50, 50});
  check(square, 1);
}

TEST_P(ElementwiseGroup, LetsAMemoryBeReused) {
  Graph graph(GetParam());
  const Dims dims = {300, 64};
  uint32_t value = graph.unary(xnn_unary_abs, graph.input(dims));
  for (size_t layer = 0; layer < 6; ++layer) {
    const uint32_t hidden = graph.unary(xnn_unary_tanh, graph.linear(value, 64, 64));
    value = graph.binary(xnn_binary_add, value, graph.linear(hidden, 64, 64));
  }
  graph.output(value, dims);
  check(graph, 6 * 2 + 1);
}

INSTANTIATE_TEST_SUITE_P(FloatsAndBytes, ElementwiseGroup, ::testing::Bool());

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
