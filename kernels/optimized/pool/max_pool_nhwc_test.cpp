// SPDX-License-Identifier: BSD-3-Clause
// Max pooling of images, channels last, beside its definition.
#include <executorch/kernels/optimized/pool/max_pool_nhwc.h>

#include <executorch/kernels/optimized/gemm/every_target.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using executorch::kernels::optimized::max_pool_nhwc;
using executorch::kernels::optimized::MaxPool;
using executorch::kernels::optimized::on_every_target;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Axis {
  int64_t size, taps, stride, pad, dilation;

  int64_t outputs() const { return (size + 2 * pad - (taps - 1) * dilation - 1) / stride + 1; }
};
struct Case {
  int64_t batch, channels;
  Axis h, w;
};

// All rests of channels, windows that reach over each edge, or lie beyond it.
constexpr Case kCases[] = {
    {1, 1, {1, 1, 1, 0, 1}, {1, 1, 1, 0, 1}},    {2, 64, {9, 3, 2, 1, 1}, {8, 3, 2, 1, 1}},
    {1, 67, {7, 3, 1, 1, 1}, {5, 3, 1, 1, 1}},   {1, 33, {8, 2, 2, 0, 1}, {9, 2, 2, 0, 1}},
    {1, 5, {11, 5, 3, 2, 1}, {12, 4, 1, 2, 1}},  {1, 7, {9, 3, 1, 2, 2}, {10, 3, 2, 3, 3}},
    {3, 130, {4, 13, 1, 6, 1}, {4, 1, 1, 0, 1}}, {1, 3, {2, 2, 1, 3, 1}, {2, 2, 1, 3, 1}},
};

class MaxPoolTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto& [batch, channels, h, w] = GetParam();
    pool_ = {batch,   channels, h.size,     w.size,    h.outputs(), w.outputs(), h.taps,
             w.taps,  h.stride, w.stride,   h.pad,     w.pad,       h.dilation,  w.dilation,
             nullptr, nullptr,  -kInfinity, kInfinity, nullptr};
    uint32_t state = 3;
    input_.resize(static_cast<size_t>(batch * h.size * w.size * channels));
    for (float& value : input_) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) / (1 << 23) - 1;
    }
  }

  float expected_at(int64_t image, int64_t row, int64_t col, int64_t channel) const {
    float most = -kInfinity;
    for (int64_t i = 0; i < pool_.kernel_h; ++i) {
      for (int64_t j = 0; j < pool_.kernel_w; ++j) {
        const int64_t y = row * pool_.stride_h - pool_.pad_h + i * pool_.dilation_h;
        const int64_t x = col * pool_.stride_w - pool_.pad_w + j * pool_.dilation_w;
        if (y < 0 || y >= pool_.in_h || x < 0 || x >= pool_.in_w) {
          continue;
        }
        const float value =
            input_[((image * pool_.in_h + y) * pool_.in_w + x) * pool_.channels + channel];
        most = std::isnan(value) || value > most ? value : most;
      }
    }
    return std::isnan(most) ? most : std::clamp(most, pool_.min, pool_.max);
  }

  void check() {
    std::vector<float> output(
        static_cast<size_t>(pool_.batch * pool_.out_h * pool_.out_w * pool_.channels), 9);
    pool_.input = input_.data();
    pool_.output = output.data();
    max_pool_nhwc(pool_);
    for (size_t i = 0; i < output.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t pixel = at / pool_.channels, row = pixel / pool_.out_w;
      const float expected = expected_at(row / pool_.out_h, row % pool_.out_h, pixel % pool_.out_w,
                                         at % pool_.channels);
      ASSERT_TRUE(output[i] == expected || (std::isnan(output[i]) && std::isnan(expected)))
          << i << ": " << output[i] << ", expected " << expected;
    }
  }

  MaxPool pool_;
  std::vector<float> input_;
};

TEST_P(MaxPoolTest, IsItsDefinition) {
  on_every_target([&] { check(); });
}

TEST_P(MaxPoolTest, IsBoundedAndKeepsNaN) {
  pool_.min = -0.25f;
  pool_.max = 0.5f;
  input_[input_.size() / 2] = std::nanf("");
  input_.front() = kInfinity;
  on_every_target([&] { check(); });
}

INSTANTIATE_TEST_SUITE_P(Cases, MaxPoolTest, ::testing::ValuesIn(kCases));

}  // namespace
