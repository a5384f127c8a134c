// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the quantized library called as functions, without a context.
#include <executorch/kernels/quantized/NativeFunctions.h>

#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::testing::TensorFactory;
namespace native = torch::executor::native;

class WithoutContextTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { executorch::runtime::runtime_init(); }

  TensorFactory<ScalarType::Float> floats;
  TensorFactory<ScalarType::Double> doubles;
  TensorFactory<ScalarType::Long> longs;
  TensorFactory<ScalarType::Byte> bytes;
};

// q = round(x / scale) + zero_point, x = (q - zero_point) * scale.
TEST_F(WithoutContextTest, Quantizes) {
  const Tensor x = floats.make({2, 2}, {0, 1, 2, 4});
  const Tensor q = bytes.make({2, 2}, {3, 5, 7, 11});
  Tensor stored = bytes.zeros({2, 2});
  EXPECT_EQ(&native::quantize_per_tensor_out(x, 0.5, 3, 0, 255, ScalarType::Byte, stored), &stored);
  EXPECT_TENSOR_EQ(stored, q);
  Tensor back = floats.zeros({2, 2});
  native::dequantize_per_tensor_out(q, 0.5, 3, 0, 255, ScalarType::Byte, std::nullopt, back);
  EXPECT_TENSOR_EQ(back, x);
  const Tensor scales = doubles.make({2}, {0.5, 2}), zeros = longs.make({2}, {3, 0});
  native::quantize_per_channel_out(x, scales, zeros, 0, 0, 255, ScalarType::Byte, stored);
  EXPECT_TENSOR_EQ(stored, bytes.make({2, 2}, {3, 5, 1, 2}));
  native::dequantize_per_channel_out(stored, scales, zeros, 0, 0, 255, ScalarType::Byte,
                                     std::nullopt, back);
  EXPECT_TENSOR_EQ(back, x);
}

TEST_F(WithoutContextTest, ChoosesParametersAddsAndLooksUp) {
  Tensor scale = doubles.zeros({1}), zero_point = longs.zeros({1});
  native::choose_qparams_tensor_out(floats.make({2}, {0, 25.5}), 0, 255, 0.0, ScalarType::Byte,
                                    scale, zero_point);
  EXPECT_NEAR(scale.const_data_ptr<double>()[0], 0.1, 1e-6);
  EXPECT_EQ(zero_point.const_data_ptr<int64_t>()[0], 0);
  // 2 * 3 + 1 * 5, in steps of one.
  Tensor sum = bytes.zeros({1});
  native::quantized_add_out(bytes.make({1}, {3}), 2.0, 0, 0, 255, bytes.make({1}, {5}), 1.0, 0, 0,
                            255, 1.0, 0, 0, 255, sum);
  EXPECT_TENSOR_EQ(sum, bytes.make({1}, {11}));
  Tensor rows = floats.zeros({1, 2});
  native::quantized_embedding_byte_out(bytes.make({2, 2}, {1, 2, 3, 4}), floats.make({2}, {1, 10}),
                                       std::nullopt, 0, 255, longs.make({1}, {1}), rows);
  EXPECT_TENSOR_EQ(rows, floats.make({1, 2}, {30, 40}));
}

TEST_F(WithoutContextTest, EndsTheProgramWhereAKernelRefuses) {
  Tensor wrong = floats.zeros({1});
  EXPECT_DEATH(
      native::quantize_per_tensor_out(floats.ones({1}), 0.5, 0, 0, 255, ScalarType::Byte, wrong),
      "");
}

}  // namespace
