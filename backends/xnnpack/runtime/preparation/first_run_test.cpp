// SPDX-License-Identifier: BSD-3-Clause
// The first run multiplies by matrices of the file, later ones by packed ones: the same numbers,
// and the file's bytes are given back.
#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/backends/xnnpack/test/loaded_delegate.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/runtime/platform/runtime.h>

#include <cpuinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <thread>

namespace executorch::backends::xnnpack::testing {
namespace {

using fb_xnnpack::XNodeUnion;
using runtime::Error;

constexpr uint32_t kInputs = 64;
constexpr uint32_t kMiddle = 96;
constexpr uint32_t kOutputs = 80;
constexpr uint32_t kSide = 5;
constexpr float kLimit = 1;

/// Random numbers under the keys "0" to "3", and how many of them somebody holds.
class CountedData final : public runtime::NamedDataMap {
 public:
  explicit CountedData(size_t taps) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> numbers(-0.5f, 0.5f);
    for (size_t size : {taps * kInputs * kMiddle, size_t{kMiddle}, size_t{kMiddle * kOutputs},
                        size_t{kOutputs}}) {
      values_.emplace_back(size);
      for (float& value : values_.back()) {
        value = numbers(random);
      }
    }
  }

  const std::vector<float>& values(size_t key) const { return values_[key]; }
  int held() const { return held_; }

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    ++held_;
    const std::vector<float>& values = values_[static_cast<size_t>(key[0] - '0')];
    return runtime::FreeableBuffer(
        values.data(), values.size() * sizeof(float),
        [](void* held, void*, size_t) { --*static_cast<std::atomic<int>*>(held); }, &held_);
  }
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(std::string_view) const override {
    return Error::NotSupported;
  }
  Error load_data_into(std::string_view, void*, size_t) const override {
    return Error::NotSupported;
  }
  runtime::Result<uint32_t> get_num_keys() const override { return 4u; }
  runtime::Result<const char*> get_key(uint32_t) const override { return Error::NotSupported; }

 private:
  std::vector<std::vector<float>> values_;
  mutable std::atomic<int> held_{0};
};

/// y = linear(clamp(conv(x))), with a convolution of `kernel` by `kernel` padded to the same size.
std::vector<uint8_t> network(uint32_t kernel) {
  fb_xnnpack::XNNGraphT graph;
  graph.version = "0";
  graph.num_externs = 2;
  add_value(graph, {1, kSide, kSide, kInputs}, 0, 1, 0);
  add_value(graph, {kMiddle, kernel, kernel, kInputs}, 1);
  add_value(graph, {kMiddle}, 2);
  add_value(graph, {1, kSide, kSide, kMiddle}, 0);
  add_value(graph, {kOutputs, kMiddle}, 3);
  add_value(graph, {kOutputs}, 4);
  add_value(graph, {1, kSide, kSide, kOutputs}, 0, 2, 1);
  graph.constant_data.push_back(std::make_unique<fb_xnnpack::ConstantDataOffsetT>());
  const uint64_t sizes[] = {kernel * kernel * kInputs * kMiddle, kMiddle, kMiddle * kOutputs,
                            kOutputs};
  for (size_t i = 0; i < 4; ++i) {
    graph.constant_data.push_back(std::make_unique<fb_xnnpack::ConstantDataOffsetT>());
    graph.constant_data.back()->size = sizes[i] * sizeof(float);
    graph.constant_data.back()->named_key = std::to_string(i);
  }
  fb_xnnpack::_XNNNodeConvT conv;
  conv.padding_top = conv.padding_right = conv.padding_bottom = conv.padding_left = kernel / 2;
  conv.kernel_height = conv.kernel_width = kernel;
  conv.subsampling_height = conv.subsampling_width = 1;
  conv.dilation_height = conv.dilation_width = 1;
  conv.groups = 1;
  conv.group_input_channels = kInputs;
  conv.group_output_channels = kMiddle;
  conv.filter_id = 1;
  conv.bias_id = 2;
  conv.output_id = 3;
  auto& node = add_node(graph, XNodeUnion::XNNConv2d, conv);
  node.output_min_max = std::make_unique<fb_xnnpack::OutputMinMaxT>();
  node.output_min_max->output_min = -kLimit;
  node.output_min_max->output_max = kLimit;
  fb_xnnpack::XNNFullyConnectedT linear;
  linear.input1_id = 3;
  linear.filter_id = 4;
  linear.bias_id = 5;
  linear.output_id = 6;
  add_node(graph, XNodeUnion::XNNFullyConnected, linear);
  return pack_with_header(graph);
}

class FirstRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_xnnpack_backend(), Error::Ok);
    ASSERT_TRUE(Loaded::backend().is_available());
  }

  std::unique_ptr<Delegate> make(size_t large_from, DelegateOptions options = {}) {
    const auto payload = open_payload(bytes_.data(), bytes_.size());
    EXPECT_EQ(payload.error(), Error::Ok);
    options.pool = extension::threadpool::get_pthreadpool();
    options.large_from = large_from;
    auto delegate = Delegate::create(payload.get(), data_.get(), options);
    EXPECT_EQ(delegate.error(), Error::Ok);
    return std::move(delegate.get());
  }

  /// The outputs for a square of pixels, each with the numbers 0, 1/64, ... as its inputs.
  static std::vector<float> run(Delegate& delegate, int side = kSide) {
    std::vector<float> inputs(static_cast<size_t>(side * side) * kInputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = static_cast<float>(i % kInputs) / kInputs;
    }
    const auto x = extension::make_tensor_ptr({1, side, side, int{kInputs}}, std::move(inputs));
    const auto y = extension::full({1, int{kSide}, int{kSide}, int{kOutputs}}, 0.0);
    runtime::EValue values[] = {x, y};
    runtime::EValue* args[] = {&values[0], &values[1]};
    EXPECT_EQ(delegate.execute({args, 2}), Error::Ok);
    const float* data = y->const_data_ptr<float>();
    return {data, data + y->numel()};
  }

  /// One pixel's outputs, by arithmetic in double precision.
  std::vector<double> expected() const {
    std::vector<double> middle;
    for (size_t m = 0; m < kMiddle; ++m) {
      double sum = data_->values(1)[m];
      for (size_t i = 0; i < kInputs; ++i) {
        sum += data_->values(0)[m * kInputs + i] * static_cast<double>(i) / kInputs;
      }
      middle.push_back(std::clamp<double>(sum, -kLimit, kLimit));
    }
    std::vector<double> outputs;
    for (size_t o = 0; o < kOutputs; ++o) {
      double sum = data_->values(3)[o];
      for (size_t m = 0; m < kMiddle; ++m) {
        sum += data_->values(2)[o * kMiddle + m] * middle[m];
      }
      outputs.push_back(sum);
    }
    return outputs;
  }

  std::unique_ptr<CountedData> data_ = std::make_unique<CountedData>(1);
  std::vector<uint8_t> bytes_ = network(1);
};

TEST_F(FirstRunTest, ComputesWhatLaterRunsDo) {
  const auto delegate = make(/*large_from=*/0);
  const std::vector<float> first = run(*delegate);
  const std::vector<double> wanted = expected();
  ASSERT_EQ(first.size(), size_t{kSide * kSide} * kOutputs);
  for (size_t i = 0; i < first.size(); ++i) {
    ASSERT_NEAR(first[i], wanted[i % kOutputs], 1e-5);
  }
  EXPECT_EQ(run(*delegate), first);
  EXPECT_EQ(run(*delegate), first);
}

/// Sums of 64 and 96 products of numbers below 1, each rounded to 11 bits.
TEST_F(FirstRunTest, HalvesAreALittleOffWhereTheProcessorHasThem) {
  DelegateOptions options;
  options.precision = ComputePrecision::Float16;
  const auto delegate = make(/*large_from=*/0, options);
  const std::vector<float> first = run(*delegate);
  EXPECT_EQ(run(*delegate), first);
  const std::vector<double> wanted = expected();
  double off = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    off = std::max(off, std::abs(first[i] - wanted[i % kOutputs]));
  }
  if (cpuinfo_has_arm_neon_fp16_arith()) {
    EXPECT_GT(off, 1e-4);
    EXPECT_LT(off, 2e-2);
  } else {
    EXPECT_LT(off, 1e-5);
  }
}

TEST_F(FirstRunTest, MatricesArePackedByTheSecondRunAndThenGivenBack) {
  const size_t before = PackedWeights::total_bytes();
  const size_t packed = PackedWeights::times_packed();
  auto delegate = make(/*large_from=*/0);
  EXPECT_EQ(data_->held(), 4);
  run(*delegate);
  EXPECT_EQ(PackedWeights::times_packed(), packed);
  EXPECT_EQ(PackedWeights::total_bytes(), before);
  EXPECT_EQ(data_->held(), 4);
  run(*delegate);
  EXPECT_EQ(PackedWeights::times_packed() - packed, 2u) << "each once";
  EXPECT_GT(PackedWeights::total_bytes(), before);
  EXPECT_EQ(data_->held(), 0);
  delegate.reset();
  EXPECT_EQ(PackedWeights::total_bytes(), before);
}

TEST_F(FirstRunTest, ADelegateThatNeverRunsAgainGivesItsDataBack) {
  auto delegate = make(/*large_from=*/0);
  run(*delegate);
  delegate.reset();
  EXPECT_EQ(data_->held(), 0);
}

TEST_F(FirstRunTest, SmallAndMeasuredMatricesArePackedAtOnceAndThoseThatUsersAskFor) {
  const size_t before = PackedWeights::total_bytes();
  DelegateOptions measured, asked;
  measured.profile = true;
  asked.pack_at_load = true;
  const std::pair<size_t, DelegateOptions> cases[] = {
      {size_t{1} << 20, {}}, {0, measured}, {0, asked}};
  for (const auto& [large_from, options] : cases) {
    const auto delegate = make(large_from, options);
    EXPECT_GT(PackedWeights::total_bytes(), before);
    EXPECT_EQ(data_->held(), 0);
    const std::vector<float> first = run(*delegate);
    EXPECT_EQ(run(*delegate), first);
  }
}

TEST_F(FirstRunTest, ThreadsRunDelegatesOfTheirOwn) {
  const std::vector<float> expected = run(*make(/*large_from=*/0));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto delegate = make(/*large_from=*/0);
      for (int each = 0; each < 4; ++each) {
        EXPECT_EQ(run(*delegate), expected);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(data_->held(), 0);
}

class FirstRunOf3x3Test : public FirstRunTest {
 protected:
  void SetUp() override {
    FirstRunTest::SetUp();
    data_ = std::make_unique<CountedData>(9);
    bytes_ = network(3);
  }
};

TEST_F(FirstRunOf3x3Test, OnlyMatricesWait) {
  const size_t before = PackedWeights::total_bytes();
  const auto delegate = make(/*large_from=*/0);
  const size_t loaded = PackedWeights::total_bytes();
  EXPECT_GT(loaded, before);
  EXPECT_EQ(data_->held(), 2) << "filter and bias of the linear layer";
  const size_t packed = PackedWeights::times_packed();
  const std::vector<float> first = run(*delegate);
  EXPECT_EQ(run(*delegate), first);
  EXPECT_EQ(PackedWeights::times_packed() - packed, 1u) << "the linear layer";
  EXPECT_EQ(data_->held(), 0);
}

TEST_F(FirstRunTest, SizesMayDifferBetweenRuns) {
  const auto delegate = make(/*large_from=*/0);
  const std::vector<float> small = run(*delegate, 3);
  ASSERT_EQ(small.size(), size_t{9} * kOutputs);
  const std::vector<float> large = run(*delegate);
  EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
  EXPECT_EQ(run(*delegate, 3), small);
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
