// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of many taps beside sums that are made one after the other.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

#include <cmath>

namespace executorch::backends::xnnpack::testing {
namespace {

class DepthwiseTaps : public ByteConvolutionTest {
 protected:
  /// `add(sum, pixel, weight)` for each tap inside of the image, then `finish(sum, channel)`.
  template <typename Value, typename Sum, typename Bias, typename Finish>
  static std::vector<Value> expected(const Image& c, const std::vector<Value>& input, int zero,
                                     const std::vector<Value>& filters, const Bias& bias,
                                     Value untouched, Finish finish) {
    std::vector<Value> output;
    for (size_t at = 0; at < c.batch * c.output_height() * c.output_width(); ++at) {
      const size_t x = at % c.output_width(), y = at / c.output_width() % c.output_height();
      const size_t image = at / c.output_width() / c.output_height();
      for (size_t channel = 0; channel < c.output_stride(); ++channel) {
        if (channel >= c.outputs) {
          output.push_back(untouched);
          continue;
        }
        Sum sum = c.has_bias ? bias[channel] : 0;
        for (size_t tap = 0; tap < c.kernel * c.kernel; ++tap) {
          const size_t row = y * c.stride + tap / c.kernel * c.dilation - c.padding.top;
          const size_t column = x * c.stride + tap % c.kernel * c.dilation - c.padding.left;
          if (row < c.height && column < c.width) {
            const size_t pixel = ((image * c.height + row) * c.width + column) * c.input_stride();
            sum += static_cast<Sum>(input[pixel + channel] - zero) *
                   filters[channel * c.kernel * c.kernel + tap];
          }
        }
        output.push_back(finish(sum, channel));
      }
    }
    return output;
  }

  void check(const Image& c) {
    SCOPED_TRACE(::testing::PrintToString(c));
    draw_for(c);
    draw_bytes();
    const Operator op = create(c);
    const Operator byte_op = create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w);
    EXPECT_EQ(op->ukernel.type, xnn_microkernel_type_dwconv);
    EXPECT_EQ(byte_op->ukernel.type, xnn_microkernel_type_dwconv);
    const auto floats =
        expected<float, double>(c, input_, 0, filters_, bias_, kUntouched, [&](double sum, size_t) {
          return std::min(c.max, std::max(c.min, static_cast<float>(sum)));
        });
    // Zero points -5 and 3, scales 0.1 and 0.7, bounds -100 and 120, as create_bytes() has them.
    const auto bytes = expected<int8_t, int32_t>(
        c, byte_input_, -5, byte_filters_, byte_bias_, int8_t{99},
        [&](int32_t sum, size_t channel) {
          const float scale = 0.1f * scales_[channel] / 0.7f;
          const float scaled = std::nearbyintf(static_cast<float>(sum) * scale) + 3;
          return static_cast<int8_t>(std::min(120.0f, std::max(-100.0f, scaled)));
        });
    for (const size_t num_threads : {1, 3}) {
      EXPECT_THAT(computed(c, op.get(), num_threads), SumsAre(floats));
      EXPECT_EQ(computed_bytes(c, byte_op.get(), num_threads), bytes);
    }
  }
};

TEST_F(DepthwiseTaps, AreAllAdded) {
  const auto image = [](uint32_t kernel, size_t channels) {
    const uint32_t half = kernel / 2;
    Image c{1, 13, 17, channels, channels, {half, half, half, half}};
    c.groups = static_cast<uint32_t>(channels);
    c.kernel = kernel;
    return c;
  };
  for (const uint32_t kernel : {6, 7, 8, 9, 11, 13, 15}) {
    for (const size_t channels : {1, 3, 16, 47, 64}) {
      check(image(kernel, channels));
    }
  }
  Image strided = image(7, 20), dilated = image(7, 20), bounded = image(7, 33);
  strided.stride = 2;
  strided.batch = 2;
  dilated.dilation = 2;
  dilated.padding = {6, 6, 6, 6};
  bounded.min = -1;
  bounded.max = 2;
  bounded.has_bias = true;
  bounded.gap = 5;
  Image bare = image(7, 24);
  bare.padding = {0, 0, 0, 0};
  for (const Image& c : {strided, dilated, bounded, bare}) {
    check(c);
  }
}

TEST_F(DepthwiseTaps, FollowTheSizeOfTheImage) {
  Image c{1, 20, 20, 24, 24, {3, 3, 3, 3}};
  c.groups = 24;
  c.kernel = 7;
  check_sizes(c, {20, 5, 31, 20}, [this](const Image& sized) {
    return expected<float, double>(sized, input_, 0, filters_, bias_, kUntouched,
                                   [](double sum, size_t) { return static_cast<float>(sum); });
  });
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
