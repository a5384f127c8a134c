// SPDX-License-Identifier: BSD-3-Clause
// Winograd's convolution beside its definition. Of small integers all sums are exact: a filter's
// points are quarters.
#include <executorch/kernels/optimized/conv/winograd.h>

#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/runtime/core/memory_allocator.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using executorch::kernels::optimized::Conv;
using executorch::kernels::optimized::cost_of_winograd;
using executorch::kernels::optimized::is_winograd;
using executorch::kernels::optimized::num_winograd_packed;
using executorch::kernels::optimized::on_every_target;
using executorch::kernels::optimized::pack_winograd;
using executorch::kernels::optimized::winograd_conv;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  int64_t batch, height, width, in_channels, out_channels, pad_top, pad_left, more_rows, more_cols;
};

// Odd sizes and channels, paddings that differ, filters that are large once transformed.
constexpr Case kCases[] = {{1, 1, 1, 1, 1, 1, 1, 1, 1},     {1, 3, 3, 32, 32, 0, 0, 0, 0},
                           {2, 5, 7, 16, 80, 0, 1, 2, 1},   {3, 4, 5, 33, 7, 2, 3, 0, 2},
                           {1, 14, 14, 48, 40, 1, 1, 1, 1}, {1, 9, 6, 19, 50, 1, 1, 1, 1},
                           {1, 6, 7, 130, 140, 1, 0, 1, 1}};

float draw(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return static_cast<float>((state >> 24) % 9) - 4.0f;
}

std::vector<float> draw(int64_t count, uint32_t& state) {
  std::vector<float> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return draw(state); });
  return values;
}

class WinogradTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& p = GetParam();
    c_.batch = p.batch;
    c_.groups = c_.in_d = c_.out_d = c_.kernel_d = c_.stride_d = c_.dilation_d = 1;
    c_.in_channels = p.in_channels;
    c_.out_channels = p.out_channels;
    c_.in_h = p.height;
    c_.in_w = p.width;
    c_.kernel_h = c_.kernel_w = 3;
    c_.stride_h = c_.stride_w = c_.dilation_h = c_.dilation_w = 1;
    c_.pad_h = p.pad_top;
    c_.pad_w = p.pad_left;
    c_.out_h = p.height + p.pad_top + p.more_rows - 2;
    c_.out_w = p.width + p.pad_left + p.more_cols - 2;
    c_.channels_last = c_.weight_channels_last = true;
    uint32_t state = 7;
    input_ = draw(p.batch * p.height * p.width * p.in_channels, state);
    weight_ = draw(9 * p.in_channels * p.out_channels, state);
    bias_ = draw(p.out_channels, state);
    output_.resize(static_cast<size_t>(p.batch * c_.out_h * c_.out_w * p.out_channels));
    c_.input = input_.data();
    c_.weight = weight_.data();
    c_.bias = bias_.data();
    c_.output = output_.data();
  }

  float expected_at(int64_t image, int64_t row, int64_t col, int64_t channel) const {
    float sum = c_.bias == nullptr ? 0.0f : bias_[static_cast<size_t>(channel)];
    for (int64_t tap = 0; tap < 9; ++tap) {
      const int64_t y = row + tap / 3 - c_.pad_h, x = col + tap % 3 - c_.pad_w;
      if (y < 0 || x < 0 || y >= c_.in_h || x >= c_.in_w) {
        continue;
      }
      const float* in = c_.input + ((image * c_.in_h + y) * c_.in_w + x) * c_.in_channels;
      const float* weight = c_.weight + (channel * 9 + tap) * c_.in_channels;
      for (int64_t i = 0; i < c_.in_channels; ++i) {
        sum += in[i] * weight[i];
      }
    }
    return sum;
  }

  void compute(float min, float max) {
    std::vector<uint8_t> memory(16 << 20, 0xff);
    MemoryAllocator allocator(16 << 20, memory.data());
    KernelRuntimeContext ctx(nullptr, &allocator);
    std::vector<float> packed(num_winograd_packed(c_));
    ASSERT_EQ(pack_winograd(ctx, c_, packed.data()), Error::Ok);
    Conv unpacked = c_;
    unpacked.weight = nullptr;
    std::fill(output_.begin(), output_.end(), NAN);
    ASSERT_EQ(winograd_conv(ctx, unpacked, packed.data(), min, max), Error::Ok);
  }

  void expect_right(float min, float max) const {
    for (size_t at = 0; at < output_.size(); ++at) {
      const auto i = static_cast<int64_t>(at);
      const int64_t position = i / c_.out_channels;
      const float sum =
          expected_at(position / (c_.out_h * c_.out_w), position / c_.out_w % c_.out_h,
                      position % c_.out_w, i % c_.out_channels);
      ASSERT_EQ(output_[at], std::min(std::max(sum, min), max)) << "element " << at;
    }
  }

  Conv c_ = {};
  std::vector<float> input_, weight_, bias_, output_;
};

TEST_P(WinogradTest, IsTheConvolution) {
  EXPECT_TRUE(is_winograd(c_));
  on_every_target([&] {
    for (const bool has_bias : {true, false}) {
      c_.bias = has_bias ? bias_.data() : nullptr;
      compute(-kInfinity, kInfinity);
      expect_right(-kInfinity, kInfinity);
    }
    compute(-3, 20);
    expect_right(-3, 20);
  });
}

TEST_P(WinogradTest, KeepsNan) {
  input_[0] = NAN;
  on_every_target([&] {
    compute(-1, 1);
    bool found = false;
    for (int64_t i = 0; i < c_.batch * c_.out_h * c_.out_w * c_.out_channels; ++i) {
      found = found || std::isnan(output_[static_cast<size_t>(i)]);
    }
    EXPECT_TRUE(found);
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, WinogradTest, ::testing::ValuesIn(kCases));

TEST(Winograd, IsForFiltersOfThreeByThree) {
  Conv plain = {};
  plain.batch = plain.groups = plain.in_d = plain.out_d = plain.kernel_d = 1;
  plain.stride_h = plain.stride_w = plain.dilation_h = plain.dilation_w = 1;
  plain.kernel_h = plain.kernel_w = 3;
  plain.in_channels = plain.out_channels = 64;
  plain.out_h = plain.out_w = 56;
  plain.channels_last = plain.weight_channels_last = true;
  EXPECT_TRUE(is_winograd(plain));
  EXPECT_LT(cost_of_winograd(plain), 0.7);
  for (int64_t Conv::* field :
       {&Conv::groups, &Conv::kernel_h, &Conv::kernel_w, &Conv::stride_h, &Conv::stride_w,
        &Conv::dilation_h, &Conv::dilation_w, &Conv::kernel_d}) {
    Conv other = plain;
    other.*field = 2;
    EXPECT_FALSE(is_winograd(other));
  }
  plain.out_h = plain.out_w = 1;  // a quarter of the outputs of its tile
  EXPECT_GT(cost_of_winograd(plain), 1.0);
}

}  // namespace
