// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of images by filter rows beside XNNPACK's by taps: each output adds the same terms.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/convolution/filter_rows.h>

extern "C" decltype(xnn_create_convolution2d_nhwc_qs8_qc8w)
    xnn_create_convolution2d_nhwc_qs8_qc8w_any;

namespace executorch::backends::xnnpack::testing {
namespace {

struct Case {
  Image image;
  bool by_rows;
};

class ConvolutionByFilterRows : public ByteConvolutionTest {};

TEST_F(ConvolutionByFilterRows, AreThoseOfTheTaps) {
  Image image{1, 33, 29, 3, 40, {3, 3, 3, 3}};
  image.kernel = 7;
  image.stride = 2;
  Image pair{2, 9, 17, 4, 33, {1, 0, 2, 1}};
  Image tall{1, 16, 5, 1, 20, {2, 2, 2, 2}};
  tall.kernel = 5;
  Image narrow{1, 4, 1, 3, 8, {1, 0, 1, 0}};  // narrower than its filter
  Image spread = pair, deep = pair, gaps = pair, bare = pair, wide = pair;
  spread.dilation = 2;
  deep.inputs = 5;
  gaps.gap = 1;
  bare.padding = {0, 0, 0, 0};
  Image patches{2, 33, 48, 3, 24, {0, 0, 0, 0}};  // of a vision transformer
  patches.kernel = patches.stride = 16;
  wide.padding = {0, 3, 0, 0};
  Image large{1, 40, 36, 1, 32, {0, 0, 0, 0}}, huge = large;
  large.kernel = 24;
  huge.kernel = 33;
  const Case cases[] = {{image, true},   {pair, true},    {tall, true},  {narrow, true},
                        {spread, false}, {deep, false},   {gaps, false}, {bare, true},
                        {wide, false},   {patches, true}, {large, true}, {huge, false}};
  for (const auto& [c, by_rows] : cases) {
    SCOPED_TRACE(::testing::PrintToString(c));
    draw_for(c);
    draw_bytes();
    const Operator op = create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w);
    EXPECT_EQ(is_by_filter_rows(op.get()), by_rows);
    const auto taps =
        computed_bytes(c, create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w_any).get(), 1);
    for (const size_t num_threads : {1, 3}) {
      EXPECT_EQ(computed_bytes(c, op.get(), num_threads), taps);
    }
  }
}

TEST_F(ConvolutionByFilterRows, FollowTheSizeOfTheImage) {
  Image image{1, 20, 20, 3, 16, {1, 1, 1, 1}};
  image.stride = 2;
  draw_for(image);
  draw_bytes();
  const Operator op = create_bytes(image, xnn_create_convolution2d_nhwc_qs8_qc8w);
  for (const size_t size : {20, 3, 11, 20}) {
    image.height = size;
    image.width = size + 3;
    input_ = draw(image.height * image.width * image.inputs);
    byte_input_ = bytes_of(input_);
    EXPECT_EQ(computed_bytes(image, op.get(), 2),
              computed_bytes(
                  image, create_bytes(image, xnn_create_convolution2d_nhwc_qs8_qc8w_any).get(), 2));
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
