// SPDX-License-Identifier: BSD-3-Clause
// 8-bit GEMMs on tiles beside those on vectors: the same numbers, as sums are exact. Where
// there are no tiles, both are on vectors.
#include <executorch/backends/xnnpack/library/amx.h>
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>

#include "xnnpack/config.h"

extern "C" decltype(xnn_create_convolution2d_nhwc_qs8_qc8w)
    xnn_create_convolution2d_nhwc_qs8_qc8w_any;

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

  /// Not by the function that looks at the size of a convolution.
  Operator create_on_vectors(const Image& c) {
    const GemmSize narrow(1, 1);
    return create_bytes(c, xnn_create_convolution2d_nhwc_qs8_qc8w_any);
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

TEST_F(Amx, ConvolutionsAreThoseOfVectors) {
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
    const Operator on_vectors = create_on_vectors(c);
    EXPECT_EQ(is_on_tiles(op), has_tiles());
    EXPECT_FALSE(is_on_tiles(on_vectors));
    const auto expected = computed_bytes(c, on_vectors.get(), 1);
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

TEST_F(Amx, DynamicLinearLayersAreThoseOfVectors) {
  constexpr size_t inputs = 150, outputs = 90, max_rows = 37;
  draw_for(
      {1, 1, max_rows, inputs, outputs, {0, 0, 0, 0}, true, -kInfinity, kInfinity, 1, 1, 1, 1});
  draw_bytes();
  const auto create_linear = [&] {
    xnn_operator_t op = nullptr;
    EXPECT_EQ(xnn_create_fully_connected_nc_qd8_f32_qc8w(
                  inputs, outputs, inputs, outputs, scales_.data(), byte_filters_.data(),
                  bias_.data(), -kInfinity, kInfinity, 0, nullptr, nullptr, &op),
              xnn_status_success);
    return Operator(op);
  };
  const auto computed_linear = [&](xnn_operator_t op, size_t rows) {
    std::vector<xnn_quantization_params> params(rows + 16);
    for (size_t row = 0; row < rows; ++row) {
      params[row] = {static_cast<int32_t>(row) - 9, 0.01f * static_cast<float>(row + 1)};
    }
    std::fill(params.begin() + static_cast<ptrdiff_t>(rows), params.end(), params[rows - 1]);
    std::vector<float> output(rows * outputs, kUntouched);
    EXPECT_EQ(xnn_reshape_fully_connected_nc_qd8_f32_qc8w(op, rows, nullptr), xnn_status_success);
    EXPECT_EQ(xnn_setup_fully_connected_nc_qd8_f32_qc8w(op, byte_input_.data(), output.data(),
                                                        params.data()),
              xnn_status_success);
    EXPECT_EQ(xnn_run_operator(op, nullptr), xnn_status_success);
    return output;
  };
  const Operator op = create_linear();
  EXPECT_EQ(is_on_tiles(op), has_tiles());
  const GemmSize narrow(1, 1);
  const Operator on_vectors = create_linear();
  EXPECT_FALSE(is_on_tiles(on_vectors));
  for (const size_t rows : {1, 2, 15, 16, 17, 37}) {
    SCOPED_TRACE(rows);
    EXPECT_EQ(computed_linear(op.get(), rows), computed_linear(on_vectors.get(), rows));
  }
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
