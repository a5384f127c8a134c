// SPDX-License-Identifier: BSD-3-Clause
// Graphs run on whatever device there is, a software driver at least; corrupted ones and wrong
// arguments are refused.
#include <executorch/backends/vulkan/runtime/api/shaders.h>
#include <executorch/backends/vulkan/runtime/graph/memory_plan.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>
#include <executorch/backends/vulkan/test/sample_graph.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <thread>

namespace executorch::backends::vulkan::testing {
namespace {

using executorch::aten::ScalarType;
using extension::make_tensor_ptr;
using extension::TensorPtr;
using runtime::Error;
using vkgraph::VkDataType;

class VulkanBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_vulkan_backend(), Error::Ok);
    ASSERT_TRUE(runtime::get_backend_class("VulkanBackend")->is_available());
  }
};

TensorPtr floats(const std::vector<executorch::aten::SizesType>& sizes, std::vector<float> data) {
  return make_tensor_ptr(sizes, std::move(data));
}

std::vector<float> contents(const TensorPtr& tensor) {
  const float* data = tensor->const_data_ptr<float>();
  return {data, data + tensor->numel()};
}

TEST_F(VulkanBackendTest, AllFamiliesGiveTheSameEachTime) {
  const Loaded delegate(many_operators().pack());
  ASSERT_EQ(delegate.error(), Error::Ok);
  const auto first = many_arguments();
  ASSERT_EQ(delegate.run(first), Error::Ok);
  // All rows of a softmax over equal rows are equal: so is their attention, and each sums to 1.
  float sum = 0;
  for (int i = 0; i < 3; ++i) {
    sum += contents(first[3])[static_cast<size_t>(i)];
  }
  EXPECT_NEAR(sum, 1.0F, 1e-5F);
  for (int run = 0; run < 50; ++run) {
    const auto again = many_arguments();
    ASSERT_EQ(delegate.run(again), Error::Ok);
    EXPECT_EQ(contents(again[2]), contents(first[2]));
    EXPECT_EQ(contents(again[3]), contents(first[3]));
  }
}

TEST_F(VulkanBackendTest, ADecoderLayerGivesTheSameEachTime) {
  const Loaded delegate(decoder_layer().pack());
  ASSERT_EQ(delegate.error(), Error::Ok);
  const auto first = decoder_arguments();
  ASSERT_EQ(delegate.run(first), Error::Ok);
  EXPECT_NE(contents(first[1]), contents(first[0]));
  for (int run = 0; run < 10; ++run) {
    const auto again = decoder_arguments();
    ASSERT_EQ(delegate.run(again), Error::Ok);
    EXPECT_EQ(contents(again[1]), contents(first[1]));
  }
}

/// choose_qparams_per_token_asymmetric rounds -128 + 1.4999999, which is -126.5 in float32, to
/// even; choose_qparams rounds -1.4999999 to -1.
TEST_F(VulkanBackendTest, ZeroPointsOfTokensAreRoundedAsPyTorchDoes) {
  const auto zero_of = [](bool by_token) {
    GraphBuilder b;
    const int32_t x = b.input({1, 2});
    const int32_t scale = b.tensor({1, 1});
    const int32_t zero = b.tensor({1, 1}, vkgraph::VkDataType::INT32);
    const int32_t outs = b.values({scale, zero});
    if (by_token) {
      b.call("quantized_decomposed.choose_qparams_per_token_asymmetric.default",
             {x, b.null(), outs});
    } else {
      b.call("quantized_decomposed.choose_qparams.tensor",
             {x, b.integer(-128), b.integer(127), b.number(1e-7), b.null(), outs});
    }
    b.output(zero);
    const Loaded delegate(b.pack());
    EXPECT_EQ(delegate.error(), Error::Ok);
    const auto out = make_tensor_ptr({1, 1}, std::vector<int32_t>{0});
    EXPECT_EQ(delegate.run({floats({1, 2}, {253.5F, -1.4999999F}), out}), Error::Ok);
    return out->const_data_ptr<int32_t>()[0];
  };
  EXPECT_EQ(zero_of(true), -126);
  EXPECT_EQ(zero_of(false), -127);
}

TEST_F(VulkanBackendTest, RunsWithAnySizesUpToTheFiles) {
  RecordProperty("req", "VK-006 VK-007 VK-012 BLD-031");
  const Loaded delegate(sample().pack());
  ASSERT_EQ(delegate.error(), Error::Ok);
  for (const int rows : {4, 1, 3, 4}) {
    std::vector<float> x(static_cast<size_t>(rows) * 3);
    std::iota(x.begin(), x.end(), 1.0F);
    std::vector<float> expected(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      expected[i] = (x[i] + static_cast<float>(i % 3 + 1)) * x[i];
    }
    const auto out = make_tensor_ptr({4, 3}, std::vector<float>(12), {}, {}, ScalarType::Float,
                                     executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(delegate.run({floats({rows, 3}, x), out}), Error::Ok);
      EXPECT_EQ(out->size(0), rows);
      EXPECT_EQ(contents(out), expected);
    }
  }
}

TEST_F(VulkanBackendTest, InputsOfAnyDimOrder) {
  const Loaded delegate(sample().pack());
  const auto x = make_tensor_ptr({4, 3}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}, {1, 0}, {},
                                 ScalarType::Float);
  const auto out = floats({4, 3}, std::vector<float>(12));
  ASSERT_EQ(delegate.run({x, out}), Error::Ok);
  EXPECT_EQ(contents(out)[5], (5 + 3) * 5.0F);
  EXPECT_EQ(contents(out)[10], (10 + 2) * 10.0F);
}

TEST_F(VulkanBackendTest, WrongArgumentsAreRefused) {
  const Loaded delegate(sample().pack());
  const auto out = floats({4, 3}, std::vector<float>(12));
  EXPECT_EQ(delegate.run({floats({5, 3}, std::vector<float>(15)), out}), Error::InvalidArgument);
  EXPECT_EQ(delegate.run({floats({12}, std::vector<float>(12)), out}), Error::InvalidArgument);
  EXPECT_EQ(delegate.run({floats({4, 2}, std::vector<float>(8)), out}), Error::InvalidArgument);
  EXPECT_EQ(delegate.run({make_tensor_ptr({4, 3}, std::vector<int32_t>(12)), out}),
            Error::InvalidArgument);
  // An output that nothing keeps.
  EXPECT_EQ(Loaded(sample().pack()).run({out}), Error::InvalidProgram);
  EXPECT_EQ(delegate.run({floats({4, 3}, std::vector<float>(12)), out}), Error::Ok);
}

TEST_F(VulkanBackendTest, WhatTheFileMayNotSayIsRefused) {
  const auto load = [](auto change) {
    GraphBuilder builder = sample();
    change(builder);
    return Loaded(builder.pack()).error();
  };
  EXPECT_EQ(load([](auto& b) { b.graph.chain[1]->name = "aten.unheard_of"; }),
            Error::OperatorMissing);
  EXPECT_EQ(load([](auto& b) { b.graph.chain[1]->args[0] = 99; }), Error::InvalidProgram);
  EXPECT_EQ(load([](auto& b) { b.graph.chain[1]->args[0] = -1; }), Error::InvalidProgram);
  EXPECT_EQ(load([](auto& b) { std::swap(b.graph.chain[1], b.graph.chain[2]); }),
            Error::InvalidProgram);
  EXPECT_EQ(load([](auto& b) { b.graph.values[3]->value.AsVkTensor()->dims = {3, 4}; }),
            Error::InvalidProgram);
  EXPECT_EQ(load([](auto& b) { b.graph.values[1]->value.AsVkTensor()->dims = {300}; }),
            Error::InvalidProgram);
  EXPECT_EQ(load([](auto& b) { b.graph.values[1]->value.AsVkTensor()->constant_id = 1; }),
            Error::InvalidProgram);
  EXPECT_EQ(load([](auto& b) { b.graph.constants[0]->offset = 1000; }), Error::InvalidProgram);
  EXPECT_EQ(load([](auto& b) {
              b.graph.constants[0]->offset = ~uint64_t{0};
              b.graph.constants[0]->named_key = "nowhere";
            }),
            Error::InvalidProgram);
  EXPECT_EQ(load([](auto& b) { b.graph.values[0]->value.AsVkTensor()->dims = {1u << 31, 3}; }),
            Error::NotSupported);
  EXPECT_EQ(load([](auto& b) { b.graph.output_ids[0] = 77; }), Error::InvalidProgram);
  auto payload = sample().pack();
  payload[4] = 'X';
  EXPECT_EQ(Loaded(payload).error(), Error::NotFound);
  payload = sample().pack();
  payload[32 + 4] = 'X';
  EXPECT_EQ(Loaded(payload).error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(Loaded({}).error(), Error::InvalidArgument);
}

TEST_F(VulkanBackendTest, BuffersThatTheMethodWritesAreKept) {
  GraphBuilder builder;
  const int32_t x = builder.input({2});
  const int32_t state = builder.constant({2}, {10, 20});
  const int32_t packed = builder.tensor({2});
  const int32_t sum = builder.tensor({2});
  const int32_t twice = builder.tensor({2});
  builder.call("et_vk.prepack.default", {state, packed});
  builder.call("aten.add.Tensor", {packed, x, builder.integer(1), sum});
  builder.call("aten.mul.Tensor", {sum, builder.constant({1}, {2}), twice});
  // The new state first, which the method has no argument for.
  builder.output(sum);
  builder.output(twice);
  const Loaded delegate(builder.pack());
  const auto out = floats({2}, {0, 0});
  for (int run = 1; run <= 4; ++run) {
    ASSERT_EQ(delegate.run({floats({2}, {1, 2}), out}), Error::Ok);
    EXPECT_EQ(contents(out), (std::vector<float>{2.0F * (10 + run), 2.0F * (20 + 2 * run)}));
  }
}

TEST_F(VulkanBackendTest, SymIntsSayWhereASliceEnds) {
  RecordProperty("req", "VK-012");
  GraphBuilder builder;
  const int32_t x = builder.input({8});
  const int32_t count = builder.input({1}, VkDataType::INT32);
  const int32_t end = builder.symint();
  const int32_t out = builder.tensor({8});
  const int32_t zero = builder.integer(0);
  builder.call("et_vk.select_as_symint.default", {count, zero, zero, end});
  builder.call("aten.slice_copy.Tensor", {x, zero, builder.null(), end, builder.integer(1), out});
  builder.output(out);
  const Loaded delegate(builder.pack());
  ASSERT_EQ(delegate.error(), Error::Ok);
  for (const int64_t size : {8, 3, 5, 5, 1}) {
    const auto result = make_tensor_ptr({8}, std::vector<float>(8), {}, {}, ScalarType::Float,
                                        executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
    ASSERT_EQ(delegate.run({floats({8}, {0, 1, 2, 3, 4, 5, 6, 7}),
                            make_tensor_ptr({1}, std::vector<int64_t>{size}), result}),
              Error::Ok);
    ASSERT_EQ(result->numel(), size);
    EXPECT_EQ(contents(result).back(), static_cast<float>(size - 1));
  }
}

TEST_F(VulkanBackendTest, SymIntsAreGiven) {
  RecordProperty("req", "VK-012");
  GraphBuilder builder;
  const int32_t x = builder.input({8});
  const int32_t size = builder.symint();
  const int32_t double_size = builder.symint();
  builder.call("sym_size.int", {x, builder.integer(0), size});
  builder.call("mul", {size, builder.integer(2), double_size});
  builder.output(double_size);
  const Loaded delegate(builder.pack());
  ASSERT_EQ(delegate.error(), Error::Ok);
  for (const int32_t count : {8, 3, 3}) {
    runtime::EValue out(int64_t{0});
    const auto in = floats({count}, std::vector<float>(static_cast<size_t>(count)));
    ASSERT_EQ(delegate.run({in}, {&out}), Error::Ok);
    EXPECT_EQ(out.toInt(), 2 * count);
  }
}

TEST_F(VulkanBackendTest, WhatIsBeyond32BitsMeansTheMost) {
  GraphBuilder builder;
  const int32_t x = builder.input({8});
  const int32_t zero = builder.integer(0);
  const int32_t most = builder.integer(std::numeric_limits<int64_t>::max());
  const int32_t least = builder.integer(std::numeric_limits<int64_t>::min());
  const int32_t first = builder.tensor({1});
  builder.call("aten.slice_copy.Tensor", {x, zero, least, most, most, first});
  builder.output(first);
  const Loaded delegate(builder.pack());
  ASSERT_EQ(delegate.error(), Error::Ok);
  const auto out = floats({1}, {0});
  ASSERT_EQ(delegate.run({floats({8}, {5, 1, 2, 3, 4, 5, 6, 7}), out}), Error::Ok);
  EXPECT_EQ(contents(out), (std::vector<float>{5}));
}

TEST_F(VulkanBackendTest, DelegatesOfManyThreadsRunSideBySide) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const Loaded delegate(sample().pack());
      for (int run = 0; run < 20; ++run) {
        const auto out = floats({4, 3}, std::vector<float>(12));
        ASSERT_EQ(delegate.run({floats({4, 3}, std::vector<float>(12, 2)), out}), Error::Ok);
        ASSERT_EQ(contents(out)[1], 8.0F);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(VulkanBackendTest, CompiledPipelinesAreKeptInAFile) {
  for (const char* name : {"vulkan_pipelines.bin", "others.bin"}) {  // the same ones in both
    runtime::BackendOptions<2> options;
    const std::string path = ::testing::TempDir() + name;
    std::remove(path.c_str());
    ASSERT_EQ(options.set_option("pipeline_cache_path", path.c_str()), Error::Ok);
    ASSERT_EQ(options.set_option("shares_memory", false), Error::Ok);
    const auto view = options.view();
    EXPECT_EQ(Loaded(sample().pack(), {view.data(), view.size()}).error(), Error::Ok);
    std::FILE* file = std::fopen(path.c_str(), "rb");
    ASSERT_NE(file, nullptr);
    std::fclose(file);
  }
  runtime::BackendOptions<1> unknown;
  ASSERT_EQ(unknown.set_option("speed", 11), Error::Ok);
  const auto bad = unknown.view();
  EXPECT_EQ(Loaded(sample().pack(), {bad.data(), bad.size()}).error(), Error::InvalidArgument);
}

TEST_F(VulkanBackendTest, CompileSpecsOfAnotherSizeAreRefused) {
  uint8_t bytes[4] = {1};
  const runtime::CompileSpec good[] = {{"warmup_execute_after_compile", {bytes, 1}},
                                       {"storage_type_override", {bytes, 4}},
                                       {"force_fp16", {bytes, 1}}};
  EXPECT_EQ(Loaded(sample().pack(), {}, {good, 3}).error(), Error::Ok);
  const runtime::CompileSpec bad[] = {{"require_dynamic_shapes", {bytes, 4}}};
  EXPECT_EQ(Loaded(sample().pack(), {}, {bad, 1}).error(), Error::InvalidArgument);
}

TEST(ShadersTest, EachIsSpirvForBothKindsOfDevices) {
  RecordProperty("req", "VK-005");
  EXPECT_GT(shaders().size(), 15u);
  for (const Shader& shader : shaders()) {
    for (const ShaderCode& code : {shader.code, shader.wide_code}) {
      ASSERT_GT(code.num_bytes, 20u) << shader.name;
      EXPECT_EQ(code.words[0], 0x07230203u) << shader.name;
      EXPECT_LE(code.words[1], 0x00010300u) << shader.name << ": of Vulkan 1.1";
    }
  }
}

TEST(OperatorTableTest, EachNameStandsOnce) {
  RecordProperty("req", "VK-002");
  const auto names = operator_names();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
  EXPECT_NE(find_operator("aten.add.Tensor"), nullptr);
  EXPECT_EQ(find_operator("aten.add"), nullptr);
}

TEST(MemoryPlanTest, WhatIsInUseAtTheSameTimeNeverOverlaps) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<Storage> storages(30);
    uint64_t sum = 0;
    for (Storage& storage : storages) {
      storage.num_bytes = 16 * (1 + random() % 9);
      storage.first_use = static_cast<int64_t>(random() % 40);
      storage.last_use = storage.first_use + static_cast<int64_t>(random() % 6);
      sum += (storage.num_bytes + 63) / 64 * 64;
    }
    const auto sizes = plan_memory(storages, 64, 1 << 20, true);
    EXPECT_LT(sizes[kSharedBuffer], sum);
    for (const Storage& a : storages) {
      EXPECT_EQ(a.offset % 64, 0u);
      for (const Storage& b : storages) {
        const bool meet = a.first_use <= b.last_use && b.first_use <= a.last_use;
        EXPECT_TRUE(&a == &b || !meet || a.offset >= b.offset + b.num_bytes ||
                    b.offset >= a.offset + a.num_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace executorch::backends::vulkan::testing
