// SPDX-License-Identifier: BSD-3-Clause
// Convolutions that find their inputs as they go beside XNNPACK's with a table: the same numbers.
// It does not matter to them of what type the numbers are; these are floats, which no rounding
// hides.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

namespace executorch::backends::xnnpack::testing {
namespace {

class IndirectionFree : public ConvolutionTest {};

Image with(Image c, uint32_t kernel, uint32_t stride, uint32_t dilation, uint32_t groups) {
  c.kernel = kernel;
  c.stride = stride;
  c.dilation = dilation;
  c.groups = groups;
  return c;
}

TEST_F(IndirectionFree, InputsAreThoseOfTheTable) {
  const Image image{1, 33, 29, 3, 40, {3, 3, 3, 3}};
  const Image pair{2, 9, 17, 12, 36, {1, 0, 2, 1}};
  const Image all[] = {
      with(image, 7, 2, 1, 1),
      with(image, 3, 1, 2, 1),
      with(image, 33, 3, 1, 1),  // keeps its table: too large for a stack
      with({1, 40, 40, 8, 8, {0, 0, 0, 0}}, 3, 1, 1, 1),
      with({1, 3, 3, 8, 8, {0, 0, 0, 0}}, 3, 1, 1, 1),
      with({1, 1, 200, 8, 8, {1, 1, 1, 1}}, 3, 1, 1, 1),
      with(pair, 3, 1, 1, 1),
      with(pair, 2, 2, 1, 3),
      with({1, 9, 17, 12, 36, {1, 1, 1, 1}}, 3, 1, 1, 2),
      with({1, 9, 8, 256, 200, {1, 1, 1, 1}}, 3, 2, 1, 1),  // large weights: goes down the columns
      with({1, 7, 5, 600, 700, {0, 0, 0, 0}}, 1, 2, 1, 1),
      with({1, 12, 190, 20, 20, {1, 1, 1, 1}}, 3, 1, 1, 20),  // depthwise: rows in several parts
      with({2, 13, 300, 33, 33, {0, 1, 1, 0}}, 3, 2, 1, 33),
      with({1, 11, 9, 8, 8, {2, 3, 1, 0}}, 3, 1, 2, 8),
      with({1, 9, 90, 8, 8, {2, 3, 1, 2}}, 3, 2, 2, 8),
      with({1, 11, 9, 8, 8, {0, 0, 0, 0}}, 2, 3, 1, 8),  // fewer taps than a kernel has
      with({1, 4, 3, 17, 17, {2, 2, 2, 2}}, 5, 1, 1, 17),
      with({2, 14, 150, 24, 24, {3, 3, 3, 3}}, 7, 1, 1, 24),
      with({1, 1, 14, 24, 24, {3, 3, 3, 3}}, 7, 2, 1, 24),
  };
  for (Image c : all) {
    SCOPED_TRACE(::testing::PrintToString(c));
    c.gap = 5;
    draw_for(c);
    const Operator table = create(c);
    const auto expected = computed(c, table.get(), 1, xnn_reshape_convolution2d_nhwc_f32);
    EXPECT_NE(table->indirection_buffer, nullptr);
    const Operator op = create(c);
    for (const size_t num_threads : {1, 3}) {
      EXPECT_EQ(computed(c, op.get(), num_threads), expected);
      const bool shares_table = c.groups > 1 && op->ukernel.type == xnn_microkernel_type_igemm;
      EXPECT_EQ(op->indirection_buffer == nullptr, !shares_table && c.kernel < 33);
    }
  }
}

TEST_F(IndirectionFree, InputsFollowTheSizeOfTheInput) {
  check_sizes(with({1, 20, 20, 8, 16, {1, 1, 1, 1}}, 3, 2, 1, 1), {20, 4, 11, 20},
              [this](const Image& c) {
                return computed(c, create(c).get(), 2, xnn_reshape_convolution2d_nhwc_f32);
              });
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
