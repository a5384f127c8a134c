// SPDX-License-Identifier: BSD-3-Clause
// Elementwise operators computed tile by tile, beside one after the other over all of each output,
// as they are run when each operator is timed: equal bit for bit.
#include <executorch/backends/xnnpack/library/fusion/fusion_test.h>

namespace executorch::backends::xnnpack::testing {
namespace {

class ElementwiseGroup : public FusionTest, public ::testing::WithParamInterface<bool> {};
/// Convolutions of floats are no operators of XNNPACK's that take part.
class ElementwiseGroupOfBytes : public FusionTest {};

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

TEST_F(ElementwiseGroupOfBytes, FollowsAConvolution) {
  for (const auto& [batch, size, kernel] :
       std::initializer_list<std::array<size_t, 3>>{{1, 19, 1}, {1, 14, 5}, {2, 13, 5}}) {
    const size_t inputs = 24, outputs = 40;
    const Dims dims = {batch, size, size, outputs};
    Graph graph(/*is_bytes=*/true);
    const uint32_t input = graph.input({batch, size, size, inputs});
    finish(graph, graph.convolution(input, inputs, outputs, kernel, kernel / 2), dims);
    check(graph, kFinish);
  }
}

TEST_F(ElementwiseGroupOfBytes, FollowsAConvolutionByTiles) {
  for (const size_t size : {8, 13, 30}) {
    Graph graph(/*is_bytes=*/true);
    const Dims dims = {2, size, size + 1, 48};
    finish(graph, graph.convolution(graph.input({2, size, size + 1, 32}), 32, 48, 3, 1), dims);
    check(graph, kFinish);
  }
}

/// By a filter so large that threads compute parts of the outputs of a pixel.
TEST_F(ElementwiseGroupOfBytes, FollowsALargeConvolutionByTiles) {
  Graph graph(/*is_bytes=*/true);
  const Dims dims = {1, 14, 15, 256};
  finish(graph, graph.convolution(graph.input({1, 14, 15, 192}), 192, 256, 3, 1), dims);
  check(graph, kFinish);
}

TEST_F(ElementwiseGroupOfBytes, FollowsADepthwiseConvolution) {
  for (const size_t batch : {1, 3}) {
    Graph graph(/*is_bytes=*/true);
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
