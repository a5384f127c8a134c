// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions beside their definition. Of small integers all sums are exact.
#include <executorch/kernels/optimized/conv/depthwise/depthwise.h>

#include <executorch/kernels/optimized/gemm/every_target.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

namespace {

using executorch::kernels::optimized::Conv;
using executorch::kernels::optimized::Depthwise;
using executorch::kernels::optimized::depthwise_conv;
using executorch::kernels::optimized::Epilogue;
using executorch::kernels::optimized::on_every_target;

struct Axis {
  int64_t size, taps, stride, dilation, pad, more;

  int64_t outputs() const { return (size + pad + more - (taps - 1) * dilation - 1) / stride + 1; }
};

struct Case {
  int64_t batch, channels;
  Axis h, w;
};

// Each width that has loops of its own, and others; all rests of outputs and of channels; outputs
// that read zeros alone; parts of a filter's rows; images smaller than their filters.
constexpr Case kCases[] = {
    {1, 1, {1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0}},
    {2, 33, {9, 3, 1, 1, 1, 1}, {8, 3, 1, 1, 1, 1}},
    {1, 16, {7, 3, 2, 1, 1, 1}, {15, 3, 2, 1, 1, 1}},
    {1, 7, {11, 5, 1, 1, 2, 2}, {13, 5, 1, 1, 2, 2}},
    {1, 40, {12, 5, 2, 1, 2, 2}, {14, 5, 2, 1, 2, 1}},
    {2, 19, {10, 7, 1, 1, 3, 3}, {9, 7, 1, 1, 3, 3}},
    {1, 8, {13, 7, 2, 1, 3, 3}, {26, 7, 2, 1, 3, 2}},
    {1, 150, {7, 3, 1, 1, 1, 1}, {7, 3, 1, 1, 1, 1}},
    {1, 12, {6, 3, 1, 2, 2, 2}, {21, 3, 1, 3, 3, 3}},
    {1, 5, {8, 3, 3, 1, 0, 0}, {23, 3, 3, 1, 1, 0}},
    {1, 24, {6, 2, 1, 1, 0, 0}, {11, 4, 1, 1, 0, 3}},
    {1, 17, {1, 1, 1, 1, 0, 0}, {50, 31, 1, 1, 15, 15}},
    {1, 17, {1, 1, 1, 1, 0, 0}, {60, 9, 2, 1, 4, 4}},
    {1, 9, {16, 14, 1, 1, 7, 6}, {15, 14, 1, 1, 7, 6}},
    {1, 9, {3, 3, 2, 1, 4, 4}, {3, 3, 2, 1, 4, 4}},
    {1, 4, {2, 5, 1, 1, 2, 2}, {2, 5, 1, 1, 2, 2}},
    {3, 2, {5, 3, 1, 4, 4, 4}, {70, 5, 1, 1, 0, 0}},
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

class DepthwiseConvTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto& [batch, channels, h, w] = GetParam();
    Conv& c = d_.conv;
    c.batch = batch;
    c.groups = c.in_channels = c.out_channels = channels;
    c.in_d = c.out_d = c.kernel_d = c.stride_d = c.dilation_d = 1;
    c.in_h = h.size;
    c.in_w = w.size;
    c.kernel_h = h.taps;
    c.kernel_w = w.taps;
    c.stride_h = h.stride;
    c.stride_w = w.stride;
    c.pad_h = h.pad;
    c.pad_w = w.pad;
    c.dilation_h = h.dilation;
    c.dilation_w = w.dilation;
    c.out_h = h.outputs();
    c.out_w = w.outputs();
    c.channels_last = true;
    input_ = draw(batch * c.in_h * c.in_w * channels, state_);
    filter_ = draw(c.kernel_h * c.kernel_w * channels, state_);
    bias_ = draw(channels, state_);
    c.input = input_.data();
    c.bias = bias_.data();
    d_.filter = filter_.data();
  }

  float expected_at(int64_t image, int64_t row, int64_t col, int64_t channel) const {
    const Conv& c = d_.conv;
    float sum = c.bias == nullptr ? 0 : c.bias[channel];
    for (int64_t i = 0; i < c.kernel_h; ++i) {
      for (int64_t j = 0; j < c.kernel_w; ++j) {
        const int64_t y = row * c.stride_h - c.pad_h + i * c.dilation_h;
        const int64_t x = col * c.stride_w - c.pad_w + j * c.dilation_w;
        if (y >= 0 && y < c.in_h && x >= 0 && x < c.in_w) {
          sum += input_[((image * c.in_h + y) * c.in_w + x) * c.in_channels + channel] *
                 filter_[(i * c.kernel_w + j) * c.in_channels + channel];
        }
      }
    }
    return std::isnan(sum) ? sum : std::clamp(sum, d_.min, d_.max);
  }

  std::vector<float> expected() const {
    const Conv& c = d_.conv;
    std::vector<float> values;
    for (int64_t image = 0; image < c.batch; ++image) {
      for (int64_t row = 0; row < c.out_h; ++row) {
        for (int64_t col = 0; col < c.out_w; ++col) {
          for (int64_t channel = 0; channel < c.out_channels; ++channel) {
            values.push_back(expected_at(image, row, col, channel));
          }
        }
      }
    }
    return values;
  }

  std::vector<float> run() {
    std::vector<float> output(expected().size(), std::nanf(""));
    d_.conv.output = output.data();
    depthwise_conv(d_);
    return output;
  }

  uint32_t state_ = 7;
  std::vector<float> input_, filter_, bias_;
  Depthwise d_ = {};
};

TEST_P(DepthwiseConvTest, IsItsDefinition) {
  on_every_target([&] { EXPECT_EQ(run(), expected()); });
  d_.conv.bias = nullptr;
  d_.min = -5;
  d_.max = 6;
  on_every_target([&] { EXPECT_EQ(run(), expected()); });
}

class CountPieces : public Epilogue {
 public:
  CountPieces(int64_t rows, int64_t columns) : columns_(columns), counts_(rows * columns) {}
  void finish(const Piece& piece) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int64_t row = piece.m_begin; row < piece.m_end; ++row) {
      for (int64_t column = piece.n_begin; column < piece.n_end; ++column) {
        ++counts_[row * columns_ + column];
      }
    }
  }
  bool are_all_one() const {
    return std::all_of(counts_.begin(), counts_.end(), [](int count) { return count == 1; });
  }

 private:
  const int64_t columns_;
  mutable std::mutex mutex_;
  mutable std::vector<int> counts_;
};

TEST_P(DepthwiseConvTest, EachPieceIsFinishedOnce) {
  const CountPieces pieces(d_.conv.batch * d_.conv.out_h * d_.conv.out_w, d_.conv.out_channels);
  d_.epilogue = &pieces;
  run();
  EXPECT_TRUE(pieces.are_all_one());
}

TEST_P(DepthwiseConvTest, KeepsNaN) {
  input_.front() = std::nanf("");
  d_.min = -1;
  d_.max = 1;
  const std::vector<float> values = run();
  const std::vector<float> wanted = expected();
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::isnan(values[i]), std::isnan(wanted[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, DepthwiseConvTest, ::testing::ValuesIn(kCases));

}  // namespace
