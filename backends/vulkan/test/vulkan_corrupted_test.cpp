// SPDX-License-Identifier: BSD-3-Clause
// Payloads that are not what was exported: bytes, and graphs that are whole but say something else.
// Whatever they say, the answer is an error or a run; the sanitizers watch.
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>
#include <executorch/backends/vulkan/test/sample_graph.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace executorch::backends::vulkan::testing {
namespace {

using executorch::aten::ScalarType;
using extension::make_tensor_ptr;
using extension::TensorPtr;
using runtime::Error;
using vkgraph::GraphTypes;

// Of each kind and sample; 10,000 together with --gtest_repeat=5 --gtest_shuffle, which draws
// others each time.
constexpr int kNumMutants = 500;

struct Sample {
  GraphBuilder (*graph)();
  std::vector<TensorPtr> (*arguments)();
};
constexpr Sample kSamples[] = {{many_operators, many_arguments},
                               {decoder_layer, decoder_arguments}};

/// Draws numbers that are those of a run of the tests.
class Chance {
 public:
  explicit Chance(uint32_t seed)
      : random_(static_cast<uint32_t>(::testing::UnitTest::GetInstance()->random_seed()) + seed) {}

  size_t below(size_t count) { return random_() % count; }
  uint8_t byte() { return static_cast<uint8_t>(random_()); }
  template <typename T>
  T& of(std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  std::mt19937 random_;
};

class VulkanCorruptedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_vulkan_backend(), Error::Ok);
    ASSERT_TRUE(runtime::get_backend_class("VulkanBackend")->is_available());
  }

  /// Loads it, and runs it twice if it loads: sizes are planned the first time.
  void try_payload(const std::vector<uint8_t>& payload, const std::vector<TensorPtr>& arguments) {
    const Loaded delegate(payload);
    if (delegate.error() != Error::Ok) {
      ++num_refused_;
      return;
    }
    for (int run = 0; run < 2; ++run) {
      static_cast<void>(delegate.run(arguments));
    }
    ++num_run_;
  }

  int num_refused_ = 0;
  int num_run_ = 0;
};

TEST_F(VulkanCorruptedTest, BytesAreRefusedOrRun) {
  Chance chance(7);
  for (const Sample& sample : kSamples) {
    const auto payload = sample.graph().pack();
    for (int i = 0; i < kNumMutants; ++i) {
      auto corrupted = payload;
      for (size_t changes = 1 + chance.below(3); changes > 0; --changes) {
        chance.of(corrupted) = chance.byte();
      }
      try_payload(corrupted, sample.arguments());
    }
  }
  EXPECT_GT(num_refused_, kNumMutants / 10);
  EXPECT_GT(num_run_, kNumMutants / 10);
}

TEST_F(VulkanCorruptedTest, WhatEndsTooEarlyIsRefused) {
  for (const Sample& sample : kSamples) {
    const auto payload = sample.graph().pack();
    for (size_t size = 0; size < payload.size(); size += 61) {
      try_payload({payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(size)},
                  sample.arguments());
    }
  }
  EXPECT_EQ(num_run_, 0);
}

/// A graph with a list that no call reads, whose first item, of the lower four bytes, becomes its
/// length.
std::vector<uint8_t> with_shifted_list(const std::vector<int64_t>& items) {
  GraphBuilder builder = sample();
  builder.integers(items);
  auto payload = builder.pack();
  constexpr size_t kHeader = 32;
  for (const auto* value : *vkgraph::GetVkGraph(&payload[kHeader])->values()) {
    if (value->value_type() == GraphTypes::IntList) {
      const auto* list = reinterpret_cast<const flatbuffers::Table*>(value->value_as_IntList());
      const uint8_t* place = list->GetAddressOf(vkgraph::IntList::VT_ITEMS);
      const auto offset = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(place);
      const auto at = static_cast<size_t>(place - payload.data());
      flatbuffers::WriteScalar<flatbuffers::uoffset_t>(&payload[at], offset + 4);
    }
  }
  return payload;
}

TEST_F(VulkanCorruptedTest, ItemsThatAreNotAlignedAreRefused) {
  EXPECT_EQ(Loaded(with_shifted_list({1, 1})).error(), Error::InvalidProgram);
  EXPECT_EQ(Loaded(with_shifted_list({0, 0})).error(), Error::Ok) << "has no items";
}

/// A number where another one stood.
void change_number(vkgraph::VkGraphT& graph, Chance& chance) {
  constexpr int64_t kNumbers[] = {0, 1, 2, 3, -1, -2, 7, 100, INT32_MAX, INT32_MIN, INT64_MAX};
  const int64_t number = kNumbers[chance.below(std::size(kNumbers))];
  auto& value = chance.of(graph.values)->value;
  switch (value.type) {
    case GraphTypes::Int:
      value.AsInt()->int_val = number;
      return;
    case GraphTypes::Double:
      value.AsDouble()->double_val = static_cast<double>(number);
      return;
    case GraphTypes::IntList:
      if (chance.below(2) == 0) {
        value.AsIntList()->items.push_back(number);
      } else if (!value.AsIntList()->items.empty()) {
        chance.of(value.AsIntList()->items) = number;
      }
      return;
    case GraphTypes::VkTensor:
      if (chance.below(4) == 0) {
        value.AsVkTensor()->datatype = static_cast<vkgraph::VkDataType>(chance.below(8));
      } else if (!value.AsVkTensor()->dims.empty()) {
        chance.of(value.AsVkTensor()->dims) = static_cast<uint32_t>(number);
      }
      return;
    default:
      return;
  }
}

/// A call of other values, of other arguments, or of another operator.
void change_call(vkgraph::VkGraphT& graph, Chance& chance,
                 const std::vector<std::string_view>& names) {
  vkgraph::OperatorCallT& call = *chance.of(graph.chain);
  switch (chance.below(5)) {
    case 0:
      call.name = names[chance.below(names.size())];
      return;
    case 1:
      call.args.pop_back();
      return;
    case 2:
      call.args.insert(call.args.begin(), call.args.front());
      return;
    default:
      chance.of(call.args) = static_cast<int32_t>(chance.below(graph.values.size()));
      return;
  }
}

/// Up to three changes, until a call has no arguments left.
void change(vkgraph::VkGraphT& graph, Chance& chance, const std::vector<std::string_view>& names) {
  for (size_t changes = 1 + chance.below(3); changes > 0; --changes) {
    if (chance.below(2) == 0) {
      change_number(graph, chance);
    } else {
      change_call(graph, chance, names);
    }
    if (std::any_of(graph.chain.begin(), graph.chain.end(),
                    [](const auto& call) { return call->args.empty(); })) {
      return;
    }
  }
}

TEST_F(VulkanCorruptedTest, GraphsThatSaySomethingElseAreRefusedOrRun) {
  Chance chance(11);
  const auto names = operator_names();
  for (const Sample& sample : kSamples) {
    for (int i = 0; i < kNumMutants; ++i) {
      GraphBuilder builder = sample.graph();
      change(builder.graph, chance, names);
      try_payload(builder.pack(), sample.arguments());
    }
  }
  EXPECT_GT(num_refused_, kNumMutants / 10);
  EXPECT_GT(num_run_, 0);
}

/// Every operator with the arguments of others.
TEST_F(VulkanCorruptedTest, OperatorsCheckTheirArguments) {
  Chance chance(13);
  for (const std::string_view name : operator_names()) {
    for (int i = 0; i < 12; ++i) {
      GraphBuilder builder = many_operators();
      const auto num_values = static_cast<int32_t>(builder.graph.values.size());
      std::vector<int32_t> args(1 + chance.below(12));
      for (int32_t& arg : args) {
        arg = static_cast<int32_t>(chance.below(static_cast<size_t>(num_values)));
      }
      args.push_back(builder.tensor({2, 3, 4}));
      builder.call(std::string(name), args);
      builder.output(args.back());
      auto arguments = many_arguments();
      arguments.push_back(make_tensor_ptr({2, 3, 4}, std::vector<float>(24)));
      try_payload(builder.pack(), arguments);
    }
  }
  EXPECT_GT(num_refused_, 100);
}

}  // namespace
}  // namespace executorch::backends::vulkan::testing
