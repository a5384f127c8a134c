// SPDX-License-Identifier: BSD-3-Clause
// Kernels and what is below them, called as other projects call them: by their headers.
#include <gtest/gtest.h>

#include <vector>

#include <executorch/extension/llm/custom_ops/op_fallback.h>
#include <executorch/extension/llm/custom_ops/op_sdpa_impl.h>
#include <executorch/extension/llm/custom_ops/op_tile_crop.h>
#include <executorch/extension/llm/custom_ops/spinquant/fast_hadamard_transform.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/platform/runtime.h>

namespace {

using executorch::aten::ScalarType;
using executorch::runtime::testing::TensorFactory;
using torch::executor::native::SeqDim;
using Tensor = executorch::aten::Tensor;
using OptionalTensor = std::optional<Tensor>;
namespace native = torch::executor::native;

class DirectCallsTest : public ::testing::Test {
 protected:
  void SetUp() override { executorch::runtime::runtime_init(); }

  // Attention of a query of zeros, for which all scores are equal: the mean of the values that each
  // row sees.
  std::vector<float> means(SeqDim seq_dim, bool causal, int64_t start, int64_t num_keys) {
    const bool one = seq_dim == SeqDim::ONE;
    const std::vector<int32_t> two =
        one ? std::vector<int32_t>{1, 2, 1, 1} : std::vector<int32_t>{1, 1, 2, 1};
    const std::vector<int32_t> four =
        one ? std::vector<int32_t>{1, 4, 1, 1} : std::vector<int32_t>{1, 1, 4, 1};
    const OptionalTensor none;
    Tensor out = floats_.zeros(two);
    native::sdpa::impl::cpu_flash_attention<float, 32, 512>(
        ctx_, out, floats_.zeros(two), floats_.ones(four), floats_.make(four, {1, 2, 3, 10}), 0.0,
        causal, none, std::nullopt, none, none, none, none, none, none, seq_dim, start, num_keys);
    return {out.const_data_ptr<float>(), out.const_data_ptr<float>() + 2};
  }

  executorch::runtime::KernelRuntimeContext ctx_;
  TensorFactory<ScalarType::Float> floats_;
};

TEST_F(DirectCallsTest, AttentionSeesTheKeysThatItIsGiven) {
  for (const SeqDim seq_dim : {SeqDim::ONE, SeqDim::TWO}) {
    EXPECT_EQ(means(seq_dim, false, 0, -1), (std::vector<float>{4, 4}));
    EXPECT_EQ(means(seq_dim, false, 0, 3), (std::vector<float>{2, 2}));
    EXPECT_EQ(means(seq_dim, true, 0, -1), (std::vector<float>{1, 1.5}));
    EXPECT_EQ(means(seq_dim, true, 2, -1), (std::vector<float>{2, 4}));
    EXPECT_EQ(means(seq_dim, true, 1, 3), (std::vector<float>{1.5, 2}));
  }
  EXPECT_EQ(ctx_.failure_state(), executorch::runtime::Error::Ok);
}

TEST_F(DirectCallsTest, AttentionOnBytesIsThatOfTheNumbersTheyStandFor) {
  TensorFactory<ScalarType::Char> bytes;
  const std::vector<int32_t> one{1, 1, 1, 1}, two{1, 1, 2, 1};
  const OptionalTensor scale{floats_.make(one, {0.5})}, zero{bytes.make(one, {3})};
  const OptionalTensor scales{floats_.make(two, {0.5, 2})}, zeros{bytes.make(two, {3, 1})};
  Tensor out = floats_.zeros(one);
  // the query is 0; values are (5 - 3) * 0.5 and (4 - 1) * 2, whose mean is 3.5
  native::sdpa::impl::cpu_flash_attention<int8_t, 32, 512>(
      ctx_, out, bytes.make(one, {3}), bytes.make(two, {9, 9}), bytes.make(two, {5, 4}), 0.0, false,
      {}, std::nullopt, zero, scale, zeros, scales, zeros, scales);
  EXPECT_FLOAT_EQ(out.const_data_ptr<float>()[0], 3.5f);
  native::sdpa::impl::cpu_flash_attention<int8_t, 32, 512>(
      ctx_, out, bytes.make(one, {3}), bytes.make(two, {9, 9}), bytes.make(two, {5, 4}), 0.0, false,
      {}, std::nullopt, zero, scale, zeros, scales, zeros, {});
  EXPECT_EQ(ctx_.failure_state(), executorch::runtime::Error::InvalidArgument);
}

TEST_F(DirectCallsTest, FlashAttentionWithoutACache) {
  const Tensor query = floats_.zeros({1, 1, 2, 1}), key = floats_.ones({1, 1, 3, 1});
  Tensor out = floats_.zeros({1, 1, 2, 1});
  native::flash_attention_kernel_out(ctx_, query, key, floats_.make({1, 1, 3, 1}, {1, 2, 9}), {},
                                     0.0, true, {}, out);
  EXPECT_TENSOR_CLOSE(out, floats_.make({1, 1, 2, 1}, {1, 1.5}));
}

TEST_F(DirectCallsTest, TheScaleIsOneOverTheRootOfTheDepth) {
  const Tensor query = floats_.zeros({1, 1, 1, 16});
  EXPECT_EQ(native::sdpa::impl::calculate_scale(query, std::nullopt), 0.25);
  EXPECT_EQ(native::sdpa::impl::calculate_scale(query, 3.0), 3.0);
}

TEST_F(DirectCallsTest, TilesAndCopies) {
  TensorFactory<ScalarType::Int> ints;
  Tensor tiles = ints.zeros({2, 1, 2, 2});
  native::tile_crop_out_impl(ctx_, ints.make({1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}), 2, tiles);
  EXPECT_TENSOR_EQ(tiles, ints.make({2, 1, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7}));
  Tensor copied = ints.zeros({2, 1, 2, 2});
  native::fallback_out(ctx_, tiles, copied);
  EXPECT_TENSOR_EQ(copied, tiles);
}

TEST(FastHadamardTransform, KeepsLengthsAndIsItsOwnInverse) {
  float four[] = {1, 2, 3, 4};
  executorch::fast_hadamard_transform(four, 2);
  const float expected[] = {5, -1, -2, 0};  // half of the sums with signs ++++ +-+- ++-- +--+
  for (int i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(four[i], expected[i]);
  }
  executorch::fast_hadamard_transform(four, 2);
  EXPECT_FLOAT_EQ(four[2], 3);
}

TEST(FastHadamardTransform, OfTwentyEightIsNotNormalized) {
  // orthogonal rows of 28 times +-1: squares grow 28 times
  std::vector<double> vec(56);
  double before = 0, after = 0;
  for (size_t i = 0; i < vec.size(); ++i) {
    vec[i] = static_cast<double>(i % 9) - 3;
    before += vec[i] * vec[i];
  }
  executorch::fast_hadamard_transform_28N(vec.data(), 1);
  for (const double x : vec) {
    after += x * x;
  }
  EXPECT_NEAR(after, 28 * before, 1e-9 * after);
}

}  // namespace
