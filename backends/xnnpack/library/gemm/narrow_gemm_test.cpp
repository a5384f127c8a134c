// SPDX-License-Identifier: BSD-3-Clause
// GEMMs and convolutions of few columns beside sums in double.
#include <executorch/backends/xnnpack/library/convolution/convolution_test.h>
#include <executorch/backends/xnnpack/library/gemm/float_gemm.h>

#include "xnnpack/hardware-config.h"

namespace executorch::backends::xnnpack::testing {
namespace {

class NarrowGemm : public ConvolutionTest {
 protected:
  void SetUp() override {
    ConvolutionTest::SetUp();
    if (!xnn_init_hardware_config()->use_x86_avx512skx) {
      GTEST_SKIP() << "its kernels are for AVX-512";
    }
  }
};

TEST_F(NarrowGemm, MultipliesMatricesOfAllSmallSizes) {
  for (const size_t rows : {1, 5, 6, 7, 13}) {
    for (const size_t inputs : {1, 15, 16, 17, 33, 130}) {
      for (const size_t outputs : {1, 2, 3, 4, 5, 8, 11, 31}) {
        Image c = matrix(rows, inputs, outputs);
        c.gap = 2;
        c.min = -2;
        draw_for(c);
        const Operator op = create_linear(c);
        EXPECT_EQ(op->ukernel.gemm.nr, narrow::kColumns);
        ASSERT_THAT(computed_linear(c, op.get(), 2), SumsAre(expected(c)))
            << rows << " x " << inputs << " to " << outputs;
      }
    }
  }
}

TEST_F(NarrowGemm, ReadsNothingBeyondARow) {
  const Image c = matrix(1, 19, 3);
  draw_for(c);
  input_.push_back(std::nanf(""));
  EXPECT_THAT(computed_linear(c, create_linear(c).get(), 1), SumsAre(expected(c)));
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
    const Operator op = create(c);
    EXPECT_EQ(c.kernel == 1 ? op->ukernel.gemm.nr : op->ukernel.igemm.nr, narrow::kColumns);
    EXPECT_THAT(computed(c, op.get(), 3), SumsAre(expected(c)));
  }
}

TEST_F(NarrowGemm, LeavesConvolutionsOfFewProducts) {
  const Image c{1, 9, 11, 5, 5, {1, 1, 1, 1}};
  draw_for(c);
  EXPECT_NE(create(c)->ukernel.igemm.nr, narrow::kColumns);
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
