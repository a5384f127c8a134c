// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of groups of few channels beside their definition in double precision.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/convolution/grouped.h>
#include <executorch/backends/xnnpack/library/convolution/own_operator.h>

#include "xnnpack/hardware-config.h"

#include <utility>

namespace executorch::backends::xnnpack::testing {
namespace {

class Grouped : public ConvolutionTest {};

Image image_of(size_t width, size_t groups, size_t height = 9, size_t columns = 7) {
  Image c{1, height, columns, width * groups, width * groups, {1, 1, 1, 1}};
  c.groups = static_cast<uint32_t>(groups);
  return c;
}

bool is_ours(const Operator& op) {
  return own_convolution_of(*op) == &kGroupedConvolution;
}

size_t widest() {
#if defined(__x86_64__) || defined(_M_X64)
  const xnn_hardware_config& hardware = *xnn_init_hardware_config();
  return hardware.use_x86_avx512skx ? 16 : hardware.use_x86_avx2 && hardware.use_x86_fma3 ? 8 : 4;
#else
  return 4;
#endif
}

TEST_F(Grouped, IsTheConvolution) {
  std::vector<Image> all;
  for (const size_t width : {2, 4, 8, 16}) {
    for (const size_t groups : {2, 3, 5, 8, 16}) {
      all.push_back(image_of(width, groups));
    }
    Image strided = image_of(width, 4, 15, 11), dilated = image_of(width, 4, 15, 11);
    strided.stride = 2;
    strided.batch = 3;
    dilated.dilation = 3;
    dilated.padding = {3, 0, 2, 4};
    Image bounded = image_of(width, 3, 1, 40), point = image_of(width, 6);
    bounded.min = -1;
    bounded.max = 2;
    bounded.gap = 5;
    point.kernel = 1;
    point.padding = {0, 0, 0, 0};
    point.has_bias = false;
    all.insert(all.end(), {strided, dilated, bounded, point});
    for (const size_t outputs : {2, 4}) {
      Image more = image_of(1, width + 3);
      more.outputs *= outputs;
      more.stride = static_cast<uint32_t>(outputs / 2);
      all.push_back(more);
    }
  }
  Image large = image_of(2, 6);
  large.kernel = 11;
  large.padding = {5, 5, 5, 5};
  all.push_back(large);
  for (const Image& c : all) {
    SCOPED_TRACE(::testing::PrintToString(c));
    draw_for(c);
    const Operator op = create(c);
    EXPECT_EQ(is_ours(op), c.outputs / c.groups <= widest());
    const auto output = computed(c, op.get(), 1);
    EXPECT_THAT(output, SumsAre(expected(c)));
    EXPECT_EQ(computed(c, op.get(), 3), output);
  }
}

/// As XNNPACK has them of depthwise convolutions: weights [height, width, channels].
TEST_F(Grouped, TakesFiltersTapByTap) {
  Image c = image_of(1, 7);
  c.outputs *= 2;
  draw_for(c);
  const auto sums = expected(c), by_channel = filters_;
  for (size_t i = 0; i < filters_.size(); ++i) {
    filters_[i % 9 * c.outputs + i / 9] = by_channel[i];
  }
  c.flags = XNN_FLAG_DEPTHWISE_CONVOLUTION;
  const Operator op = create(c);
  EXPECT_TRUE(is_ours(op));
  EXPECT_THAT(computed(c, op.get(), 2), SumsAre(sums));
}

TEST_F(Grouped, FollowsTheSizeOfTheImage) {
  check_sizes(image_of(4, 8), {20, 1, 31, 20});
}

TEST_F(Grouped, KeepsNan) {
  Image c = image_of(2, 8);
  c.min = 0;
  c.max = 6;
  draw_for(c);
  input_[0] = std::nanf("");
  EXPECT_TRUE(std::isnan(computed(c, create(c).get(), 1)[0]));
}

TEST_F(Grouped, LeavesOtherConvolutionsToXnnpack) {
  Image unlike = image_of(4, 4), odd = image_of(3, 4), wide = image_of(32, 2), one = image_of(4, 1);
  unlike.outputs *= 2;
  Image huge = image_of(4, 4, 12, 12);
  huge.kernel = 12;
  for (const Image& c : {unlike, odd, wide, one, huge}) {
    draw_for(c);
    EXPECT_FALSE(is_ours(create(c))) << ::testing::PrintToString(c);
  }
}

/// Of all instruction sets that this processor has, not the best alone.
TEST_F(Grouped, HasOneResultOnAllInstructionSets) {
  struct Set {
    bool is_there;
    GroupedKernels kernels;
  };
  std::vector<Set> sets{{true, kGroupedAny}};
#if defined(__x86_64__) || defined(_M_X64)
  sets.push_back({widest() >= 8, kGroupedAvx2});
  sets.push_back({widest() >= 16, kGroupedAvx512});
#endif
  const std::pair<size_t, size_t> groups[] = {{1, 2}, {1, 4}, {2, 2}, {4, 4}, {8, 8}, {16, 16}};
  for (const auto& [width, outputs] : groups) {
    const size_t channels = outputs * 3, taps = 5, positions = 23, block = 16 * (1 + taps * width);
    const auto weights = draw((channels + 15) / 16 * block),
               input = draw(taps * positions * 3 * width);
    std::vector<const float*> inputs;
    for (size_t i = 0; i < taps * positions; ++i) {
      inputs.push_back(input.data() + i * 3 * width);
    }
    std::vector<std::vector<float>> found;
    for (const Set& set : sets) {
      if (set.is_there && set.kernels.of(width, outputs) != nullptr) {
        found.emplace_back(positions * channels);
        set.kernels.of(width, outputs)({inputs.data(), taps, positions, channels, weights.data(),
                                        found.back().data(), channels, -kInfinity, kInfinity});
        EXPECT_THAT(found.back(), SumsAre(found.front())) << width << " channels a group";
      }
    }
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
