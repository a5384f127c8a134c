// SPDX-License-Identifier: BSD-3-Clause
// What delegates share: packed weights in the process, workspaces as the options say; by threads,
// too.
#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>
#include <executorch/backends/xnnpack/runtime/workspace.h>
#include <executorch/backends/xnnpack/test/loaded_delegate.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace executorch::backends::xnnpack::testing {
namespace {

using fb_xnnpack::XNodeUnion;
using runtime::BackendOptions;
using runtime::Error;

class SharingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_xnnpack_backend(), Error::Ok);
  }

  static std::vector<uint8_t> payload() { return pack(sample_graph(), Constants::kNamed); }
};

TEST_F(SharingTest, EqualWeightsArePackedOnceAndGivenBack) {
  const size_t before = PackedWeights::total_bytes();
  auto first = std::make_unique<Loaded>(payload());
  const size_t one = PackedWeights::total_bytes();
  EXPECT_GT(one, before);
  auto second = std::make_unique<Loaded>(pack(sample_graph(), Constants::kRegion));
  EXPECT_EQ(PackedWeights::total_bytes(), one);
  first.reset();
  EXPECT_EQ(PackedWeights::total_bytes(), one);
  auto args = arguments();
  ASSERT_EQ(second->run(args), Error::Ok);
  EXPECT_FLOAT_EQ(args[1]->const_data_ptr<float>()[0], 9.5f);
  second.reset();
  EXPECT_EQ(PackedWeights::total_bytes(), before);
}

TEST_F(SharingTest, WhatIsPackedInAnotherWayIsNotShared) {
  Loaded one(pack_as_is(linear_graph(Linear::kStatic)));
  const size_t bytes = PackedWeights::total_bytes();
  auto other = linear_graph(Linear::kStatic);
  // The zero point of the input is multiplied into what is packed.
  other.xvalues[0]
      ->xvalue_union.AsXNNQuantizedTensorValue()
      ->quant_params.AsPerTensorQuant()
      ->zero_point = 5;
  Loaded two(pack_as_is(other));
  EXPECT_EQ(PackedWeights::total_bytes(), 2 * bytes);
}

TEST_F(SharingTest, WeightsMayBeTheDelegatesOwn) {
  BackendOptions<1> options;
  ASSERT_EQ(options.set_option(weight_cache_option_key, false), Error::Ok);
  const size_t before = PackedWeights::total_bytes();
  const auto view = options.view();
  Loaded delegate(payload(), {view.data(), view.size()});
  ASSERT_EQ(delegate.error(), Error::Ok);
  EXPECT_EQ(PackedWeights::total_bytes(), before);
  EXPECT_EQ(delegate.run(arguments()), Error::Ok);
}

TEST_F(SharingTest, WorkspacesAreSharedAsTheModeSays) {
  const int model = 0;
  const int other = 0;
  const auto get = [](WorkspaceSharingMode mode, const void* of) {
    return Workspace::get(mode, of).get();
  };
  const auto own = get(WorkspaceSharingMode::Disabled, &model);
  EXPECT_NE(own, get(WorkspaceSharingMode::Disabled, &model));
  const auto of_model = get(WorkspaceSharingMode::PerModel, &model);
  EXPECT_EQ(of_model, get(WorkspaceSharingMode::PerModel, &model));
  EXPECT_NE(of_model, get(WorkspaceSharingMode::PerModel, &other));
  const auto global = get(WorkspaceSharingMode::Global, &model);
  EXPECT_EQ(global, get(WorkspaceSharingMode::Global, &other));
  EXPECT_NE(global, of_model);
}

TEST_F(SharingTest, OptionsAreReadWhenAMethodIsLoaded) {
  for (int mode = -1; mode <= 3; ++mode) {
    BackendOptions<1> options;
    ASSERT_EQ(options.set_option(workspace_sharing_mode_option_key, mode), Error::Ok);
    const auto view = options.view();
    const bool is_known = mode >= 0 && mode < 3;
    EXPECT_EQ(Loaded(payload(), {view.data(), view.size()}).error(),
              is_known ? Error::Ok : Error::InvalidArgument);
  }
}

TEST_F(SharingTest, DefaultsAreSetAndRead) {
  BackendOptions<4> options;
  ASSERT_EQ(options.set_option(workspace_sharing_mode_option_key, 2), Error::Ok);
  ASSERT_EQ(options.set_option(weight_cache_option_key, false), Error::Ok);
  ASSERT_EQ(options.set_option(pack_at_load_option_key, true), Error::Ok);
  ASSERT_EQ(options.set_option(winograd_option_key, false), Error::Ok);
  ASSERT_EQ(runtime::set_option(xnnpack_backend_key, options.view()), Error::Ok);
  BackendOptions<4> read;
  ASSERT_EQ(read.set_option(workspace_sharing_mode_option_key, 0), Error::Ok);
  ASSERT_EQ(read.set_option(weight_cache_option_key, true), Error::Ok);
  ASSERT_EQ(read.set_option(pack_at_load_option_key, false), Error::Ok);
  ASSERT_EQ(read.set_option(winograd_option_key, true), Error::Ok);
  ASSERT_EQ(runtime::get_option(xnnpack_backend_key, read.view()), Error::Ok);
  EXPECT_EQ(std::get<int>(read.view()[0].value), 2);
  EXPECT_FALSE(std::get<bool>(read.view()[1].value));
  EXPECT_TRUE(std::get<bool>(read.view()[2].value));
  EXPECT_FALSE(std::get<bool>(read.view()[3].value));
  ASSERT_EQ(options.set_option(pack_at_load_option_key, false), Error::Ok);
  ASSERT_EQ(options.set_option(winograd_option_key, true), Error::Ok);
  ASSERT_EQ(options.set_option(workspace_sharing_mode_option_key, 1), Error::Ok);
  ASSERT_EQ(options.set_option(weight_cache_option_key, true), Error::Ok);
  ASSERT_EQ(runtime::set_option(xnnpack_backend_key, options.view()), Error::Ok);
}

/// Two layers: the second one has another bias, and its result is argument 2.
std::vector<uint8_t> two_layers(Linear kind) {
  fb_xnnpack::XNNGraphT graph = linear_graph(kind);
  const auto add_value = [&](size_t id) {
    graph.xvalues.push_back(std::make_unique<fb_xnnpack::XValueT>(*graph.xvalues[id]));
    auto& value = graph.xvalues.back()->xvalue_union;
    const auto added = static_cast<uint32_t>(graph.xvalues.size() - 1);
    auto* const tensor = value.AsXNNTensorValue() != nullptr
                             ? value.AsXNNTensorValue()
                             : value.AsXNNQuantizedTensorValue()->tensor_value.get();
    tensor->id_out = added;
    return tensor;
  };
  constexpr size_t kBias = 2;
  constexpr size_t kResult = 3;
  auto* const bias = add_value(kBias);
  graph.constant_buffer.push_back(
      std::make_unique<fb_xnnpack::BufferT>(*graph.constant_buffer[bias->constant_buffer_idx]));
  graph.constant_buffer.back()->storage.assign(graph.constant_buffer.back()->storage.size(), 0);
  bias->constant_buffer_idx = static_cast<uint32_t>(graph.constant_buffer.size() - 1);
  auto* const result = add_value(kResult);
  result->external_id = 2;
  graph.num_externs = 3;
  graph.xnodes.push_back(std::make_unique<fb_xnnpack::XNodeT>(*graph.xnodes.back()));
  auto* const layer = graph.xnodes.back()->xnode_union.AsXNNFullyConnected();
  layer->bias_id = bias->id_out;
  layer->output_id = result->id_out;
  return pack_as_is(graph);
}

/// What threads pack ahead has to be what XNNPACK looks for afterwards: nothing is packed twice.
TEST_F(SharingTest, AllThreadsPack) {
  ASSERT_TRUE(Loaded::backend().is_available());
  const size_t threads = pthreadpool_get_threads_count(extension::threadpool::get_pthreadpool());
  for (const Linear kind : {Linear::kHalf, Linear::kStatic, Linear::kStaticByChannel,
                            Linear::kDynamic, Linear::kDynamic4, Linear::kGroups4}) {
    const std::vector<uint8_t> bytes = two_layers(kind);
    const auto payload = open_payload(bytes.data(), bytes.size());
    ASSERT_EQ(payload.error(), Error::Ok);
    DelegateOptions options;
    options.pool = extension::threadpool::get_pthreadpool();
    options.large_from = 0;
    const size_t before = PackedWeights::times_packed();
    const auto delegate = Delegate::create(payload.get(), nullptr, options);
    if (kind == Linear::kHalf && delegate.error() == Error::NotSupported) {
      continue;  // this processor has no such kernel
    }
    ASSERT_EQ(delegate.error(), Error::Ok);
    EXPECT_EQ(PackedWeights::times_packed() - before, 2u)
        << static_cast<int>(kind) << " with " << threads << " threads";
  }
}

/// y = transpose(transpose(x)), by way of as many numbers in the workspace.
std::vector<uint8_t> there_and_back(uint32_t rows, uint32_t columns) {
  fb_xnnpack::XNNGraphT graph;
  graph.version = "0";
  graph.num_externs = 2;
  add_value(graph, {rows, columns}, 0, 1, 0);
  add_value(graph, {columns, rows});
  add_value(graph, {rows, columns}, 0, 2, 1);
  graph.constant_buffer.push_back(std::make_unique<fb_xnnpack::BufferT>());
  for (uint32_t input = 0; input < 2; ++input) {
    fb_xnnpack::XNNStaticTransposeT transpose;
    transpose.num_dims = 2;
    transpose.perm = {1, 0};
    transpose.input_id = input;
    transpose.output_id = input + 1;
    add_node(graph, XNodeUnion::XNNStaticTranspose, transpose);
  }
  return pack_as_is(graph);
}

struct Arguments {
  explicit Arguments(int32_t rows, int32_t columns)
      : in(extension::rand({rows, columns})), out(extension::full({rows, columns}, -1.0)) {}

  /// Whether a run writes `in`'s numbers to `out`.
  ::testing::AssertionResult is_copied_by(Loaded& delegate) const {
    std::fill_n(out->mutable_data_ptr<float>(), out->numel(), -1.0f);
    const Error error = delegate.run({in, out});
    if (error != Error::Ok) {
      return ::testing::AssertionFailure() << "error " << static_cast<int>(error);
    }
    const float* const expected = in->const_data_ptr<float>();
    const auto [wrong, found] =
        std::mismatch(expected, expected + in->numel(), out->const_data_ptr<float>());
    return wrong == expected + in->numel() ? ::testing::AssertionSuccess()
                                           : ::testing::AssertionFailure()
                                                 << "element " << wrong - expected << " is "
                                                 << *found << ", expected " << *wrong;
  }

  extension::TensorPtr in;
  extension::TensorPtr out;
};

/// A delegate is set up when an argument moves, and by XNNPACK when its workspace does, because of
/// another delegate with which it shares that.
TEST_F(SharingTest, ArgumentsAndWorkspacesMoveBetweenRuns) {
  for (int mode = 0; mode < 3; ++mode) {
    SCOPED_TRACE(mode);
    BackendOptions<1> options;
    ASSERT_EQ(options.set_option(workspace_sharing_mode_option_key, mode), Error::Ok);
    const auto view = options.view();
    runtime::MemoryAllocator method(0, nullptr);
    Loaded small(there_and_back(30, 40), {view.data(), view.size()}, &method);
    const Arguments first(30, 40);
    const Arguments second(30, 40);
    EXPECT_TRUE(first.is_copied_by(small));
    EXPECT_TRUE(first.is_copied_by(small));
    EXPECT_TRUE(second.is_copied_by(small));
    Arguments mixed = first;
    mixed.out = second.out;
    EXPECT_TRUE(mixed.is_copied_by(small));
    const float* const numbers = second.in->const_data_ptr<float>();
    const std::vector<float> before(numbers, numbers + second.in->numel());
    EXPECT_EQ(small.run({second.in, second.in}), Error::Ok);  // one tensor for both
    EXPECT_TRUE(std::equal(before.begin(), before.end(), numbers));
    for (int32_t rows = 200; rows <= 1600; rows *= 2) {
      Loaded large(there_and_back(static_cast<uint32_t>(rows), 500), {view.data(), view.size()},
                   &method);
      const Arguments many(rows, 500);
      EXPECT_TRUE(first.is_copied_by(small));
      EXPECT_TRUE(many.is_copied_by(large)) << rows;
      EXPECT_TRUE(first.is_copied_by(small)) << rows;
      EXPECT_TRUE(many.is_copied_by(large)) << rows;
    }
    EXPECT_TRUE(second.is_copied_by(small));
  }
}

/// A runtime that XNNPACK refuses to make leaves a workspace as it was for those that share it.
TEST_F(SharingTest, WhatIsRefusedHasNoFirstRun) {
  fb_xnnpack::XNNGraphT graph = linear_graph(Linear::kStatic);
  graph.xvalues.back()
      ->xvalue_union.AsXNNQuantizedTensorValue()
      ->quant_params.AsPerTensorQuant()
      ->scale = 1e-6f;  // products' scale is more than 256 times as large: there is no such kernel
  const std::vector<uint8_t> bytes = pack_as_is(graph);
  const auto payload = open_payload(bytes.data(), bytes.size());
  ASSERT_EQ(payload.error(), Error::Ok);
  DelegateOptions options;
  options.workspaces = WorkspaceSharingMode::Global;
  options.own.any = false;  // a kernel of ours would take it
  const auto workspace = Workspace::get(options.workspaces, nullptr);
  ASSERT_EQ(workspace.error(), Error::Ok);
  const size_t before = (*workspace)->num_first_runs();
  EXPECT_EQ(Delegate::create(payload.get(), nullptr, options).error(), Error::NotSupported);
  EXPECT_EQ((*workspace)->num_first_runs(), before);
}

/// Loads, runs and unloads side by side, all with the same weights, in every mode.
TEST_F(SharingTest, EightThreadsShareWeights) {
  for (int mode = 0; mode < 3; ++mode) {
    BackendOptions<1> options;
    ASSERT_EQ(options.set_option(workspace_sharing_mode_option_key, mode), Error::Ok);
    const auto view = options.view();
    runtime::MemoryAllocator method(0, nullptr);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int load = 0; load < 5; ++load) {
          Loaded delegate(payload(), {view.data(), view.size()}, &method);
          for (int run = 0; run < 10; ++run) {
            auto args = arguments();
            ASSERT_EQ(delegate.run(args), Error::Ok);
            ASSERT_FLOAT_EQ(args[1]->const_data_ptr<float>()[0], 9.5f);
          }
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
