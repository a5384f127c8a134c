// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of 3 x 3 pixels beside their definition in double precision.
#include "xnnpack.h"
#include "xnnpack/config.h"
#include "xnnpack/operator.h"

#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <ostream>
#include <random>
#include <vector>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kUntouched = -123;

struct Convolution {
  size_t batch, height, width, inputs, outputs;
  struct {
    uint32_t top, right, bottom, left;
  } padding;
  bool has_bias = true;
  float min = -kInfinity, max = kInfinity;
  uint32_t stride = 1, dilation = 1, groups = 1;
  size_t gap = 0;  // channels between pixels

  size_t output_height() const { return height + padding.top + padding.bottom - 2; }
  size_t output_width() const { return width + padding.left + padding.right - 2; }
  size_t input_stride() const { return inputs + gap; }
  size_t output_stride() const { return outputs + gap; }
};

void PrintTo(const Convolution& c, std::ostream* out) {
  *out << c.batch << " x " << c.height << " x " << c.width << ", " << c.inputs << " to "
       << c.outputs << " channels, padding " << c.padding.top << c.padding.right << c.padding.bottom
       << c.padding.left;
}

struct Free {
  void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
  void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
};
using Pool = std::unique_ptr<pthreadpool, Free>;
using Operator = std::unique_ptr<xnn_operator, Free>;

class Winograd : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success); }

  std::vector<float> draw(size_t count) {
    std::vector<float> values(count);
    std::normal_distribution<float> normal;
    std::generate(values.begin(), values.end(), [&] { return normal(random_); });
    return values;
  }

  void draw_for(const Convolution& c) {
    input_ = draw(c.batch * c.height * c.width * c.input_stride());
    filters_ = draw(c.outputs * 9 * c.inputs / c.groups);
    bias_ = draw(c.has_bias ? c.outputs : 0);
  }

  Operator create(const Convolution& c) const {
    xnn_operator_t op = nullptr;
    EXPECT_EQ(xnn_create_convolution2d_nhwc_f32(
                  c.padding.top, c.padding.right, c.padding.bottom, c.padding.left, 3, 3, c.stride,
                  c.stride, c.dilation, c.dilation, c.groups, c.inputs / c.groups,
                  c.outputs / c.groups, c.input_stride(), c.output_stride(), filters_.data(),
                  c.has_bias ? bias_.data() : nullptr, c.min, c.max, 0, nullptr, nullptr, &op),
              xnn_status_success);
    return Operator(op);
  }

  std::vector<float> computed(const Convolution& c, xnn_operator_t op, size_t num_threads) const {
    const Pool pool(pthreadpool_create(num_threads));
    size_t workspace_size = 0, alignment = 0, height = 0, width = 0;
    EXPECT_EQ(xnn_reshape_convolution2d_nhwc_f32(op, c.batch, c.height, c.width, &workspace_size,
                                                 &alignment, &height, &width, pool.get()),
              xnn_status_success);
    EXPECT_EQ(height, c.output_height());
    EXPECT_EQ(width, c.output_width());
    std::vector<float> workspace(workspace_size / sizeof(float), std::nanf(""));
    std::vector<float> output(c.batch * height * width * c.output_stride(), kUntouched);
    EXPECT_EQ(xnn_setup_convolution2d_nhwc_f32(op, workspace.data(), input_.data(), output.data()),
              xnn_status_success);
    EXPECT_EQ(xnn_run_operator(op, pool.get()), xnn_status_success);
    return output;
  }

  double pixel(const Convolution& c, size_t image, size_t row, size_t column,
               size_t channel) const {
    const size_t y = row - c.padding.top, x = column - c.padding.left;  // may wrap around
    return y < c.height && x < c.width
               ? input_[((image * c.height + y) * c.width + x) * c.input_stride() + channel]
               : 0;
  }

  /// And how much the terms of a sum are, all together.
  std::pair<double, double> expected(const Convolution& c, size_t image, size_t row, size_t column,
                                     size_t output) const {
    double sum = c.has_bias ? bias_[output] : 0, terms = std::fabs(sum);
    for (size_t tap = 0; tap < 9; ++tap) {
      for (size_t channel = 0; channel < c.inputs; ++channel) {
        const double term = pixel(c, image, row + tap / 3, column + tap % 3, channel) *
                            filters_[(output * 9 + tap) * c.inputs + channel];
        sum += term;
        terms += std::fabs(term);
      }
    }
    return {std::min<double>(std::max<double>(sum, c.min), c.max), terms};
  }

  void check(const Convolution& c, const std::vector<float>& output) const {
    size_t at = 0;
    for (size_t i = 0; i < c.batch * c.output_height() * c.output_width(); ++i) {
      const size_t column = i % c.output_width();
      const size_t row = i / c.output_width() % c.output_height();
      const size_t image = i / c.output_width() / c.output_height();
      for (size_t channel = 0; channel < c.output_stride(); ++channel, ++at) {
        if (channel >= c.outputs) {
          ASSERT_EQ(output[at], kUntouched);
          continue;
        }
        const auto [value, terms] = expected(c, image, row, column, channel);
        // Far below what one wrong pixel would make, far above a float's 6e-8 of each step.
        ASSERT_NEAR(output[at], value, 2e-6 * terms)
            << "image " << image << ", row " << row << ", column " << column << ", channel "
            << channel;
      }
    }
  }

  std::mt19937 random_{11};
  std::vector<float> input_, filters_, bias_;
};

bool has_avx512() {
#if defined(__x86_64__) || defined(_M_X64)
  return xnn_init_hardware_config()->use_x86_avx512f;
#else
  return false;
#endif
}

bool is_winograd(const Operator& op) {
  return op->ukernel.type == xnn_microkernel_type_default;
}

TEST_F(Winograd, IsTheConvolution) {
  const Convolution all[] = {
      {1, 1, 1, 32, 32, {1, 1, 1, 1}},  {1, 2, 3, 32, 48, {1, 1, 1, 1}},
      {1, 3, 3, 32, 32, {0, 0, 0, 0}},  {1, 4, 4, 48, 32, {1, 1, 1, 1}},
      {2, 5, 7, 64, 80, {0, 2, 1, 1}},  {3, 4, 5, 32, 32, {2, 0, 2, 3}},
      {1, 9, 6, 32, 512, {1, 1, 1, 1}}, {1, 14, 14, 128, 128, {1, 1, 1, 1}},
  };
  for (Convolution c : all) {
    for (const bool has_bias : {false, true}) {
      c.has_bias = has_bias;
      SCOPED_TRACE(testing::PrintToString(c));
      draw_for(c);
      const Operator op = create(c);
      EXPECT_EQ(is_winograd(op), has_avx512());
      const auto output = computed(c, op.get(), 1);
      check(c, output);
      EXPECT_EQ(computed(c, op.get(), 3), output);
    }
  }
}

TEST_F(Winograd, ClampsAndLeavesWhatLiesBetweenPixels) {
  Convolution c{1, 6, 5, 32, 32, {1, 1, 1, 1}};
  c.gap = 7;
  for (const float max : {6.0f, kInfinity}) {
    c.min = 0;
    c.max = max;
    draw_for(c);
    const auto output = computed(c, create(c).get(), 2);
    check(c, output);
  }
}

TEST_F(Winograd, TakesOneSizeAfterTheOther) {
  Convolution c{1, 12, 12, 32, 32, {1, 1, 1, 1}};
  draw_for(c);
  const Operator op = create(c);
  for (const size_t size : {12, 3, 7}) {
    c.height = size;
    c.width = size + 1;
    input_ = draw(c.height * c.width * c.inputs);
    check(c, computed(c, op.get(), 2));
  }
}

TEST_F(Winograd, KeepsNan) {
  const Convolution c{1, 4, 4, 32, 32, {0, 0, 0, 0}, true, 0, 6};
  draw_for(c);
  input_[0] = std::nanf("");
  EXPECT_TRUE(std::isnan(computed(c, create(c).get(), 1)[0]));
}

TEST_F(Winograd, LeavesOtherConvolutionsToXnnpack) {
  const Convolution plain{1, 8, 8, 64, 64, {1, 1, 1, 1}};
  Convolution others[] = {plain, plain, plain, plain, plain, plain};
  others[0].stride = 2;
  others[1].dilation = 2;
  others[2].groups = 2;
  others[3].inputs = 24;
  others[4].outputs = 40;
  others[5].inputs = others[5].outputs = 256;  // 4 MiB once transformed
  for (const Convolution& c : others) {
    draw_for(c);
    EXPECT_FALSE(is_winograd(create(c))) << testing::PrintToString(c);
  }
}

}  // namespace
