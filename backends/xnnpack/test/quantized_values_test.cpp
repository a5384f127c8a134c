// SPDX-License-Identifier: BSD-3-Clause
// One linear layer in every type that files hold; parameters that make no sense are refused.
#include <executorch/backends/xnnpack/runtime/payload.h>
#include <executorch/backends/xnnpack/test/loaded_delegate.h>
#include <executorch/runtime/platform/runtime.h>

#include <cpuinfo.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace executorch::backends::xnnpack::testing {
namespace {

using executorch::aten::ScalarType;
using runtime::Error;

using Graph = fb_xnnpack::XNNGraphT;

constexpr Linear kAll[] = {Linear::kHalf,    Linear::kStatic,   Linear::kStaticByChannel,
                           Linear::kDynamic, Linear::kDynamic4, Linear::kGroups4};

ScalarType type_of(Linear kind) {
  switch (kind) {
    case Linear::kHalf:
      return ScalarType::Half;
    case Linear::kStatic:
    case Linear::kStaticByChannel:
      return ScalarType::Char;
    default:
      return ScalarType::Float;
  }
}

bool processor_computes(Linear kind) {
  return kind != Linear::kHalf || cpuinfo_has_arm_neon_fp16_arith() || cpuinfo_has_x86_f16c();
}

fb_xnnpack::XNNQuantizedTensorValueT& quantized(Graph& graph, size_t id) {
  return *graph.xvalues[id]->xvalue_union.AsXNNQuantizedTensorValue();
}

class QuantizedValuesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_xnnpack_backend(), Error::Ok);
    ASSERT_TRUE(cpuinfo_initialize());
  }

  template <typename Change>
  Error load(Linear kind, const Change& change) {
    Graph graph = linear_graph(kind);
    change(graph);
    return Loaded(pack_as_is(graph)).error();
  }
};

// 32 inputs of 1 by weights of 0.25, and 1: 9, cut at 6.
TEST_F(QuantizedValuesTest, ALayerComputesInEveryType) {
  RecordProperty("req", "XQ-010");
  for (const Linear kind : kAll) {
    const bool is_static = type_of(kind) == ScalarType::Char;
    Loaded delegate(pack_as_is(linear_graph(kind)));
    if (!processor_computes(kind)) {
      EXPECT_EQ(delegate.error(), Error::NotSupported);
      continue;
    }
    ASSERT_EQ(delegate.error(), Error::Ok) << static_cast<int>(kind);
    // Of the static kinds, 3 stands for 1: scale 0.5, zero point 1.
    const auto x = extension::full({4, 32}, is_static ? 3 : 1, type_of(kind));
    const auto y = extension::full({4, 8}, 0, type_of(kind));
    ASSERT_EQ(delegate.run({x, y}), Error::Ok);
    for (size_t i = 0; i < 32; ++i) {
      if (is_static) {
        EXPECT_EQ(y->const_data_ptr<int8_t>()[i], 6 / 0.5 + 1);
      } else if (type_of(kind) == ScalarType::Half) {
        EXPECT_EQ(static_cast<float>(y->const_data_ptr<executorch::aten::Half>()[i]), 6.0f);
      } else {
        EXPECT_NEAR(y->const_data_ptr<float>()[i], 6.0f, 0.05f);
      }
    }
  }
}

// Two layers of one input, whose rows become int8 twice. That with halves as results is XNNPACK's,
// with its rows, between which nothing can be cut out: so the other layer is, too.
TEST_F(QuantizedValuesTest, RowsThatCannotBeCutApartHaveOneOrder) {
  Graph graph = linear_graph(Linear::kDynamic);
  graph.xvalues.push_back(std::make_unique<fb_xnnpack::XValueT>(*graph.xvalues[4]));
  quantized(graph, 5).tensor_value->id_out = 5;
  add_tensor(graph, tensor_of(graph, fb_xnnpack::XNNDatatype::xnn_datatype_fp16, {4, 8}, 0, 2, 2));
  graph.num_externs = 3;
  auto convert = std::make_unique<fb_xnnpack::XNodeT>(*graph.xnodes[0]);
  auto layer = std::make_unique<fb_xnnpack::XNodeT>(*graph.xnodes[1]);
  convert->xnode_union.AsXNNConvert()->output_id = 5;
  layer->xnode_union.AsXNNFullyConnected()->input1_id = 5;
  layer->xnode_union.AsXNNFullyConnected()->output_id = 6;
  graph.xnodes.insert(graph.xnodes.begin() + 1, std::move(convert));
  graph.xnodes.push_back(std::move(layer));
  Loaded delegate(pack_as_is(graph));
  ASSERT_EQ(delegate.error(), Error::Ok);
  const auto y = extension::full({4, 8}, 0.0);
  const auto halves = extension::full({4, 8}, 0, ScalarType::Half);
  ASSERT_EQ(delegate.run({extension::full({4, 32}, 0.5), y, halves}), Error::Ok);
  for (size_t i = 0; i < 32; ++i) {  // 32 inputs of 0.5 by weights of 0.25, and 1
    EXPECT_NEAR(y->const_data_ptr<float>()[i], 5.0f, 0.05f);
    EXPECT_NEAR(static_cast<float>(halves->const_data_ptr<executorch::aten::Half>()[i]), 5.0f,
                0.05f);
  }
}

TEST_F(QuantizedValuesTest, ArgumentsAreOfTheTypeOfTheirValue) {
  Loaded delegate(pack_as_is(linear_graph(Linear::kStatic)));
  const auto y = extension::full({4, 8}, 0, ScalarType::Char);
  EXPECT_EQ(delegate.run({extension::full({4, 32}, 1.0), y}), Error::InvalidArgument);
}

TEST_F(QuantizedValuesTest, ScalesAreFiniteAndPositive) {
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), 1e-40f,
                            std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(
        load(Linear::kStatic,
             [&](Graph& g) { quantized(g, 0).quant_params.AsPerTensorQuant()->scale = scale; }),
        Error::InvalidProgram);
    EXPECT_EQ(
        load(Linear::kDynamic,
             [&](Graph& g) { quantized(g, 1).quant_params.AsPerChannelQuant()->scale[7] = scale; }),
        Error::InvalidProgram);
    EXPECT_EQ(load(Linear::kGroups4,
                   [&](Graph& g) {
                     quantized(g, 1).quant_params.AsPerChannelGroupQuant()->scale[7] = scale;
                   }),
              Error::InvalidProgram);
  }
}

TEST_F(QuantizedValuesTest, ParametersFitTypeAndShape) {
  const auto per_tensor = [](Graph& g, size_t id) {
    return quantized(g, id).quant_params.AsPerTensorQuant();
  };
  const auto per_channel = [](Graph& g) {
    return quantized(g, 1).quant_params.AsPerChannelQuant();
  };
  const auto per_group = [](Graph& g) {
    return quantized(g, 1).quant_params.AsPerChannelGroupQuant();
  };
  EXPECT_EQ(load(Linear::kStatic, [&](Graph& g) { per_tensor(g, 0)->zero_point = 128; }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kStatic, [&](Graph& g) { per_tensor(g, 1)->zero_point = 1; }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kDynamic, [&](Graph& g) { per_channel(g)->scale.pop_back(); }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kDynamic, [&](Graph& g) { per_channel(g)->channel_dim = 2; }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kDynamic, [&](Graph& g) { per_channel(g)->channel_dim = -1; }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kDynamic, [&](Graph& g) { per_channel(g)->scale_buffer_idx = 9; }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kGroups4, [&](Graph& g) { per_group(g)->group_size = 16; }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kGroups4, [&](Graph& g) { per_group(g)->scale.clear(); }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kDynamic,
                 [](Graph& g) {
                   const size_t last = g.xvalues.size() - 1;
                   quantized(g, last).quant_params.AsPerTokenDynamicQuant()->num_nonbatch_dims = 2;
                 }),
            Error::InvalidProgram);
}

TEST_F(QuantizedValuesTest, ATypeHasItsParametersAndAKernel) {
  EXPECT_EQ(load(Linear::kStatic,
                 [](Graph& g) {
                   quantized(g, 0).tensor_value->datatype =
                       fb_xnnpack::XNNDatatype::xnn_datatype_qcint8;
                 }),
            Error::InvalidProgram);
  EXPECT_EQ(load(Linear::kStatic,
                 [](Graph& g) {
                   quantized(g, 0).tensor_value->datatype =
                       fb_xnnpack::XNNDatatype::xnn_datatype_quint8;
                 }),
            Error::NotSupported);
}

/// Whatever bytes say, the answer is an error or a run; the sanitizers watch.
TEST_F(QuantizedValuesTest, CorruptedPayloadsAreRefusedOrRun) {
  std::mt19937 random(11);
  size_t refused = 0;
  for (const Linear kind : kAll) {
    const auto payload = pack_as_is(linear_graph(kind));
    for (size_t at = 0; at < payload.size(); ++at) {
      auto corrupted = payload;
      corrupted[at] = static_cast<uint8_t>(random());
      Loaded delegate(corrupted);
      refused += delegate.error() != Error::Ok ? 1 : 0;
      if (delegate.error() == Error::Ok) {
        (void)delegate.run({extension::full({4, 32}, 1, type_of(kind)),
                            extension::full({4, 8}, 0, type_of(kind))});
      }
    }
  }
  EXPECT_GT(refused, 500u);
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
