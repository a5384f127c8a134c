// SPDX-License-Identifier: BSD-3-Clause
// GEMMs, convolutions and transposed convolutions of few columns beside sums in double.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/narrow/narrow_gemm.h>

#include "xnnpack/hardware-config.h"

extern "C" decltype(xnn_create_convolution2d_nhwc_f32) xnn_create_convolution2d_nhwc_f32_any;

namespace executorch::backends::xnnpack::testing {
namespace {

class NarrowGemm : public ConvolutionTest {
 protected:
  void SetUp() override {
    ConvolutionTest::SetUp();
    if (!xnn_init_hardware_config()->use_x86_avx512f) {
      GTEST_SKIP() << "its kernels are for AVX-512";
    }
  }

  /// [rows, inputs] with [outputs, inputs].
  std::vector<double> product(size_t rows, size_t inputs, size_t outputs) const {
    std::vector<double> sums(rows * outputs);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = bias_[i % outputs];
      for (size_t k = 0; k < inputs; ++k) {
        sums[i] += double{input_[i / outputs * inputs + k]} * filters_[i % outputs * inputs + k];
      }
    }
    return sums;
  }
};

TEST_F(NarrowGemm, MultipliesMatricesOfAllSmallSizes) {
  for (const size_t rows : {1, 5, 6, 7, 13}) {
    for (const size_t inputs : {1, 15, 16, 17, 33, 130}) {
      for (const size_t outputs : {1, 2, 3, 4, 5, 8, 11, 31}) {
        input_ = draw(rows * inputs);
        filters_ = draw(outputs * inputs);
        bias_ = draw(outputs);
        xnn_operator_t made = nullptr;
        ASSERT_EQ(xnn_create_fully_connected_nc_f32(inputs, outputs, inputs, outputs + 2,
                                                    filters_.data(), bias_.data(), -2, kInfinity, 0,
                                                    nullptr, nullptr, &made),
                  xnn_status_success);
        const Operator op(made);
        EXPECT_EQ(op->ukernel.gemm.nr, narrow::kColumns);
        const Pool pool(pthreadpool_create(2));
        ASSERT_EQ(xnn_reshape_fully_connected_nc_f32(op.get(), rows, pool.get()),
                  xnn_status_success);
        std::vector<float> output(rows * (outputs + 2), kUntouched);
        ASSERT_EQ(xnn_setup_fully_connected_nc_f32(op.get(), input_.data(), output.data()),
                  xnn_status_success);
        ASSERT_EQ(xnn_run_operator(op.get(), pool.get()), xnn_status_success);
        const std::vector<double> expected = product(rows, inputs, outputs);
        for (size_t i = 0; i < output.size(); ++i) {
          const size_t column = i % (outputs + 2);
          const double wanted = column < outputs
                                    ? std::max(-2.0, expected[i / (outputs + 2) * outputs + column])
                                    : double{kUntouched};
          ASSERT_NEAR(output[i], wanted, 1e-4)
              << rows << " x " << inputs << " to " << outputs << ", element " << i;
        }
      }
    }
  }
}

TEST_F(NarrowGemm, ReadsNothingBeyondARow) {
  const size_t inputs = 19, outputs = 3;
  input_ = draw(inputs);
  input_.push_back(std::nanf(""));
  filters_ = draw(outputs * inputs);
  bias_ = draw(outputs);
  const auto expected = product(1, inputs, outputs);
  xnn_operator_t made = nullptr;
  ASSERT_EQ(xnn_create_fully_connected_nc_f32(inputs, outputs, inputs, outputs, filters_.data(),
                                              bias_.data(), -kInfinity, kInfinity, 0, nullptr,
                                              nullptr, &made),
            xnn_status_success);
  const Operator op(made);
  ASSERT_EQ(xnn_reshape_fully_connected_nc_f32(op.get(), 1, nullptr), xnn_status_success);
  std::vector<float> output(outputs);
  ASSERT_EQ(xnn_setup_fully_connected_nc_f32(op.get(), input_.data(), output.data()),
            xnn_status_success);
  ASSERT_EQ(xnn_run_operator(op.get(), nullptr), xnn_status_success);
  for (size_t i = 0; i < outputs; ++i) {
    EXPECT_NEAR(output[i], expected[i], 1e-4);
  }
}

TEST_F(NarrowGemm, ServesConvolutionsOfManyProductsAndFewOutputs) {
  for (const Image& c : {
           Image{1, 9, 11, 64, 1, {1, 1, 1, 1}},
           Image{2, 8, 8, 20, 3, {2, 1, 0, 1}, false, -1, 1},
           Image{1, 12, 7, 33, 5, {1, 1, 1, 1}, true, -kInfinity, kInfinity, 2},
           Image{1, 10, 10, 64, 6, {2, 2, 2, 2}, true, 0, kInfinity, 1, 1, 2, 5},
           Image{1, 6, 6, 128, 2, {0, 0, 0, 0}, true, -kInfinity, kInfinity, 1, 1, 1, 1, 3},
       }) {
    SCOPED_TRACE(::testing::PrintToString(c));
    draw_for(c);
    const Operator ours = create(c);
    narrow::Size none(1, 1, 1);
    ASSERT_FALSE(narrow::suits(1, 1, 1));
    const Operator theirs = create(c, xnn_create_convolution2d_nhwc_f32_any);
    EXPECT_THAT(computed(c, ours.get(), 3), SumsAre(computed(c, theirs.get(), 3)));
  }
}

TEST_F(NarrowGemm, ChoosesBySize) {
  EXPECT_TRUE(narrow::suits(64, 9, 1));
  EXPECT_TRUE(narrow::suits(64, 9, 8));
  EXPECT_TRUE(narrow::suits(1024, 1, 12));
  EXPECT_FALSE(narrow::suits(1024, 1, 16));
  EXPECT_FALSE(narrow::suits(8, 1, 4));
  EXPECT_FALSE(narrow::suits(5, 9, 5));
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
