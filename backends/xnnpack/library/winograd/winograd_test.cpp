// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of 3 x 3 pixels beside their definition in double precision.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/image_size.h>

#include "xnnpack/config.h"

namespace executorch::backends::xnnpack::testing {
namespace {

class Winograd : public ConvolutionTest {
 protected:
  void check(const Image& c, const std::vector<float>& output) const {
    struct Expected {
      double value, terms;
    };
    const auto all = defined<double>(
        c, input_, 0.0f, filters_, bias_, Expected{kUntouched, 0},
        [&](double sum, double terms, size_t) {
          return Expected{std::min<double>(std::max<double>(sum, c.min), c.max), terms};
        });
    for (size_t i = 0; i < all.size(); ++i) {
      // Far below what one wrong pixel would make, far above a float's 6e-8 of each step.
      ASSERT_NEAR(output[i], all[i].value, 2e-6 * all[i].terms) << "element " << i;
    }
  }
};

bool has_avx512() {
#if defined(__x86_64__) || defined(_M_X64)
  return xnn_init_hardware_config()->use_x86_avx512skx;
#else
  return false;
#endif
}

bool is_winograd(const Operator& op) {
  return op->ukernel.type == xnn_microkernel_type_default;
}

TEST_F(Winograd, IsTheConvolution) {
  const Image all[] = {
      {1, 1, 1, 32, 32, {1, 1, 1, 1}},  {1, 2, 3, 32, 48, {1, 1, 1, 1}},
      {1, 3, 3, 32, 32, {0, 0, 0, 0}},  {1, 4, 4, 48, 32, {1, 1, 1, 1}},
      {2, 5, 7, 64, 80, {0, 2, 1, 1}},  {3, 4, 5, 32, 32, {2, 0, 2, 3}},
      {1, 9, 6, 32, 512, {1, 1, 1, 1}}, {1, 14, 14, 128, 128, {1, 1, 1, 1}},
  };
  for (Image c : all) {
    for (const bool has_bias : {false, true}) {
      c.has_bias = has_bias;
      SCOPED_TRACE(::testing::PrintToString(c));
      draw_for(c);
      const Operator op = create(c);
      EXPECT_EQ(is_winograd(op), has_avx512());
      const auto output = computed(c, op.get(), 1);
      check(c, output);
      EXPECT_EQ(computed(c, op.get(), 3), output);
    }
  }
}

/// Of images large enough that the filters' memory pays; cut along tiles, outputs, or both.
TEST_F(Winograd, TakesLargeFiltersOfLargeImages) {
  const Image all[] = {
      {1, 14, 14, 256, 272, {1, 1, 1, 1}},
      {1, 15, 13, 144, 528, {1, 1, 0, 1}},
      {2, 17, 30, 160, 128, {1, 1, 1, 1}},
  };
  for (Image c : all) {
    SCOPED_TRACE(::testing::PrintToString(c));
    draw_for(c);
    EXPECT_FALSE(is_winograd(create(c)));  // of unknown size
    c.flags = xnn_flags_of_positions(c.batch * c.height * c.width);
    const Operator op = create(c);
    EXPECT_EQ(is_winograd(op), has_avx512());
    const auto output = computed(c, op.get(), 1);
    check(c, output);
    for (const size_t threads : {2, 3, 8}) {
      EXPECT_EQ(computed(c, op.get(), threads), output) << threads << " threads";
    }
  }
}

TEST(ImageSize, GoesAlongRoundedDown) {
  EXPECT_EQ(xnn_positions_of_flags(0), 0u);
  for (const size_t pixels : {1, 2, 3, 4, 6, 8, 64, 96, 1 << 20}) {
    EXPECT_EQ(xnn_positions_of_flags(xnn_flags_of_positions(pixels)), pixels);
  }
  for (size_t pixels = 1; pixels < 5000; ++pixels) {
    const uint32_t flags = xnn_flags_of_positions(pixels);
    EXPECT_EQ(flags & ~XNN_FLAG_POSITIONS_MASK, 0u);
    EXPECT_LE(xnn_positions_of_flags(flags), pixels);
    EXPECT_GE(xnn_positions_of_flags(flags) * 3 + 3, pixels * 2) << pixels;
  }
}

TEST_F(Winograd, ClampsAndLeavesWhatLiesBetweenPixels) {
  Image c{1, 6, 5, 32, 32, {1, 1, 1, 1}};
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
  Image c{1, 12, 12, 32, 32, {1, 1, 1, 1}};
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
  const Image c{1, 4, 4, 32, 32, {0, 0, 0, 0}, true, 0, 6};
  draw_for(c);
  input_[0] = std::nanf("");
  const Operator op = create(c);
  if (is_winograd(op)) {  // XNNPACK's kernels without vectors clamp it
    EXPECT_TRUE(std::isnan(computed(c, op.get(), 1)[0]));
  }
}

TEST_F(Winograd, LeavesOtherConvolutionsToXnnpack) {
  const Image plain{1, 8, 8, 64, 64, {1, 1, 1, 1}};
  Image others[] = {plain, plain, plain, plain, plain, plain, plain};
  others[0].stride = 2;
  others[1].dilation = 2;
  others[2].groups = 2;
  others[3].inputs = 24;
  others[4].outputs = 40;
  others[5].inputs = others[5].outputs = 256;  // 4 MiB once transformed
  others[6].inputs = others[6].outputs = 512;
  others[6].flags = xnn_flags_of_positions(49);  // which save too little of so few pixels
  for (const Image& c : others) {
    draw_for(c);
    EXPECT_FALSE(is_winograd(create(c))) << ::testing::PrintToString(c);
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
