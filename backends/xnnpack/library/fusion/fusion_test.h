// SPDX-License-Identifier: BSD-3-Clause
// Graphs whose operators run as one, beside the same ones when each operator is timed: one after
// the other, over all of each output.
#pragma once

#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/fusion/fusion.h>

#include "xnnpack/subgraph.h"

#include <cstring>
#include <numeric>

namespace executorch::backends::xnnpack::testing {

using Dims = std::vector<size_t>;

struct FreeGraph {
  void operator()(xnn_subgraph_t graph) const { xnn_delete_subgraph(graph); }
  void operator()(xnn_runtime_t runtime) const { xnn_delete_runtime(runtime); }
};
using Runtime = std::unique_ptr<xnn_runtime, FreeGraph>;

inline size_t count_of(const Dims& dims) {
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
    if (!is_bytes_) {
      const size_t count = count_of(dims);
      uint32_t id = XNN_INVALID_VALUE_ID;
      EXPECT_EQ(xnn_define_tensor_value(graph_.get(), xnn_datatype_fp32, dims.size(), dims.data(),
                                        numbers(count), XNN_INVALID_VALUE_ID, 0, &id),
                xnn_status_success);
      return id;
    }
    return byte_weights(dims, channel_dim);
  }
  uint32_t byte_weights(const Dims& dims, size_t channel_dim) {
    const size_t count = count_of(dims), channels = dims[channel_dim];
    uint32_t id = XNN_INVALID_VALUE_ID;
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
  /// Rows of floats as bytes, each with a scale of its own.
  uint32_t quantized(uint32_t input, const Dims& dims) {
    uint32_t rows = XNN_INVALID_VALUE_ID;
    EXPECT_EQ(xnn_define_dynamically_quantized_tensor_value(
                  graph_.get(), xnn_datatype_qdint8, dims.size(), /*num_nonbatch_dims=*/1,
                  dims.data(), XNN_INVALID_VALUE_ID, 0, &rows),
              xnn_status_success);
    return unary(xnn_unary_convert, input, rows);
  }
  uint32_t quantized_linear(uint32_t rows, size_t inputs, size_t outputs) {
    const uint32_t output = internal();
    EXPECT_EQ(xnn_define_fully_connected(graph_.get(), -kInfinity, kInfinity, rows,
                                         byte_weights({outputs, inputs}, 0), XNN_INVALID_VALUE_ID,
                                         output, 0),
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

class FusionTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success); }

  static void check(Graph& graph, size_t expected_fused, std::vector<size_t> pools = {1, 2, 3}) {
    for (const size_t threads : pools) {
      const auto [expected, none] = graph.run(threads, true);
      const auto [found, fused] = graph.run(threads, false);
      EXPECT_EQ(none, 0u);
      EXPECT_EQ(fused, expected_fused);
      EXPECT_EQ(found, expected) << threads << " threads";
    }
  }
};

}  // namespace executorch::backends::xnnpack::testing
