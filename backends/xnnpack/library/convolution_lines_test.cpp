// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of images by lines beside XNNPACK's by taps: the same numbers, as each output adds
// the same products in the same order.
#include <executorch/backends/xnnpack/library/convolution_lines.h>
#include <executorch/backends/xnnpack/library/convolution_test.h>

extern "C" {
decltype(xnn_create_convolution2d_nhwc_f32) xnn_create_convolution2d_nhwc_f32_any;
decltype(xnn_create_convolution2d_nhwc_qs8_qc8w) xnn_create_convolution2d_nhwc_qs8_qc8w_any;
}

namespace executorch::backends::xnnpack::testing {
namespace {

constexpr bool kHasLines = XNN_MAX_UARCH_TYPES == 1;

struct Case {
  Image image;
  bool in_lines;
};

class ConvolutionLines : public ConvolutionTest {
 protected:
  /// By a scale for each filter; bytes from floats that were drawn.
  Operator create_bytes(const Image& c, decltype(xnn_create_convolution2d_nhwc_qs8_qc8w)* by) {
    xnn_operator_t op = nullptr;
    EXPECT_EQ(
        by(c.padding.top, c.padding.right, c.padding.bottom, c.padding.left, c.kernel, c.kernel,
           c.stride, c.stride, c.dilation, c.dilation, c.groups, c.inputs, c.outputs,
           c.input_stride(), c.output_stride(), -5, 0.1f, scales_.data(), byte_filters_.data(),
           byte_bias_.data(), 3, 0.7f, -100, 120, 0, nullptr, nullptr, &op),
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

  void draw_bytes() {
    const auto bytes = [](const std::vector<float>& values) {
      std::vector<int8_t> found(values.size() + XNN_EXTRA_BYTES);
      std::transform(values.begin(), values.end(), found.begin(),
                     [](float value) { return static_cast<int8_t>(value * 30); });
      return found;
    };
    byte_input_ = bytes(input_);
    byte_filters_ = bytes(filters_);
    byte_bias_.assign(bias_.begin(), bias_.end());
    scales_ = bias_;
    std::transform(scales_.begin(), scales_.end(), scales_.begin(),
                   [](float value) { return std::abs(value) / 100 + 1e-3f; });
  }

  std::vector<int8_t> byte_input_, byte_filters_;
  std::vector<int32_t> byte_bias_;
  std::vector<float> scales_;
};

TEST_F(ConvolutionLines, AreThoseOfTheTaps) {
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
  wide.padding = {0, 3, 0, 0};
  const Case cases[] = {{image, true},  {pair, true},    {tall, true},
                        {narrow, true}, {spread, false}, {deep, false},
                        {gaps, false},  {bare, false},   {wide, false}};
  for (const auto& [c, in_lines] : cases) {
    SCOPED_TRACE(::testing::PrintToString(c));
    draw_for(c);
    draw_bytes();
    const Operator op = create(c),
                   byte_op = create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w);
    EXPECT_EQ(is_in_lines(op.get()), in_lines && kHasLines);
    EXPECT_EQ(is_in_lines(byte_op.get()), in_lines && kHasLines);
    const auto taps = computed(c, create(c, xnn_create_convolution2d_nhwc_f32_any).get(), 1);
    const auto byte_taps =
        computed_bytes(c, create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w_any).get(), 1);
    for (const size_t num_threads : {1, 3}) {
      EXPECT_EQ(computed(c, op.get(), num_threads), taps);
      EXPECT_EQ(computed_bytes(c, byte_op.get(), num_threads), byte_taps);
    }
  }
}

TEST_F(ConvolutionLines, FollowTheSizeOfTheImage) {
  Image image{1, 20, 20, 3, 16, {1, 1, 1, 1}};
  image.stride = 2;
  check_sizes(image, {20, 3, 11, 20}, [this](const Image& c) {
    return computed(c, create(c, xnn_create_convolution2d_nhwc_f32_any).get(), 2);
  });
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
