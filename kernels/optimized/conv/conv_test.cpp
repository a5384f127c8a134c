// SPDX-License-Identifier: BSD-3-Clause
// Convolution, through the matrix multiply and direct, against seven loops.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/gemm/every_target.h>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

namespace {

using executorch::aten::BFloat16;
using executorch::kernels::optimized::bfloat16_conv;
using executorch::kernels::optimized::Conv;
using executorch::kernels::optimized::depthwise_nhwc_conv;
using executorch::kernels::optimized::direct_conv;
using executorch::kernels::optimized::has_bfloat16_conv;
using executorch::kernels::optimized::is_pointwise;
using executorch::kernels::optimized::on_every_target;
using executorch::kernels::optimized::pointwise_conv;
using executorch::kernels::optimized::transposed_conv;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

struct Case {
  int64_t batch, in_channels, out_channels, groups, height, width, kernel_h, kernel_w, stride, pad,
      dilation;
};

constexpr Case kCases[] = {
    {1, 3, 8, 1, 17, 19, 3, 3, 2, 1, 1},
    {2, 8, 12, 4, 9, 11, 3, 3, 2, 1, 2},
    {1, 20, 50, 1, 7, 7, 1, 1, 1, 0, 1},
    {1, 20, 50, 1, 7, 7, 1, 1, 2, 0, 1},
    {2, 4, 4, 1, 1, 40, 1, 5, 1, 2, 1},
    {1, 40, 24, 2, 14, 14, 3, 3, 1, 1, 1},
    {1, 2, 3, 1, 6, 120, 2, 7, 3, 3, 2},
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1},
    {2, 6, 6, 6, 10, 13, 3, 3, 2, 2, 2},
    {1, 5, 5, 5, 8, 70, 5, 5, 3, 2, 1},
    {1, 4, 4, 4, 3, 3, 3, 3, 2, 4, 1},
    {1, 33, 33, 33, 28, 28, 3, 3, 1, 1, 1},
    {1, 7, 7, 7, 200, 150, 3, 3, 2, 1, 1},
    {1, 3, 3, 3, 12, 150, 3, 3, 1, 0, 4},
    {1, 2, 2, 2, 5, 5, 1, 1, 1, 0, 1},
    {1, 300, 20, 1, 5, 6, 3, 3, 1, 1, 1},
    // Rows shifted and not, dilated beyond the image, several regions of rows and of columns.
    {1, 16, 70, 1, 14, 14, 3, 3, 1, 4, 4},
    {1, 3, 40, 1, 30, 31, 7, 7, 2, 3, 1},
    {1, 64, 9, 1, 40, 56, 3, 3, 1, 1, 1},
    {1, 200, 17, 1, 2, 600, 1, 3, 2, 1, 1},
    {1, 150, 3, 1, 4, 300, 3, 3, 1, 1, 1},
    {1, 3, 5, 1, 48, 48, 16, 16, 16, 0, 1},
    {1, 6, 12, 6, 9, 20, 3, 3, 1, 1, 1},
    {2, 1, 3, 1, 1, 90, 1, 9, 4, 4, 1},
    {1, 19, 19, 19, 16, 30, 7, 7, 1, 3, 1},
    {2, 5, 5, 5, 9, 30, 5, 5, 1, 2, 1},
    {1, 9, 9, 9, 7, 7, 7, 7, 1, 3, 1},
    {1, 4, 4, 1, 9, 40, 3, 3, 1, 20, 18},
    // Several bands of channels, of which rows of the filter are left out.
    {1, 150, 11, 1, 28, 28, 3, 3, 1, 4, 4},
    {2, 130, 20, 1, 20, 60, 3, 3, 2, 2, 1},
    {2, 24, 48, 3, 40, 30, 3, 3, 1, 2, 2},
    // Few positions behind whole vectors, or alone: channels that are no multiple of a tile's.
    {1, 40, 13, 1, 7, 7, 3, 3, 1, 1, 1},
    {1, 20, 9, 1, 14, 14, 3, 3, 1, 1, 1},
    {1, 150, 11, 1, 3, 3, 3, 3, 1, 0, 1},
    {2, 70, 6, 2, 4, 4, 3, 3, 1, 0, 1},
    {1, 9, 5, 1, 6, 6, 5, 5, 4, 2, 1},
};

// Small integers: sums are exact in any order.
void draw(std::vector<float>& values, int64_t count) {
  values.resize(static_cast<size_t>(count));
  uint32_t state = 12345;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>((state >> 24) % 9) - 4.0f;
  }
}

class ConvTest : public ::testing::TestWithParam<Case> {
 protected:
  void fill(bool channels_last, bool weight_channels_last) {
    const Case& p = GetParam();
    c_ = {};
    c_.batch = p.batch;
    c_.groups = p.groups;
    c_.in_channels = p.in_channels;
    c_.out_channels = p.out_channels;
    c_.in_d = c_.out_d = c_.kernel_d = c_.stride_d = c_.dilation_d = 1;
    c_.in_h = p.height;
    c_.in_w = p.width;
    c_.kernel_h = p.kernel_h;
    c_.kernel_w = p.kernel_w;
    c_.stride_h = c_.stride_w = p.stride;
    c_.pad_h = p.kernel_h == 1 ? 0 : p.pad;
    c_.pad_w = p.pad;
    c_.dilation_h = c_.dilation_w = p.dilation;
    c_.out_h = (p.height + 2 * c_.pad_h - p.dilation * (p.kernel_h - 1) - 1) / p.stride + 1;
    c_.out_w = (p.width + 2 * c_.pad_w - p.dilation * (p.kernel_w - 1) - 1) / p.stride + 1;
    c_.channels_last = channels_last;
    c_.weight_channels_last = weight_channels_last;
    draw(input_, p.batch * p.in_channels * p.height * p.width);
    draw(weight_, p.out_channels * p.in_channels / p.groups * p.kernel_h * p.kernel_w);
    draw(bias_, p.out_channels);
    output_.assign(static_cast<size_t>(p.batch * p.out_channels * c_.out_h * c_.out_w), NAN);
    c_.input = input_.data();
    c_.weight = weight_.data();
    c_.bias = bias_.data();
    c_.output = output_.data();
  }

  float input_at(int64_t n, int64_t channel, int64_t h, int64_t w) const {
    if (h < 0 || w < 0 || h >= c_.in_h || w >= c_.in_w) {
      return 0.0f;
    }
    const int64_t at = c_.channels_last
                           ? ((n * c_.in_h + h) * c_.in_w + w) * c_.in_channels + channel
                           : ((n * c_.in_channels + channel) * c_.in_h + h) * c_.in_w + w;
    return input_[static_cast<size_t>(at)];
  }

  float weight_at(int64_t o, int64_t i, int64_t kh, int64_t kw) const {
    const int64_t channels = c_.in_channels / c_.groups;
    const int64_t at = c_.weight_channels_last
                           ? ((o * c_.kernel_h + kh) * c_.kernel_w + kw) * channels + i
                           : ((o * channels + i) * c_.kernel_h + kh) * c_.kernel_w + kw;
    return weight_[static_cast<size_t>(at)];
  }

  float expected_at(int64_t n, int64_t o, int64_t oh, int64_t ow) const {
    const int64_t channels = c_.in_channels / c_.groups;
    const int64_t group = o / (c_.out_channels / c_.groups);
    float sum = c_.bias != nullptr ? bias_[static_cast<size_t>(o)] : 0.0f;
    for (int64_t i = 0; i < channels; ++i) {
      for (int64_t kh = 0; kh < c_.kernel_h; ++kh) {
        for (int64_t kw = 0; kw < c_.kernel_w; ++kw) {
          sum += weight_at(o, i, kh, kw) *
                 input_at(n, group * channels + i, oh * c_.stride_h - c_.pad_h + kh * c_.dilation_h,
                          ow * c_.stride_w - c_.pad_w + kw * c_.dilation_w);
        }
      }
    }
    return sum;
  }

  void expect_right() const {
    size_t at = 0;
    const int64_t planes = c_.out_h * c_.out_w;
    for (int64_t n = 0; n < c_.batch; ++n) {
      for (int64_t i = 0; i < c_.out_channels * planes; ++i, ++at) {
        const int64_t o = c_.channels_last ? i % c_.out_channels : i / planes;
        const int64_t position = c_.channels_last ? i / c_.out_channels : i % planes;
        const float sum = expected_at(n, o, position / c_.out_w, position % c_.out_w);
        ASSERT_EQ(output_[at], rounded_ ? static_cast<float>(BFloat16(sum)) : sum)
            << "image " << n << " channel " << o << " position " << position;
      }
    }
  }

  template <typename Kernel>
  void run(const Kernel& kernel, std::vector<bool> layouts = {false, true}) {
    for (bool channels_last : layouts) {
      for (bool with_bias : {false, true}) {
        SCOPED_TRACE(std::string(channels_last ? "NHWC" : "NCHW") + (with_bias ? ", bias" : ""));
        std::vector<uint8_t> memory(8 << 20, 0xff);
        MemoryAllocator allocator(8 << 20, memory.data());
        KernelRuntimeContext ctx(nullptr, &allocator);
        fill(channels_last, weight_order_);
        c_.bias = with_bias ? c_.bias : nullptr;
        ASSERT_EQ(kernel(ctx, c_), Error::Ok);
        expect_right();
      }
    }
  }

  Error in_bfloat16(KernelRuntimeContext& ctx, const Conv& c) {
    const std::vector<BFloat16> input(input_.begin(), input_.end());
    const std::vector<BFloat16> weight(weight_.begin(), weight_.end());
    std::vector<BFloat16> output(output_.size(), BFloat16(NAN));
    const Error error = bfloat16_conv(ctx, c,
                                      {reinterpret_cast<const uint16_t*>(input.data()),
                                       reinterpret_cast<const uint16_t*>(weight.data()),
                                       reinterpret_cast<uint16_t*>(output.data())});
    std::transform(output.begin(), output.end(), output_.begin(),
                   [](BFloat16 value) { return static_cast<float>(value); });
    return error;
  }

  bool weight_order_ = false;
  bool rounded_ = false;  // to bfloat16
  Conv c_ = {};
  std::vector<float> input_, weight_, bias_, output_;
};

TEST_P(ConvTest, Direct) {
  RecordProperty("req", "KS-003");
  run(direct_conv);
}

TEST_P(ConvTest, DirectWithWeightsChannelsLast) {
  weight_order_ = true;
  run(direct_conv);
}

// The operands are exact in bfloat16 and the sums in f32: all of the error is one rounding.
TEST_P(ConvTest, BFloat16) {
  rounded_ = true;
  on_every_target([&] {
    for (const bool order : {false, true}) {
      weight_order_ = order;
      fill(false, false);
      if (has_bfloat16_conv(c_)) {
        run([&](KernelRuntimeContext& ctx, const Conv& c) { return in_bfloat16(ctx, c); });
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvTest, ::testing::ValuesIn(kCases));

template <typename Predicate>
std::vector<Case> cases_where(const Predicate& predicate) {
  std::vector<Case> cases;
  std::copy_if(std::begin(kCases), std::end(kCases), std::back_inserter(cases), predicate);
  return cases;
}

class DepthwiseTest : public ConvTest {};

TEST_P(DepthwiseTest, AlongTheChannels) {
  run(depthwise_nhwc_conv, {true});
}

INSTANTIATE_TEST_SUITE_P(Cases, DepthwiseTest, ::testing::ValuesIn(cases_where([](const Case& c) {
                           return c.groups == c.in_channels && c.groups == c.out_channels;
                         })));

class PointwiseTest : public ConvTest {};

TEST_P(PointwiseTest, OnTheMatrixMultiply) {
  run(pointwise_conv);
  EXPECT_TRUE(is_pointwise(c_));
}

INSTANTIATE_TEST_SUITE_P(Cases, PointwiseTest, ::testing::ValuesIn(cases_where([](const Case& c) {
                           return c.kernel_h * c.kernel_w * c.stride == 1 && c.pad == 0;
                         })));

// Sizes of an axis: input, filter, stride, padding, dilation.
struct VolumeAxis {
  int64_t in, kernel, stride, pad, dilation;

  int64_t out() const { return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
};
struct VolumeCase {
  int64_t batch, groups, ins, outs;  // channels of a group
  VolumeAxis axis[3];
};

// Slices that share their input, by as many as the threads and the cache leave, or that see slices
// of padding; depthwise filters along an axis, and columns by twos.
constexpr VolumeCase kVolumeCases[] = {
    {1, 1, 3, 5, {{9, 3, 1, 1, 1}, {10, 3, 1, 1, 1}, {40, 3, 1, 1, 1}}},
    {1, 6, 1, 1, {{11, 5, 2, 2, 1}, {13, 1, 1, 0, 1}, {14, 1, 1, 0, 1}}},
    {1, 7, 1, 1, {{13, 3, 1, 1, 1}, {18, 3, 2, 1, 1}, {17, 3, 2, 1, 1}}},
    {1, 1, 40, 9, {{6, 3, 1, 1, 1}, {30, 1, 1, 0, 1}, {31, 1, 1, 0, 1}}},
    {1, 1, 40, 24, {{2, 3, 1, 1, 1}, {14, 3, 1, 1, 1}, {14, 3, 1, 1, 1}}},
    {1, 1, 16, 64, {{1, 3, 1, 1, 1}, {9, 3, 1, 1, 1}, {9, 3, 1, 1, 1}}},
    {1, 2, 3, 40, {{3, 7, 1, 3, 1}, {8, 3, 1, 1, 1}, {21, 3, 1, 1, 1}}},
    {1, 1, 30, 70, {{4, 5, 2, 2, 1}, {10, 1, 1, 0, 1}, {9, 1, 1, 0, 1}}},
    {2, 5, 1, 1, {{8, 5, 1, 2, 1}, {11, 1, 1, 0, 1}, {33, 1, 1, 0, 1}}},
    {2, 3, 1, 1, {{7, 7, 1, 3, 1}, {9, 3, 1, 0, 2}, {20, 3, 1, 2, 2}}},
    {1, 9, 1, 1, {{6, 3, 1, 2, 1}, {7, 3, 2, 1, 1}, {7, 3, 2, 1, 1}}},
    {1, 4, 1, 1, {{5, 3, 1, 0, 1}, {16, 3, 2, 0, 1}, {66, 5, 2, 3, 1}}},
    {1, 3, 1, 1, {{8, 3, 1, 1, 2}, {9, 3, 1, 1, 1}, {12, 3, 2, 2, 2}}},
    {1, 2, 1, 1, {{9, 3, 1, 1, 1}, {90, 3, 2, 1, 1}, {301, 3, 2, 1, 1}}},
    {1, 2, 1, 3, {{4, 3, 1, 1, 1}, {12, 3, 2, 1, 1}, {37, 2, 2, 1, 1}}},
    {1, 3, 1, 1, {{1, 1, 1, 0, 1}, {14, 5, 1, 2, 1}, {47, 4, 1, 1, 1}}},
    {1, 1, 5, 9, {{5, 2, 1, 0, 1}, {11, 4, 2, 3, 1}, {29, 4, 2, 3, 1}}},
    // Few positions of slices that see padding, or not; long rows by twos.
    {1, 1, 13, 21, {{4, 3, 2, 1, 1}, {13, 3, 2, 1, 1}, {14, 3, 2, 1, 1}}},
    {1, 1, 20, 7, {{5, 3, 1, 1, 1}, {5, 3, 1, 0, 1}, {3, 3, 1, 0, 1}}},
    {2, 2, 9, 6, {{7, 5, 2, 2, 1}, {7, 3, 1, 1, 1}, {7, 3, 1, 1, 1}}},
    {1, 1, 3, 6, {{5, 7, 1, 3, 1}, {6, 7, 2, 3, 1}, {6, 7, 2, 3, 1}}},
    {1, 1, 4, 8, {{4, 3, 1, 1, 1}, {12, 3, 2, 1, 1}, {75, 7, 2, 3, 1}}},
};

// The sizes of a case: of batch, groups, channels, and of each axis.
template <typename Case>
Conv conv_of(const Case& p) {
  const auto& [d, h, w] = p.axis;
  Conv c = {};
  c.batch = p.batch;
  c.groups = p.groups;
  c.in_channels = p.groups * p.ins;
  c.out_channels = p.groups * p.outs;
  std::tie(c.in_d, c.in_h, c.in_w) = std::tie(d.in, h.in, w.in);
  std::tie(c.kernel_d, c.kernel_h, c.kernel_w) = std::tie(d.kernel, h.kernel, w.kernel);
  std::tie(c.stride_d, c.stride_h, c.stride_w) = std::tie(d.stride, h.stride, w.stride);
  std::tie(c.pad_d, c.pad_h, c.pad_w) = std::tie(d.pad, h.pad, w.pad);
  std::tie(c.dilation_d, c.dilation_h, c.dilation_w) = std::tie(d.dilation, h.dilation, w.dilation);
  c.out_d = d.out();
  c.out_h = h.out();
  c.out_w = w.out();
  return c;
}

class VolumeTest : public ::testing::TestWithParam<VolumeCase> {
 protected:
  VolumeTest() {
    const VolumeCase& p = GetParam();
    const auto& [d, h, w] = p.axis;
    c_ = conv_of(p);
    draw(input_, p.batch * c_.in_channels * d.in * h.in * w.in);
    draw(weight_, c_.out_channels * p.ins * d.kernel * h.kernel * w.kernel);
    draw(bias_, c_.out_channels);
  }

  float expected_at(int64_t i) const {
    const int64_t channels = c_.in_channels / c_.groups;
    const int64_t plane = c_.kernel_h * c_.kernel_w, taps = c_.kernel_d * plane;
    const int64_t x = i % c_.out_w, y = i / c_.out_w % c_.out_h;
    const int64_t z = i / (c_.out_w * c_.out_h) % c_.out_d;
    const int64_t o = i / (c_.out_w * c_.out_h * c_.out_d);  // of all images
    const int64_t image = o / c_.out_channels, out_channel = o % c_.out_channels;
    const int64_t group = out_channel / (c_.out_channels / c_.groups);
    float sum = bias_[static_cast<size_t>(out_channel)];
    for (int64_t j = 0; j < channels * taps; ++j) {
      const int64_t channel = image * c_.in_channels + group * channels + j / taps;
      const int64_t w = x * c_.stride_w - c_.pad_w + j % c_.kernel_w * c_.dilation_w;
      const int64_t h = y * c_.stride_h - c_.pad_h + j / c_.kernel_w % c_.kernel_h * c_.dilation_h;
      const int64_t d = z * c_.stride_d - c_.pad_d + j % taps / plane * c_.dilation_d;
      if (w >= 0 && w < c_.in_w && h >= 0 && h < c_.in_h && d >= 0 && d < c_.in_d) {
        sum += weight_[static_cast<size_t>(out_channel * channels * taps + j)] *
               input_[static_cast<size_t>(((channel * c_.in_d + d) * c_.in_h + h) * c_.in_w + w)];
      }
    }
    return sum;
  }

  std::vector<float> convolved() {
    std::vector<float> output(
        static_cast<size_t>(c_.batch * c_.out_channels * c_.out_d * c_.out_h * c_.out_w), -1.0f);
    c_.input = input_.data();
    c_.weight = weight_.data();
    c_.bias = bias_.data();
    c_.output = output.data();
    std::vector<uint8_t> memory(8 << 20, 0xff);
    MemoryAllocator allocator(8 << 20, memory.data());
    KernelRuntimeContext ctx(nullptr, &allocator);
    EXPECT_EQ(direct_conv(ctx, c_), Error::Ok);
    return output;
  }

  Conv c_ = {};
  std::vector<float> input_, weight_, bias_;
};

TEST_P(VolumeTest, IsTheSumOfItsTaps) {
  std::vector<float> expected;
  const size_t count = convolved().size();
  for (size_t i = 0; i < count; ++i) {
    expected.push_back(expected_at(static_cast<int64_t>(i)));
  }
  on_every_target([&] { EXPECT_EQ(convolved(), expected); });
}

// An infinity is read by some outputs and not by others, and makes a NaN of those where a weight
// is 0 or where two meet.
TEST_P(VolumeTest, HandsOnInfinities) {
  for (size_t i = 0; i < input_.size(); i += 97) {
    input_[i] = i % 2 == 0 ? INFINITY : -INFINITY;
  }
  const std::vector<float> output = convolved();
  for (size_t i = 0; i < output.size(); ++i) {
    const float expected = expected_at(static_cast<int64_t>(i));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(output[i])) << "output " << i;
    } else {
      ASSERT_EQ(output[i], expected) << "output " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, VolumeTest, ::testing::ValuesIn(kVolumeCases));

// Sizes of an axis: input, filter, stride, padding, dilation, output padding.
struct TransposedAxis {
  int64_t in, kernel, stride, pad, dilation, more;

  int64_t out() const { return (in - 1) * stride - 2 * pad + dilation * (kernel - 1) + 1 + more; }
};
struct TransposedCase {
  int64_t batch, groups, ins, outs;  // channels of a group
  TransposedAxis axis[3];
};

constexpr TransposedAxis kNone = {1, 1, 1, 0, 1, 0};
constexpr TransposedCase kTransposedCases[] = {
    {1, 1, 3, 4, {kNone, {9, 4, 2, 1, 1, 0}, {40, 4, 2, 1, 1, 0}}},  // phases of equal taps
    {2, 2, 3, 2, {kNone, {7, 3, 2, 1, 1, 1}, {19, 3, 2, 1, 1, 1}}},  // and of unequal ones
    {1, 1, 4, 3, {kNone, kNone, {40, 16, 8, 4, 1, 0}}},              // many phases in one part
    {1, 4, 1, 1, {kNone, kNone, {13, 10, 4, 5, 1, 3}}},              // cropped
    {1, 1, 5, 3, {{4, 3, 2, 1, 1, 1}, {6, 3, 2, 1, 1, 0}, {9, 2, 2, 0, 1, 0}}},
    {2, 1, 4, 5, {kNone, {9, 3, 1, 1, 2, 0}, {8, 2, 1, 3, 1, 0}}},                // of stride 1
    {1, 1, 40, 3, {{2, 3, 2, 1, 1, 1}, {3, 2, 1, 1, 2, 0}, {3, 3, 3, 1, 1, 0}}},  // sums of taps
    {2, 2, 5, 3, {kNone, {3, 3, 2, 0, 2, 1}, {30, 1, 3, 0, 1, 2}}},               // dilated; gaps
};

class TransposedTest : public ::testing::TestWithParam<TransposedCase> {
 protected:
  // By what each input adds to the outputs.
  static std::vector<float> expected(const Conv& c) {
    const int64_t plane = c.out_d * c.out_h * c.out_w, ins = c.in_channels / c.groups;
    const int64_t outs = c.out_channels / c.groups, taps = c.kernel_d * c.kernel_h * c.kernel_w;
    std::vector<float> out(static_cast<size_t>(c.batch * c.out_channels * plane));
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = c.bias[static_cast<int64_t>(i) / plane % c.out_channels];
    }
    const float* value = c.input;
    for (int64_t i = 0; i < c.batch * c.in_channels * c.in_d * c.in_h * c.in_w; ++i, ++value) {
      const int64_t w = i % c.in_w, h = i / c.in_w % c.in_h, d = i / (c.in_w * c.in_h) % c.in_d;
      const int64_t channel = i / (c.in_w * c.in_h * c.in_d);  // of all images
      const int64_t group = channel / ins;
      for (int64_t j = 0; j < outs * taps; ++j) {
        const int64_t tap = j % taps, kw = tap % c.kernel_w, kh = tap / c.kernel_w % c.kernel_h;
        const int64_t kd = tap / (c.kernel_w * c.kernel_h);
        const int64_t x = w * c.stride_w - c.pad_w + kw * c.dilation_w;
        const int64_t y = h * c.stride_h - c.pad_h + kh * c.dilation_h;
        const int64_t z = d * c.stride_d - c.pad_d + kd * c.dilation_d;
        if (x >= 0 && x < c.out_w && y >= 0 && y < c.out_h && z >= 0 && z < c.out_d) {
          const int64_t at =
              (((group * outs + j / taps) * c.out_d + z) * c.out_h + y) * c.out_w + x;
          out[static_cast<size_t>(at)] +=
              *value * c.weight[(channel % c.in_channels * outs + j / taps) * taps + tap];
        }
      }
    }
    return out;
  }
};

TEST_P(TransposedTest, AddsWhatEachInputAdds) {
  const TransposedCase& p = GetParam();
  const auto& [d, h, w] = p.axis;
  Conv c = conv_of(p);
  std::vector<float> input, weight, bias;
  draw(input, p.batch * c.in_channels * d.in * h.in * w.in);
  draw(weight, c.in_channels * p.outs * d.kernel * h.kernel * w.kernel);
  draw(bias, c.out_channels);
  std::vector<float> output(static_cast<size_t>(p.batch * c.out_channels * c.out_d * c.out_h) *
                                static_cast<size_t>(c.out_w),
                            NAN);
  c.input = input.data();
  c.weight = weight.data();
  c.bias = bias.data();
  c.output = output.data();
  std::vector<uint8_t> memory(8 << 20, 0xff);
  MemoryAllocator allocator(8 << 20, memory.data());
  KernelRuntimeContext ctx(nullptr, &allocator);
  ASSERT_EQ(transposed_conv(ctx, c), Error::Ok);
  EXPECT_EQ(output, expected(c));
}

INSTANTIATE_TEST_SUITE_P(Cases, TransposedTest, ::testing::ValuesIn(kTransposedCases));

}  // namespace
