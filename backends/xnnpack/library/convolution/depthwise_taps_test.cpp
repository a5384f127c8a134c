// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of many taps beside their definition.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

namespace executorch::backends::xnnpack::testing {
namespace {

class DepthwiseTaps : public ByteConvolutionTest {
 protected:
  void check(const Image& c) {
    SCOPED_TRACE(::testing::PrintToString(c));
    draw_for(c);
    draw_bytes();
    const Operator op = create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w);
    EXPECT_EQ(op->ukernel.type, xnn_microkernel_type_dwconv);
    const auto bytes = expected_bytes(c);
    for (const size_t num_threads : {1, 3}) {
      EXPECT_EQ(computed_bytes(c, op.get(), num_threads), bytes);
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

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
