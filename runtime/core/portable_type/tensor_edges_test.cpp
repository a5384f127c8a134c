// SPDX-License-Identifier: BSD-3-Clause
// Portable tensors at their limits: without data, dim order or strides, and as text.
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::testing::TensorFactory;

namespace {

template <typename T>
std::string text(const T& value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

TEST(PortableTensorTest, SizesAndStrides) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor t = tf.ones({2, 3});
  EXPECT_DEATH((void)t.size(2), "");
  EXPECT_DEATH((void)t.size(-1), "");
  // Strides count for dimensions of size 1, too.
  int32_t row_sizes[] = {1, 3};
  uint8_t row_order[] = {0, 1};
  int32_t row_strides[] = {7, 1};
  TensorImpl row(ScalarType::Float, 2, row_sizes, nullptr, row_order, row_strides);
  EXPECT_FALSE(tensor_is_contiguous(Tensor(&row)));
  row_strides[0] = 3;
  EXPECT_TRUE(tensor_is_contiguous(Tensor(&row)));
  // Without strides a dynamic tensor still takes other sizes.
  int32_t sizes[] = {2, 3};
  float data[6] = {};
  TensorImpl plain(ScalarType::Float, 2, sizes, data, nullptr, nullptr,
                   TensorShapeDynamism::DYNAMIC_BOUND);
  const int32_t smaller[] = {2, 2};
  EXPECT_EQ(resize_tensor(Tensor(&plain), {smaller, 2}), Error::Ok);
  EXPECT_EQ(plain.numel(), 4);
  const int32_t larger[] = {3, 3};
  EXPECT_EQ(resize_tensor(Tensor(&plain), {larger, 2}), Error::NotSupported);
}

TEST(PortableTensorTest, FactoriesKeepTheDynamism) {
  TensorFactory<ScalarType::Int> ti;
  EXPECT_EQ(ti.zeros({2}).shape_dynamism(), TensorShapeDynamism::STATIC);
  EXPECT_EQ(ti.zeros({2}, TensorShapeDynamism::DYNAMIC_BOUND).shape_dynamism(),
            TensorShapeDynamism::DYNAMIC_BOUND);
}

TEST(PortableTensorTest, QuantizedTypesHaveNoSign) {
  EXPECT_DEATH((void)isSignedType(ScalarType::QInt8), "");
}

TEST(PortableTensorTest, Prints) {
  TensorFactory<ScalarType::Byte> tb;
  TensorFactory<ScalarType::Half> th;
  EXPECT_EQ(text(tb.make({2, 2}, {1, 2, 3, 255})),
            "ETensor(sizes={2, 2}, dtype=Byte, data={1, 2, 3, 255})");
  EXPECT_EQ(text(th.make({1}, {0.5f})), "ETensor(sizes={1}, dtype=Half, data={0.5})");
  int32_t size = 1;
  executorch::aten::complex<float> number(1.5f, -2.0f);
  TensorImpl complex(ScalarType::ComplexFloat, 1, &size, &number);
  EXPECT_EQ(text(Tensor(&complex)), "ETensor(sizes={1}, dtype=ComplexFloat, data={1.5 + -2j})");
  uint16_t bits = 0;
  TensorImpl opaque(ScalarType::Bits16, 1, &size, &bits);
  EXPECT_DEATH((void)text(Tensor(&opaque)), "");
  EXPECT_EQ(text(static_cast<ScalarType>(77)), "Unknown(77)");
  EXPECT_EQ(text(ScalarType::Float), "Float");
}

TEST(PortableTensorTest, DataMustBeThereToBeCompared) {
  TensorFactory<ScalarType::Float> tf;
  TensorImpl::SizesType size = 1;
  TensorImpl absent(ScalarType::Float, 1, &size);
  EXPECT_DEATH(EXPECT_TENSOR_DATA_EQ(Tensor(&absent), tf.ones({1})), "no data");
  size = 0;
  TensorImpl empty(ScalarType::Float, 1, &size);
  EXPECT_TENSOR_DATA_EQ(Tensor(&empty), tf.make({0}, {}));
}

}  // namespace
