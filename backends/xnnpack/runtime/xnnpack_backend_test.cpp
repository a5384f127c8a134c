// SPDX-License-Identifier: BSD-3-Clause
// Payloads run, in all forms; damaged ones and wrong arguments are refused.
#include <executorch/backends/xnnpack/runtime/sample_payload.h>
#include <executorch/backends/xnnpack/runtime/xnnpack_backend.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace executorch::backends::xnnpack::testing {
namespace {

using extension::full;
using extension::TensorPtr;
using runtime::BackendInterface;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;

using Graph = fb_xnnpack::XNNGraphT;

/// A delegate, made and run through the registered backend.
class Loaded {
 public:
  explicit Loaded(std::vector<uint8_t> payload) : payload_(std::move(payload)) {
    runtime::BackendInitContext context(nullptr, nullptr, "forward", &data_);
    // At an address of no alignment at all, as a file may have it.
    storage_.resize(payload_.size() + 1);
    std::copy(payload_.begin(), payload_.end(), storage_.begin() + 1);
    buffer_ = FreeableBuffer(storage_.data() + 1, payload_.size(), nullptr);
    const auto handle = backend().init(context, &buffer_, {});
    error_ = handle.error();
    handle_ = handle.ok() ? handle.get() : nullptr;
  }
  ~Loaded() {
    if (handle_ != nullptr) {
      backend().destroy(handle_);
    }
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  static BackendInterface& backend() { return *runtime::get_backend_class(kBackendName); }

  Error error() const { return error_; }

  Error run(std::vector<TensorPtr> tensors) {
    std::vector<EValue> values(tensors.begin(), tensors.end());
    std::vector<EValue*> pointers;
    for (EValue& value : values) {
      pointers.push_back(&value);
    }
    runtime::BackendExecutionContext context;
    return backend().execute(context, handle_, {pointers.data(), pointers.size()});
  }

 private:
  SampleData data_;
  std::vector<uint8_t> payload_;
  std::vector<uint8_t> storage_;
  FreeableBuffer buffer_;
  Error error_ = Error::Ok;
  runtime::DelegateHandle* handle_ = nullptr;
};

std::vector<TensorPtr> arguments() {
  return {full({1, 6, 6, 2}, 1.0), full({1, 3, 2, 2}, 0.0), full({1, 6, 6, 3}, 0.0)};
}

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
  auto other = payload;
  other[36] = 'Y';
  EXPECT_EQ(Loaded(other).error(), Error::DelegateInvalidCompatibility);
}

/// Whatever bytes say, the answer is an error or a run; the sanitizers watch.
TEST_F(XnnpackBackendTest, DamagedPayloadsAreRefusedOrRun) {
  std::mt19937 random(7);
  size_t refused = 0;
  for (Constants place : {Constants::kFlatbuffer, Constants::kRegion, Constants::kNamed}) {
    const auto payload = pack(sample_graph(), place);
    for (size_t at = 0; at < payload.size(); ++at) {
      auto damaged = payload;
      damaged[at] = static_cast<uint8_t>(random());
      Loaded delegate(damaged);
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
