// SPDX-License-Identifier: BSD-3-Clause
// GEMMs and depthwise convolutions by ring buffers beside one after the other, as they are run when
// each operator is timed.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

#include "xnnpack/subgraph.h"

namespace executorch::backends::xnnpack::testing {
namespace {

struct FreeGraph {
  void operator()(xnn_subgraph_t graph) const { xnn_delete_subgraph(graph); }
  void operator()(xnn_runtime_t runtime) const { xnn_delete_runtime(runtime); }
};
using Graph = std::unique_ptr<xnn_subgraph, FreeGraph>;
using Runtime = std::unique_ptr<xnn_runtime, FreeGraph>;

/// A GEMM of `filter` x `filter` pixels, of which a matrix may be an argument, and what reads
/// it.
struct Block {
  size_t height, width, inputs, channels;
  uint32_t filter = 1, stride = 1;
  bool is_argument = false;
  Image reader = {};  // its kernel, stride, dilation and padding
  bool has_other_reader = false;
  bool is_bytes = false;
  size_t next = 0;          // channels of a GEMM of what the reader writes; 0: there is none
  bool is_chained = false;  // the same reader again reads that GEMM

  size_t output_height() const { return sized().output_height(); }
  size_t output_width() const { return sized().output_width(); }

 private:
  Image sized() const {
    Image image = reader;
    image.height = (height - 1) / stride + 1;
    image.width = (width - 1) / stride + 1;
    return image;
  }
};

constexpr uint32_t kInput = 0, kOutput = 1, kMatrix = 2, kOther = 3, kNextMatrix = 4;

class RingBuffer : public ByteConvolutionTest {
 protected:
  void draw_for_block(const Block& b) {
    input_ = draw(b.height * b.width * b.inputs + XNN_EXTRA_BYTES);
    filters_ = draw(b.channels * b.filter * b.filter * b.inputs);
    bias_ = draw(b.channels);
    taps_ = draw(b.channels * b.reader.kernel * b.reader.kernel);
    next_matrix_ = draw(b.next * b.channels);
    draw_bytes();
    byte_taps_ = bytes_of(taps_);
    byte_next_matrix_ = bytes_of(next_matrix_);
  }

  /// Defines what a graph consists of.
  struct Values {
    const Block& b;
    const std::vector<float>& scales;
    xnn_subgraph_t graph;

    uint32_t activation(std::vector<size_t> dims, uint32_t external, uint32_t flags) {
      uint32_t id = XNN_INVALID_VALUE_ID;
      EXPECT_EQ(b.is_bytes ? xnn_define_quantized_tensor_value(graph, xnn_datatype_qint8, 3, 0.05f,
                                                               dims.size(), dims.data(), nullptr,
                                                               external, flags, &id)
                           : xnn_define_tensor_value(graph, xnn_datatype_fp32, dims.size(),
                                                     dims.data(), nullptr, external, flags, &id),
                xnn_status_success);
      return id;
    }
    uint32_t internal() { return activation({1, 1, 1, 1}, XNN_INVALID_VALUE_ID, 0); }

    template <typename T>
    uint32_t constant(std::vector<size_t> dims, size_t channel_dim, const std::vector<float>& data,
                      const std::vector<T>& bytes) {
      const auto type = sizeof(T) == 1 ? xnn_datatype_qcint8 : xnn_datatype_qcint32;
      uint32_t id = XNN_INVALID_VALUE_ID;
      EXPECT_EQ(b.is_bytes
                    ? xnn_define_channelwise_quantized_tensor_value(
                          graph, type, scales.data(), dims.size(), channel_dim, dims.data(),
                          bytes.data(), XNN_INVALID_VALUE_ID, 0, &id)
                    : xnn_define_tensor_value(graph, xnn_datatype_fp32, dims.size(), dims.data(),
                                              data.data(), XNN_INVALID_VALUE_ID, 0, &id),
                xnn_status_success);
      return id;
    }
  };

  /// The depthwise convolution of a block; the value of its outputs.
  uint32_t define_reader(Values& values, size_t channels, uint32_t input) {
    const Image& r = values.b.reader;
    const uint32_t taps = values.constant({1, r.kernel, r.kernel, channels}, 3, taps_, byte_taps_);
    const uint32_t bias = values.constant({channels}, 0, bias_, byte_bias_);
    const uint32_t outputs = values.internal();
    EXPECT_EQ(xnn_define_depthwise_convolution_2d(
                  values.graph, r.padding.top, r.padding.right, r.padding.bottom, r.padding.left,
                  r.kernel, r.kernel, r.stride, r.stride, r.dilation, r.dilation, 1, channels,
                  -kInfinity, kInfinity, input, taps, bias, outputs, 0),
              xnn_status_success);
    return outputs;
  }

  Graph graph_of(const Block& b) {
    xnn_subgraph_t graph = nullptr;
    EXPECT_EQ(xnn_create_subgraph(5, 0, &graph), xnn_status_success);
    Values values{b, scales_, graph};
    const size_t height = (b.height - 1) / b.stride + 1, width = (b.width - 1) / b.stride + 1;
    const uint32_t input =
        values.activation({1, b.height, b.width, b.inputs}, kInput, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    const uint32_t output = values.activation({1, height, width, b.next == 0 ? b.channels : b.next},
                                              kOutput, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
    const uint32_t bias = values.constant({b.channels}, 0, bias_, byte_bias_);
    const uint32_t copied = values.internal(), gemm = values.internal();
    // So that what the GEMM reads is in the workspace, too.
    EXPECT_EQ(xnn_define_unary(graph, xnn_unary_abs, nullptr, input, copied, 0),
              xnn_status_success);
    if (b.is_argument) {
      const uint32_t matrix =
          values.activation({b.channels, b.inputs}, kMatrix, XNN_VALUE_FLAG_EXTERNAL_INPUT);
      EXPECT_EQ(xnn_define_fully_connected(graph, 0, 6, copied, matrix, bias, gemm, 0),
                xnn_status_success);
    } else {
      const uint32_t filters =
          values.constant({b.channels, b.filter, b.filter, b.inputs}, 0, filters_, byte_filters_);
      const uint32_t padding = b.filter / 2;
      EXPECT_EQ(xnn_define_convolution_2d(graph, padding, padding, padding, padding, b.filter,
                                          b.filter, b.stride, b.stride, 1, 1, 1, b.inputs,
                                          b.channels, 0, 6, copied, filters, bias, gemm, 0),
                xnn_status_success);
    }
    uint32_t last = define_reader(values, b.channels, gemm);
    if (b.next != 0) {
      const uint32_t read = std::exchange(last, values.internal());
      const uint32_t matrix =
          b.is_argument
              ? values.activation({b.next, b.channels}, kNextMatrix, XNN_VALUE_FLAG_EXTERNAL_INPUT)
              : values.constant({b.next, b.channels}, 0, next_matrix_, byte_next_matrix_);
      const uint32_t next_bias = values.constant({b.next}, 0, bias_, byte_bias_);
      EXPECT_EQ(xnn_define_fully_connected(graph, -kInfinity, kInfinity, read, matrix, next_bias,
                                           last, 0),
                xnn_status_success);
    }
    if (b.is_chained) {
      last = define_reader(values, b.next, last);
    }
    EXPECT_EQ(xnn_define_unary(graph, xnn_unary_negate, nullptr, last, output, 0),
              xnn_status_success);
    if (b.has_other_reader) {
      const uint32_t other =
          values.activation({1, height, width, b.channels}, kOther, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
      EXPECT_EQ(xnn_define_unary(graph, xnn_unary_negate, nullptr, gemm, other, 0),
                xnn_status_success);
    }
    return Graph(graph);
  }

  static Runtime runtime_of(const Graph& graph, const Pool& pool, bool is_timed) {
    xnn_runtime_t runtime = nullptr;
    EXPECT_EQ(xnn_create_runtime_v2(graph.get(), pool.get(),
                                    is_timed ? XNN_FLAG_BASIC_PROFILING : 0, &runtime),
              xnn_status_success);
    return Runtime(runtime);
  }

  /// The bytes of the output.
  std::vector<uint8_t> computed_block(const Block& b, xnn_runtime_t runtime) {
    const size_t dims[] = {1, b.height, b.width, b.inputs};
    EXPECT_EQ(xnn_reshape_external_value(runtime, kInput, 4, dims), xnn_status_success);
    EXPECT_EQ(xnn_reshape_runtime(runtime), xnn_status_success);
    size_t rank = 0, shape[XNN_MAX_TENSOR_DIMS] = {};
    EXPECT_EQ(xnn_get_external_value_shape(runtime, kOutput, &rank, shape), xnn_status_success);
    const size_t value_bytes = b.is_bytes ? 1 : sizeof(float);
    std::vector<uint8_t> output(shape[1] * shape[2] * shape[3] * value_bytes, 0xA5);
    std::vector<uint8_t> other(b.height * b.width * b.channels * value_bytes);
    void* const input = b.is_bytes ? static_cast<void*>(byte_input_.data()) : input_.data();
    std::vector<xnn_external_value> values = {{kInput, input}, {kOutput, output.data()}};
    if (b.is_argument) {
      values.push_back({kMatrix, filters_.data()});
      if (b.next != 0) {
        values.push_back({kNextMatrix, next_matrix_.data()});
      }
    }
    if (b.has_other_reader) {
      values.push_back({kOther, other.data()});
    }
    EXPECT_EQ(xnn_setup_runtime_v2(runtime, values.size(), values.data()), xnn_status_success);
    EXPECT_EQ(xnn_invoke_runtime(runtime), xnn_status_success);
    return output;
  }

  /// Ring buffers give what one step after the other gives, in a workspace that is smaller by more
  /// than `saved` bytes.
  void check(const Block& b, size_t saved, std::initializer_list<size_t> pools = {1, 3}) {
    draw_for_block(b);
    const Graph graph = graph_of(b);
    for (const size_t threads : pools) {
      const Pool pool(pthreadpool_create(threads));
      const Runtime in_turn = runtime_of(graph, pool, true);
      const auto expected = computed_block(b, in_turn.get());
      const Runtime rings = runtime_of(graph, pool, false);
      EXPECT_EQ(computed_block(b, rings.get()), expected);
      EXPECT_LT(rings->workspace->size + saved, in_turn->workspace->size);
    }
  }

  std::vector<float> taps_, next_matrix_;
  std::vector<int8_t> byte_taps_, byte_next_matrix_;
};

Image reading(uint32_t kernel, uint32_t stride, uint32_t dilation, uint32_t top, uint32_t bottom) {
  Image image{};
  image.kernel = kernel;
  image.stride = stride;
  image.dilation = dilation;
  image.padding = {top, bottom, bottom, top};
  return image;
}

TEST_F(RingBuffer, AreThoseOfOneStepAfterTheOther) {
  const Block all[] = {
      {112, 112, 16, 96, 1, 1, false, reading(3, 2, 1, 0, 1)},
      {112, 112, 16, 96, 1, 1, true, reading(3, 2, 1, 1, 1)},
      {57, 61, 24, 144, 1, 1, false, reading(3, 1, 1, 1, 1)},
      {57, 61, 7, 144, 1, 1, true, reading(5, 1, 2, 4, 3)},
      {60, 90, 8, 100, 1, 1, false, reading(3, 1, 1, 0, 0)},
      {64, 200, 8, 33, 1, 1, false, reading(2, 3, 1, 0, 0)},  // leaves rows out
      {40, 300, 4, 50, 1, 1, false, reading(3, 1, 1, 3, 3)},  // outputs of padding alone
      {224, 224, 3, 32, 3, 2, false, reading(3, 1, 1, 1, 1)},
      {90, 130, 9, 48, 3, 1, false, reading(3, 2, 1, 1, 1)},
      {130, 140, 12, 96, 1, 1, false, reading(3, 2, 1, 1, 1), false, true},
      {100, 260, 5, 96, 3, 1, false, reading(3, 1, 1, 2, 1), false, true},
  };
  for (const Block& b : all) {
    SCOPED_TRACE(::testing::Message() << b.height << " x " << b.width << " x " << b.channels
                                      << ", filter " << b.filter << ", argument " << b.is_argument);
    check(b, 0);
  }
}

TEST_F(RingBuffer, GoOnToTheNextGemm) {
  const Block all[] = {
      {112, 112, 16, 96, 1, 1, false, reading(3, 2, 1, 0, 1), false, false, 24},
      {112, 112, 16, 96, 1, 1, true, reading(3, 2, 1, 0, 1), false, false, 24},
      {57, 61, 24, 144, 1, 1, true, reading(3, 1, 1, 1, 1), false, false, 32},
      {224, 224, 3, 32, 3, 2, false, reading(3, 1, 1, 1, 1), false, false, 16},
      {40, 300, 4, 50, 1, 1, false, reading(3, 1, 1, 3, 3), false, false, 7},
      {130, 140, 12, 96, 1, 1, false, reading(3, 1, 1, 1, 1), false, true, 24},
  };
  for (const Block& b : all) {
    SCOPED_TRACE(::testing::Message() << b.height << " x " << b.width << " x " << b.channels
                                      << ", argument " << b.is_argument);
    // The outputs of the convolution in between are not kept.
    const size_t bytes = b.output_height() * b.output_width() * b.channels;
    check(b, bytes * (b.is_bytes ? 1 : sizeof(float)) / 2);
  }
}

/// GEMMs and depthwise convolutions in turns, as in the first MobileNet.
TEST_F(RingBuffer, AGemmBelongsToOnePair) {
  Block b{96, 100, 8, 64, 1, 1, false, reading(3, 1, 1, 1, 1), false, false, 60};
  b.is_chained = true;
  check(b, 0, {2});
}

TEST_F(RingBuffer, LeaveAGemmThatOthersRead) {
  Block b{57, 61, 24, 144, 1, 1, false, reading(3, 1, 1, 1, 1)};
  b.has_other_reader = true;
  draw_for_block(b);
  const Graph graph = graph_of(b);
  const Pool pool(pthreadpool_create(2));
  const Runtime in_turn = runtime_of(graph, pool, true);
  const Runtime rings = runtime_of(graph, pool, false);
  EXPECT_EQ(computed_block(b, rings.get()), computed_block(b, in_turn.get()));
  EXPECT_EQ(rings->workspace->size, in_turn->workspace->size);
}

/// From rings to a result that is whole, and back, and to wider rows of fewer bytes in all.
TEST_F(RingBuffer, FollowTheSizeOfTheInput) {
  Block b{80, 80, 8, 96, 1, 1, false, reading(3, 1, 1, 1, 1)};
  draw_for_block(b);
  const Graph graph = graph_of(b);
  const Pool pool(pthreadpool_create(2));
  const Runtime rings = runtime_of(graph, pool, false);
  for (const auto& [height, width] : std::initializer_list<std::pair<size_t, size_t>>{
           {80, 80}, {20, 20}, {80, 80}, {4, 1100}, {62, 66}}) {
    b.height = height;
    b.width = width;
    input_ = draw(height * width * b.inputs + XNN_EXTRA_BYTES);
    const Runtime in_turn = runtime_of(graph, pool, true);
    EXPECT_EQ(computed_block(b, rings.get()), computed_block(b, in_turn.get()));
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
