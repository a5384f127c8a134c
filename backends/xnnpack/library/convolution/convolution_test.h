// SPDX-License-Identifier: BSD-3-Clause
// A convolution or linear layer by XNNPACK's functions, and by its definition, for tests.
#pragma once

#include <executorch/backends/xnnpack/library/convolution/filter_rows.h>
#include <executorch/backends/xnnpack/library/convolution/indirection_free.h>

#include "xnnpack/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <ostream>
#include <random>
#include <vector>

namespace executorch::backends::xnnpack::testing {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kUntouched = -123;

struct Image {
  size_t batch, height, width, inputs, outputs;
  struct {
    uint32_t top, right, bottom, left;
  } padding;
  bool has_bias = true;
  float min = -kInfinity, max = kInfinity;
  uint32_t stride = 1, dilation = 1, groups = 1, kernel = 3;
  size_t gap = 0;  // channels between pixels
  uint32_t flags = 0;

  size_t reach() const { return (kernel - 1) * dilation; }
  size_t output_height() const {
    return (height + padding.top + padding.bottom - reach() - 1) / stride + 1;
  }
  size_t output_width() const {
    const size_t padded = padding.left + width + padding.right;
    return (std::max(padded, reach() + 1) - reach() - 1) / stride + 1;  // as XNNPACK has it
  }
  size_t input_stride() const { return inputs + gap; }
  size_t output_stride() const { return outputs + gap; }
};

inline void PrintTo(const Image& c, std::ostream* out) {
  *out << c.batch << " x " << c.height << " x " << c.width << ", " << c.inputs << " to "
       << c.outputs << " channels, padding " << c.padding.top << c.padding.right << c.padding.bottom
       << c.padding.left << ", kernel " << c.kernel << ", stride " << c.stride << ", dilation "
       << c.dilation << ", groups " << c.groups;
}

/// Of a linear layer: pixels are rows.
inline Image matrix(size_t rows, size_t inputs, size_t outputs) {
  Image c{1, 1, rows, inputs, outputs, {0, 0, 0, 0}};
  c.kernel = 1;
  return c;
}

struct Free {
  void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
  void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
};
using Pool = std::unique_ptr<pthreadpool, Free>;
using Operator = std::unique_ptr<xnn_operator, Free>;

/// Outputs whose terms may be added in another order: some kernels of XNNPACK take channels four
/// at a time.
inline auto SumsAre(const std::vector<float>& expected) {
  return ::testing::Pointwise(::testing::FloatNear(1e-4f), expected);
}

class ConvolutionTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success); }

  std::vector<float> draw(size_t count) {
    std::vector<float> values(count);
    std::normal_distribution<float> normal;
    std::generate(values.begin(), values.end(), [&] { return normal(random_); });
    return values;
  }

  void draw_for(const Image& c) {
    input_ = draw(c.batch * c.height * c.width * c.input_stride());
    filters_ = draw(c.outputs * c.kernel * c.kernel * c.inputs / c.groups);
    bias_ = draw(c.has_bias ? c.outputs : 0);
  }

  using Create = decltype(xnn_create_convolution2d_nhwc_f32);

  Operator create(const Image& c, Create* by = xnn_create_convolution2d_nhwc_f32) const {
    xnn_operator_t op = nullptr;
    EXPECT_EQ(
        by(c.padding.top, c.padding.right, c.padding.bottom, c.padding.left, c.kernel, c.kernel,
           c.stride, c.stride, c.dilation, c.dilation, c.groups, c.inputs / c.groups,
           c.outputs / c.groups, c.input_stride(), c.output_stride(), filters_.data(),
           c.has_bias ? bias_.data() : nullptr, c.min, c.max, c.flags, nullptr, nullptr, &op),
        xnn_status_success);
    return Operator(op);
  }

  static xnn_status reshape_floats(xnn_operator_t op, size_t batch, size_t height, size_t width,
                                   size_t* workspace_size, size_t* workspace_alignment,
                                   size_t* output_height, size_t* output_width,
                                   pthreadpool_t threadpool) {
    return reshape_convolution(xnn_reshape_convolution2d_nhwc_f32, op, batch, height, width,
                               workspace_size, workspace_alignment, output_height, output_width,
                               threadpool);
  }

  std::vector<float> computed(const Image& c, xnn_operator_t op, size_t num_threads,
                              ReshapeConvolution* reshape = reshape_floats) const {
    const Pool pool(pthreadpool_create(num_threads));
    size_t workspace_size = 0, alignment = 0, height = 0, width = 0;
    EXPECT_EQ(reshape(op, c.batch, c.height, c.width, &workspace_size, &alignment, &height, &width,
                      pool.get()),
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

  /// The definition: for each output `finish(sum, terms, channel)`, the latter what the terms are
  /// without their signs; `untouched` between pixels. Filters are [outputs, kernel, kernel,
  /// inputs].
  template <typename Sum, typename Value, typename Bias, typename Output, typename Finish>
  static std::vector<Output> defined(const Image& c, const std::vector<Value>& input, Value zero,
                                     const std::vector<Value>& filters,
                                     const std::vector<Bias>& bias, Output untouched,
                                     Finish finish) {
    const size_t inputs = c.inputs / c.groups, terms_of_output = c.kernel * c.kernel * inputs;
    std::vector<Output> output(c.batch * c.output_height() * c.output_width() * c.output_stride(),
                               untouched);
    for (size_t at = 0; at < output.size(); ++at) {
      const size_t channel = at % c.output_stride(), position = at / c.output_stride();
      if (channel >= c.outputs) {
        continue;
      }
      const size_t first = channel / (c.outputs / c.groups) * inputs;
      const size_t x = position % c.output_width() * c.stride - c.padding.left;
      const size_t row = position / c.output_width(), image = row / c.output_height();
      const size_t y = row % c.output_height() * c.stride - c.padding.top;
      Sum sum = c.has_bias ? bias[channel] : 0, terms = std::abs(sum);
      for (size_t i = 0; i < terms_of_output; ++i) {
        const size_t tap = i / inputs;
        const size_t tap_y = y + tap / c.kernel * c.dilation;
        const size_t tap_x = x + tap % c.kernel * c.dilation;
        if (tap_y < c.height && tap_x < c.width) {  // wraps around ahead of the image
          const size_t from = ((image * c.height + tap_y) * c.width + tap_x) * c.input_stride();
          const Sum term = (Sum{input[from + first + i % inputs]} - Sum{zero}) *
                           filters[channel * terms_of_output + i];
          sum += term;
          terms += std::abs(term);
        }
      }
      output[at] = finish(sum, terms, channel);
    }
    return output;
  }

  std::vector<float> expected(const Image& c) const {
    return defined<double>(c, input_, 0.0f, filters_, bias_, kUntouched,
                           [&](double sum, double, size_t) {
                             return std::min(c.max, std::max(c.min, static_cast<float>(sum)));
                           });
  }

  /// One operator takes one size after another; `by` computes each by another way.
  template <typename By>
  void check_sizes(Image c, std::initializer_list<size_t> sizes, By by) {
    draw_for(c);
    const Operator op = create(c);
    for (const size_t size : sizes) {
      c.height = size;
      c.width = size + 3;
      input_ = draw(c.batch * c.height * c.width * c.input_stride());
      EXPECT_THAT(computed(c, op.get(), 2), SumsAre(by(c)));
    }
  }
  void check_sizes(const Image& c, std::initializer_list<size_t> sizes) {
    check_sizes(c, sizes, [this](const Image& sized) { return expected(sized); });
  }

  std::mt19937 random_{11};
  std::vector<float> input_, filters_, bias_;
};

/// The same of bytes, with a scale for each filter, from floats that were drawn.
class ByteConvolutionTest : public ConvolutionTest {
 protected:
  Operator create_bytes(const Image& c, decltype(xnn_create_convolution2d_nhwc_qs8_qc8w)* by) {
    xnn_operator_t op = nullptr;
    EXPECT_EQ(
        by(c.padding.top, c.padding.right, c.padding.bottom, c.padding.left, c.kernel, c.kernel,
           c.stride, c.stride, c.dilation, c.dilation, c.groups, c.inputs / c.groups,
           c.outputs / c.groups, c.input_stride(), c.output_stride(), -5, 0.1f, scales_.data(),
           byte_filters_.data(), byte_bias_.data(), 3, 0.7f, -100, 120, 0, nullptr, nullptr, &op),
        xnn_status_success);
    return Operator(op);
  }

  std::vector<int8_t> computed_bytes(const Image& c, xnn_operator_t op, size_t num_threads) {
    const Pool pool(pthreadpool_create(num_threads));
    size_t workspace_size = 0, alignment = 0, height = 0, width = 0;
    EXPECT_EQ(
        xnn_reshape_convolution2d_nhwc_qs8_qc8w(op, c.batch, c.height, c.width, &workspace_size,
                                                &alignment, &height, &width, pool.get()),
        xnn_status_success);
    std::vector<std::max_align_t> workspace(workspace_size / sizeof(std::max_align_t) + 1);
    std::vector<int8_t> output(c.batch * height * width * c.output_stride(), 99);
    EXPECT_EQ(xnn_setup_convolution2d_nhwc_qs8_qc8w(op, workspace.data(), byte_input_.data(),
                                                    output.data()),
              xnn_status_success);
    EXPECT_EQ(xnn_run_operator(op, pool.get()), xnn_status_success);
    return output;
  }

  /// Zero points, scales and bounds as create_bytes() has them.
  std::vector<int8_t> expected_bytes(const Image& c) const {
    return defined<int32_t>(
        c, byte_input_, int8_t{-5}, byte_filters_, byte_bias_, int8_t{99},
        [&](int32_t sum, int32_t, size_t channel) {
          const float scale = 0.1f * scales_[channel] / 0.7f;
          const float scaled = std::nearbyintf(static_cast<float>(sum) * scale) + 3;
          return static_cast<int8_t>(std::min(120.0f, std::max(-100.0f, scaled)));
        });
  }

  static std::vector<int8_t> bytes_of(const std::vector<float>& values) {
    std::vector<int8_t> bytes(values.size() + XNN_EXTRA_BYTES);
    std::transform(values.begin(), values.end(), bytes.begin(),
                   [](float value) { return static_cast<int8_t>(value * 30); });
    return bytes;
  }

  void draw_bytes() {
    byte_input_ = bytes_of(input_);
    byte_filters_ = bytes_of(filters_);
    byte_bias_.assign(bias_.begin(), bias_.end());
    scales_ = bias_;
    std::transform(scales_.begin(), scales_.end(), scales_.begin(),
                   [](float value) { return std::abs(value) / 100 + 1e-3f; });
  }

  std::vector<int8_t> byte_input_, byte_filters_;
  std::vector<int32_t> byte_bias_;
  std::vector<float> scales_;
};

}  // namespace executorch::backends::xnnpack::testing
