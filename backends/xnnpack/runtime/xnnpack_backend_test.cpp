// SPDX-License-Identifier: BSD-3-Clause
// Payloads run, in all forms; corrupted ones and wrong arguments are refused.
#include <executorch/backends/xnnpack/runtime/XNNPACKBackend.h>
#include <executorch/backends/xnnpack/test/loaded_delegate.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace executorch::backends::xnnpack::testing {
namespace {

using extension::full;
using runtime::Error;

using Graph = fb_xnnpack::XNNGraphT;

class XnnpackBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_xnnpack_backend(), Error::Ok);
  }

  /// Of a sample graph that `change` has changed.
  template <typename Change>
  static Error load(Change change) {
    Graph graph = sample_graph();
    change(graph);
    return Loaded(pack(graph, Constants::kNamed)).error();
  }
  static fb_xnnpack::XNNTensorValueT& value(Graph& graph, size_t id) {
    return *graph.xvalues[id]->xvalue_union.AsXNNTensorValue();
  }
};

TEST_F(XnnpackBackendTest, RunsConstantsFromEachPlace) {
  for (Constants place : {Constants::kFlatbuffer, Constants::kRegion, Constants::kNamed}) {
    Loaded delegate(pack(sample_graph(), place));
    ASSERT_EQ(delegate.error(), Error::Ok) << static_cast<int>(place);
    auto args = arguments();
    ASSERT_EQ(delegate.run(args), Error::Ok);
    // Inside, a window has 18 ones under weights of 0.5; in a corner, 8. A bias of 0.5.
    EXPECT_FLOAT_EQ(args[1]->const_data_ptr<float>()[0], 9.5f);
    EXPECT_FLOAT_EQ(args[2]->const_data_ptr<float>()[0], 5.0f);
    EXPECT_FLOAT_EQ(args[2]->const_data_ptr<float>()[3 * 7], 10.0f);
  }
}

/// Cut after every node: the expected numbers are those of the whole graph, shown above.
TEST_F(XnnpackBackendTest, PartsThatRunByThemselvesGiveTheSameNumbers) {
  runtime::BackendOptions<1> options;
  ASSERT_EQ(options.set_option(segment_nodes_option_key, 1), Error::Ok);
  const auto view = options.view();
  Loaded delegate(pack(sample_graph(), Constants::kNamed), {view.data(), view.size()});
  ASSERT_EQ(delegate.error(), Error::Ok);
  for (int run = 0; run < 3; ++run) {
    auto args = arguments();
    ASSERT_EQ(delegate.run(args), Error::Ok);
    EXPECT_FLOAT_EQ(args[1]->const_data_ptr<float>()[0], 9.5f);
    EXPECT_FLOAT_EQ(args[2]->const_data_ptr<float>()[0], 5.0f);
    EXPECT_FLOAT_EQ(args[2]->const_data_ptr<float>()[3 * 7], 10.0f);
  }
}

TEST_F(XnnpackBackendTest, WhatIsSmallOrNotAlignedIsCopied) {
  auto payload = pack(sample_graph(), Constants::kNamed);
  for (const size_t size : {payload.size(), size_t{1} << 15, (size_t{1} << 15) + 1}) {
    payload.resize(size);
    for (const size_t offset : {0, 1}) {
      Loaded delegate(payload, {}, nullptr, offset);
      ASSERT_EQ(delegate.error(), Error::Ok);
      EXPECT_EQ(delegate.uses_payload(), size > size_t{1} << 15 && offset == 0);
      auto args = arguments();
      ASSERT_EQ(delegate.run(args), Error::Ok);
      EXPECT_FLOAT_EQ(args[1]->const_data_ptr<float>()[0], 9.5f);
    }
  }
}

TEST_F(XnnpackBackendTest, DelegatesOfManyThreadsRunSideBySide) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      Loaded delegate(pack(sample_graph(), Constants::kNamed));
      for (int run = 0; run < 50; ++run) {
        auto args = arguments();
        ASSERT_EQ(delegate.run(args), Error::Ok);
        ASSERT_FLOAT_EQ(args[1]->const_data_ptr<float>()[0], 9.5f);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(XnnpackBackendTest, ArgumentsMustFitTheGraph) {
  Loaded delegate(pack(sample_graph(), Constants::kNamed));
  auto args = arguments();
  EXPECT_EQ(delegate.run({args[0], args[1]}), Error::InvalidArgument);
  EXPECT_EQ(delegate.run({full({6, 6, 2}, 1.0), args[1], args[2]}), Error::InvalidArgument);
  EXPECT_EQ(delegate.run({full({1, 6, 6, 3}, 1.0), args[1], args[2]}), Error::InvalidArgument);
  EXPECT_EQ(
      delegate.run({full({1, 6, 6, 2}, 1, executorch::aten::ScalarType::Int), args[1], args[2]}),
      Error::InvalidArgument);
  EXPECT_NE(delegate.run({full({1, 8, 6, 2}, 1.0), args[1], args[2]}), Error::Ok);
  EXPECT_EQ(delegate.run(args), Error::Ok);  // no worse for it
}

TEST_F(XnnpackBackendTest, AGraphThatMakesNoSenseIsRefused) {
  EXPECT_EQ(load([](Graph&) {}), Error::Ok);
  EXPECT_EQ(load([](Graph& g) { value(g, 1).dims = {3, 3, 3, 4}; }), Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { value(g, 2).dims = {1}; }), Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { value(g, 0).dims = {1, 6, 6, 1}; }), Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { value(g, 0).flags = 4; }), Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { value(g, 5).external_id = 1; }), Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { value(g, 1).constant_buffer_idx = 9; }), Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { value(g, 3).id_out = 2; }), Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { g.num_externs = 5000; }), Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { g.xnodes[0]->output_min_max->output_max = -1; }),
            Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { g.xnodes[3]->xnode_union.AsXNNStaticTranspose()->perm[1] = 0; }),
            Error::InvalidProgram);
  EXPECT_EQ(load([](Graph& g) { std::swap(g.xnodes[0], g.xnodes[1]); }), Error::Internal);
  EXPECT_EQ(load([](Graph& g) { g.xnodes.pop_back(); }), Error::Internal);
}

/// XNNPACK aborts on the first of these graphs when it sees all of it.
TEST_F(XnnpackBackendTest, NodesThatNothingReadsAreLeftOut) {
  const auto skip_transpose = [](Graph& g) {
    const uint32_t pooled = g.xnodes[3]->xnode_union.AsXNNStaticTranspose()->input_id;
    g.xnodes[4]->xnode_union.AsXNNStaticSlice()->input_id = pooled;
  };
  EXPECT_EQ(load(skip_transpose), Error::Ok);
  // Nobody reads the transpose, which alone reads the pooling.
  EXPECT_EQ(load([](Graph& g) {
              const uint32_t convolved = g.xnodes[0]->xnode_union.AsXNNConv2d()->output_id;
              g.xnodes[4]->xnode_union.AsXNNStaticSlice()->input_id = convolved;
            }),
            Error::Ok);
  Graph graph = sample_graph();
  skip_transpose(graph);
  Loaded delegate(pack(graph, Constants::kNamed));
  auto args = arguments();
  ASSERT_EQ(delegate.run(args), Error::Ok);
  EXPECT_FLOAT_EQ(args[1]->const_data_ptr<float>()[0], 9.5f);
}

TEST_F(XnnpackBackendTest, WhatThisBuildCannotRunIsNamed) {
  EXPECT_EQ(
      load([](Graph& g) { value(g, 0).datatype = fb_xnnpack::XNNDatatype::xnn_datatype_bf16; }),
      Error::NotSupported);
  EXPECT_EQ(load([](Graph& g) {
              auto& node = g.xnodes[4]->xnode_union;
              node.Reset();
              node.type = fb_xnnpack::XNodeUnion::XNNArgMaxPooling2d;
              node.value = new fb_xnnpack::XNNArgMaxPooling2dT();
            }),
            Error::NotImplemented);
}

TEST_F(XnnpackBackendTest, MissingNamedDataIsAnError) {
  Graph graph = sample_graph();
  value(graph, 1).constant_buffer_idx = 2;  // the bias's bytes for the filter
  EXPECT_EQ(Loaded(pack(graph, Constants::kNamed)).error(), Error::InvalidProgram);
}

TEST_F(XnnpackBackendTest, APayloadMustBeWhole) {
  const auto payload = pack(sample_graph(), Constants::kRegion);
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_NE(Loaded({payload.begin(), payload.begin() + static_cast<ptrdiff_t>(size)}).error(),
              Error::Ok);
  }
  EXPECT_EQ(Loaded({}, {}, nullptr, 0).error(), Error::InvalidArgument);  // at no address
  auto other = payload;
  other[36] = 'Y';
  EXPECT_EQ(Loaded(other).error(), Error::DelegateInvalidCompatibility);
}

/// Whatever bytes say, the answer is an error or a run; the sanitizers watch.
TEST_F(XnnpackBackendTest, CorruptedPayloadsAreRefusedOrRun) {
  std::mt19937 random(7);
  size_t refused = 0;
  for (Constants place : {Constants::kFlatbuffer, Constants::kRegion, Constants::kNamed}) {
    const auto payload = pack(sample_graph(), place);
    for (size_t at = 0; at < payload.size(); ++at) {
      auto corrupted = payload;
      corrupted[at] = static_cast<uint8_t>(random());
      Loaded delegate(corrupted);
      if (delegate.error() != Error::Ok) {
        ++refused;
        continue;
      }
      (void)delegate.run(arguments());
    }
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
