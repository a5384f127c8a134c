// SPDX-License-Identifier: BSD-3-Clause
// 8-bit GEMMs on tiles, where there are some, beside their definition: sums are exact.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

#include "xnnpack/config.h"

namespace executorch::backends::xnnpack::testing {
namespace {

class Amx : public ByteConvolutionTest {
 protected:
  static bool has_tiles() {
#if XNN_ARCH_X86_64
    return xnn_init_hardware_config()->use_x86_avx512amx != 0;
#else
    return false;
#endif
  }

  static bool is_on_tiles(const Operator& op) {
    const bool is_gemm = op->ukernel.type == xnn_microkernel_type_gemm;
    return (is_gemm ? op->ukernel.gemm.nr : op->ukernel.igemm.nr) == 64;
  }
};

Image pixels(size_t inputs, size_t outputs, uint32_t kernel, uint32_t stride) {
  Image image{2, 9, 11, inputs, outputs, {0, 0, 0, 0}};
  image.padding = {kernel / 2, kernel / 2, kernel / 2, 0};
  image.kernel = kernel;
  image.stride = stride;
  image.gap = 5;
  return image;
}

TEST_F(Amx, ConvolutionsAreThoseOfTheDefinition) {
  Image line = pixels(70, 64, 1, 1), grouped = pixels(192, 256, 3, 1);
  Image rest = pixels(200, 70, 3, 1);  // one row is left for the last tile
  line.batch = line.height = line.width = 1;
  rest.height = rest.width = 7;
  rest.padding = {1, 1, 1, 1};
  grouped.groups = 2;
  const Image wide[] = {
      pixels(64, 64, 1, 1),
      pixels(64, 64, 3, 1),
      pixels(66, 65, 3, 2),
      pixels(100, 130, 1, 1),
      pixels(129, 80, 1, 2),
      pixels(300, 200, 3, 1),
      line,
      grouped,
      rest,
  };
  for (const Image& c : wide) {
    SCOPED_TRACE(::testing::PrintToString(c));
    draw_for(c);
    draw_bytes();
    const Operator op = create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w);
    EXPECT_EQ(is_on_tiles(op), has_tiles());
    const auto expected = expected_bytes(c);
    for (const size_t num_threads : {1, 3}) {
      EXPECT_EQ(computed_bytes(c, op.get(), num_threads), expected);
    }
  }
}

TEST_F(Amx, NarrowConvolutionsStayOnVectors) {
  for (const Image& c : {pixels(63, 64, 3, 1), pixels(64, 63, 1, 1)}) {
    draw_for(c);
    draw_bytes();
    EXPECT_FALSE(is_on_tiles(create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w)));
  }
}

TEST_F(Amx, DynamicLinearLayersAreThoseOfTheDefinition) {
  for (const size_t rows : {1, 2, 15, 16, 17, 37}) {
    SCOPED_TRACE(rows);
    const Image c = matrix(rows, 150, 90);
    draw_for(c);
    draw_bytes();
    xnn_operator_t made = nullptr;
    ASSERT_EQ(xnn_create_fully_connected_nc_qd8_f32_qc8w(
                  c.inputs, c.outputs, c.inputs, c.outputs, scales_.data(), byte_filters_.data(),
                  bias_.data(), c.min, c.max, 0, nullptr, nullptr, &made),
              xnn_status_success);
    const Operator op(made);
    EXPECT_EQ(is_on_tiles(op), has_tiles());
    const xnn_quantization_params of_row{-9, 0.01f};
    const std::vector<xnn_quantization_params> params(rows + 16, of_row);
    std::vector<float> output(rows * c.outputs);
    ASSERT_EQ(xnn_reshape_fully_connected_nc_qd8_f32_qc8w(op.get(), rows, nullptr),
              xnn_status_success);
    ASSERT_EQ(xnn_setup_fully_connected_nc_qd8_f32_qc8w(op.get(), byte_input_.data(), output.data(),
                                                        params.data()),
              xnn_status_success);
    ASSERT_EQ(xnn_run_operator(op.get(), nullptr), xnn_status_success);
    const auto sums = defined<int32_t>(
        c, byte_input_, int8_t{-9}, byte_filters_, std::vector<int32_t>(c.outputs), 0.0f,
        [&](int32_t sum, int32_t, size_t channel) {
          return std::fma(static_cast<float>(sum) * 0.01f, scales_[channel], bias_[channel]);
        });
    EXPECT_THAT(output, SumsAre(sums));
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
