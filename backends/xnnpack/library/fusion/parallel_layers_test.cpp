// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of the same quantized rows, computed together.
#include <executorch/backends/xnnpack/library/fusion/fusion_test.h>

namespace executorch::backends::xnnpack::testing {
namespace {

using ParallelLayers = FusionTest;

TEST_F(ParallelLayers, AreThoseOfTheSameRows) {
  for (const size_t depth : {48, 700}) {
    const Dims dims = {1, depth};
    Graph graph(/*is_bytes=*/false);
    const uint32_t rows = graph.quantized(graph.input(dims), dims);
    std::vector<uint32_t> found;
    for (const size_t outputs : {2048, 500, 501}) {
      found.push_back(graph.quantized_linear(rows, depth, outputs));
    }
    graph.output(found[0], {1, 2048});
    graph.output(found[1], {1, 500});
    graph.output(found[2], {1, 501});
    check(graph, 2, {2, 3});
  }
}

TEST_F(ParallelLayers, ReadOneInput) {
  const Dims dims = {1, 64};
  Graph graph(/*is_bytes=*/false);
  const uint32_t input = graph.input(dims), other = graph.input(dims);
  const uint32_t rows = graph.quantized(input, dims), other_rows = graph.quantized(other, dims);
  const uint32_t first = graph.quantized_linear(rows, 64, 300);
  const uint32_t second = graph.quantized_linear(other_rows, 64, 200);
  graph.output(first, {1, 300});
  graph.output(second, {1, 200});
  check(graph, 0, {2});
}

TEST_F(ParallelLayers, HaveOneTileOfRowsAndSeveralThreads) {
  for (const size_t count : {1, 300}) {
    const Dims dims = {count, 64};
    Graph graph(/*is_bytes=*/false);
    const uint32_t rows = graph.quantized(graph.input(dims), dims);
    const uint32_t first = graph.quantized_linear(rows, 64, 300);
    const uint32_t second = graph.quantized_linear(rows, 64, 200);
    graph.output(first, {count, 300});
    graph.output(second, {count, 200});
    check(graph, 0, {count == 1 ? size_t{1} : size_t{2}});
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
