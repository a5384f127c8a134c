// SPDX-License-Identifier: BSD-3-Clause
// Convolutions by packed filters beside their definition. Of small integers all sums are exact.
#include <executorch/kernels/optimized/conv/conv_packed.h>

#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/runtime/core/memory_allocator.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using executorch::kernels::optimized::Conv;
using executorch::kernels::optimized::Epilogue;
using executorch::kernels::optimized::num_conv_packed;
using executorch::kernels::optimized::on_every_target;
using executorch::kernels::optimized::pack_conv;
using executorch::kernels::optimized::packed_conv;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Axis {
  int64_t size, taps, stride, dilation, pad, more;

  int64_t outputs() const { return (size + pad + more - (taps - 1) * dilation - 1) / stride + 1; }
};

struct Case {
  int64_t batch, groups, in_channels, out_channels;
  Axis h, w;
};

// Odd sizes, each attribute by itself, rows of outputs that read zeros alone, images that a task
// cannot copy whole, few channels, filters of several blocks, and many columns of one row.
constexpr Case kCases[] = {
    {1, 1, 1, 1, {1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0}},
    {2, 1, 3, 32, {9, 3, 2, 1, 1, 1}, {8, 3, 2, 1, 1, 0}},
    {1, 1, 5, 7, {6, 5, 1, 1, 2, 2}, {7, 4, 1, 1, 0, 3}},
    {1, 1, 20, 50, {11, 3, 1, 3, 3, 3}, {13, 3, 1, 2, 2, 2}},
    {2, 3, 12, 30, {5, 3, 1, 1, 1, 1}, {6, 3, 2, 1, 1, 1}},
    {1, 2, 4, 6, {5, 2, 2, 2, 1, 0}, {9, 3, 3, 2, 2, 0}},
    {1, 1, 17, 24, {3, 2, 1, 1, 4, 4}, {3, 2, 1, 1, 3, 3}},
    {1, 1, 33, 80, {1, 1, 1, 1, 0, 0}, {700, 7, 1, 1, 3, 3}},
    {1, 1, 64, 128, {1, 1, 1, 1, 0, 0}, {3000, 8, 4, 1, 2, 2}},
    {1, 1, 130, 260, {7, 3, 1, 1, 1, 1}, {7, 3, 1, 1, 1, 1}},
    {1, 1, 96, 33, {40, 1, 2, 1, 0, 0}, {40, 1, 2, 1, 0, 0}},
    {2, 1, 3, 40, {17, 4, 4, 1, 1, 2}, {16, 4, 4, 1, 1, 3}},
    {1, 2, 6, 8, {9, 2, 3, 2, 0, 1}, {8, 2, 2, 2, 2, 0}},
    {2, 16, 32, 32, {6, 3, 1, 1, 1, 1}, {7, 3, 2, 1, 1, 1}},
    {1, 8, 32, 32, {5, 3, 2, 1, 3, 3}, {15, 2, 1, 2, 1, 1}},
    {1, 1, 1, 60, {41, 40, 1, 1, 0, 0}, {41, 40, 1, 1, 0, 0}},
    {1, 12, 96, 96, {4, 3, 1, 2, 2, 2}, {9, 5, 1, 1, 2, 2}},
    {2, 1, 64, 1, {9, 3, 1, 1, 1, 1}, {10, 3, 1, 1, 1, 1}},
    {1, 1, 33, 2, {8, 3, 2, 1, 3, 3}, {9, 3, 1, 2, 2, 2}},
    {1, 1, 40, 3, {6, 5, 1, 1, 2, 2}, {70, 2, 3, 1, 1, 0}},
    {1, 1, 96, 7, {5, 2, 1, 2, 1, 1}, {7, 3, 1, 1, 0, 0}},
};

float draw(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return static_cast<float>((state >> 24) % 9) - 4.0f;
}

std::vector<float> draw(int64_t count, uint32_t& state) {
  std::vector<float> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return draw(state); });
  return values;
}

class ConvPackedTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& p = GetParam();
    c_.batch = p.batch;
    c_.groups = p.groups;
    c_.in_channels = p.in_channels;
    c_.out_channels = p.out_channels;
    c_.in_d = c_.out_d = c_.kernel_d = c_.stride_d = c_.dilation_d = 1;
    c_.in_h = p.h.size;
    c_.in_w = p.w.size;
    c_.kernel_h = p.h.taps;
    c_.kernel_w = p.w.taps;
    c_.stride_h = p.h.stride;
    c_.stride_w = p.w.stride;
    c_.pad_h = p.h.pad;
    c_.pad_w = p.w.pad;
    c_.dilation_h = p.h.dilation;
    c_.dilation_w = p.w.dilation;
    c_.out_h = p.h.outputs();
    c_.out_w = p.w.outputs();
    c_.channels_last = c_.weight_channels_last = true;
    uint32_t state = 7;
    input_ = draw(p.batch * c_.in_h * c_.in_w * p.in_channels, state);
    weight_ = draw(p.out_channels * c_.kernel_h * c_.kernel_w * p.in_channels / p.groups, state);
    bias_ = draw(p.out_channels, state);
    c_.input = input_.data();
    c_.weight = weight_.data();
    c_.bias = bias_.data();
  }

  float expected_at(int64_t image, int64_t row, int64_t col, int64_t channel) const {
    const int64_t in_group = c_.in_channels / c_.groups;
    const int64_t group = channel / (c_.out_channels / c_.groups);
    float sum = c_.bias == nullptr ? 0 : c_.bias[channel];
    for (int64_t i = 0; i < c_.kernel_h; ++i) {
      for (int64_t j = 0; j < c_.kernel_w; ++j) {
        const int64_t y = row * c_.stride_h - c_.pad_h + i * c_.dilation_h;
        const int64_t x = col * c_.stride_w - c_.pad_w + j * c_.dilation_w;
        if (y < 0 || y >= c_.in_h || x < 0 || x >= c_.in_w) {
          continue;
        }
        const float* const pixel =
            c_.input + ((image * c_.in_h + y) * c_.in_w + x) * c_.in_channels + group * in_group;
        const float* const tap =
            c_.weight + ((channel * c_.kernel_h + i) * c_.kernel_w + j) * in_group;
        for (int64_t k = 0; k < in_group; ++k) {
          sum += pixel[k] * tap[k];
        }
      }
    }
    return sum;
  }

  std::vector<float> expected() const {
    std::vector<float> values;
    for (int64_t image = 0; image < c_.batch; ++image) {
      for (int64_t row = 0; row < c_.out_h; ++row) {
        for (int64_t col = 0; col < c_.out_w; ++col) {
          for (int64_t channel = 0; channel < c_.out_channels; ++channel) {
            values.push_back(expected_at(image, row, col, channel));
          }
        }
      }
    }
    return values;
  }

  std::vector<float> run(float min = -kInfinity, float max = kInfinity,
                         const Epilogue* epilogue = nullptr) {
    std::vector<float> packed(num_conv_packed(c_));
    pack_conv(c_, packed.data());
    c_.output = output_.data();
    MemoryAllocator allocator(static_cast<uint32_t>(memory_.size()), memory_.data());
    KernelRuntimeContext context(nullptr, &allocator);
    EXPECT_EQ(packed_conv(context, c_, packed.data(), min, max, epilogue), Error::Ok);
    return output_;
  }

  Conv c_{};
  std::vector<float> input_, weight_, bias_;
  std::vector<float> output_ = std::vector<float>(1 << 20, NAN);
  std::vector<uint8_t> memory_ = std::vector<uint8_t>(1 << 24);
};

TEST_P(ConvPackedTest, AddsWhatTheDefinitionAdds) {
  for (const bool has_bias : {true, false}) {
    c_.bias = has_bias ? bias_.data() : nullptr;
    const std::vector<float> wanted = expected();
    on_every_target([&] {
      output_.assign(wanted.size(), NAN);
      ASSERT_EQ(run(), wanted);
    });
  }
}

// So that those of one filter, with whatever strides, may share what is packed.
TEST_P(ConvPackedTest, IsPackedAlikeForAllStridesAndDilations) {
  std::vector<float> packed(num_conv_packed(c_));
  pack_conv(c_, packed.data());
  for (const int64_t step : {1, 2, 50}) {
    Conv other = c_;
    other.stride_h = other.stride_w = step;
    other.dilation_h = other.dilation_w = 3 - std::min<int64_t>(step, 2);
    std::vector<float> others(num_conv_packed(other));
    pack_conv(other, others.data());
    EXPECT_EQ(others, packed) << step;
  }
}

TEST_P(ConvPackedTest, KeepsOutputsWithinLimits) {
  std::vector<float> wanted = expected();
  for (float& value : wanted) {
    value = std::min(std::max(value, -3.0f), 5.0f);
  }
  output_.assign(wanted.size(), NAN);
  EXPECT_EQ(run(-3, 5), wanted);
}

// Each output is finished once, after all its sums.
TEST_P(ConvPackedTest, GivesWholePieces) {
  struct Doubled final : Epilogue {
    float* output;
    int64_t channels;
    void finish(const Piece& piece) const override {
      for (int64_t row = piece.m_begin; row < piece.m_end; ++row) {
        for (int64_t channel = piece.n_begin; channel < piece.n_end; ++channel) {
          output[row * channels + channel] *= 2;
        }
      }
    }
  } doubled;
  std::vector<float> wanted = expected();
  for (float& value : wanted) {
    value *= 2;
  }
  output_.assign(wanted.size(), NAN);
  doubled.output = output_.data();
  doubled.channels = c_.out_channels;
  EXPECT_EQ(run(-kInfinity, kInfinity, &doubled), wanted);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvPackedTest, ::testing::ValuesIn(kCases));

}  // namespace
