// SPDX-License-Identifier: BSD-3-Clause
// The listings of the document "Managing Tensor Memory in C++", in its order: each compiles as
// printed and does what it says.
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::aten;
using namespace executorch::extension;
using executorch::runtime::Error;
using executorch::runtime::EValue;

namespace {

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), tensor.const_data_ptr<T>() + tensor.numel()};
}

std::vector<int> sizes_of(const Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end()};
}

// Stands for Module::forward() of the document: what it receives.
std::vector<Tensor> forward(const std::vector<EValue>& values) {
  std::vector<Tensor> tensors;
  for (const EValue& value : values) {
    tensors.push_back(value.toTensor());
  }
  return tensors;
}

class TensorListings : public testing::Test {
 protected:
  void SetUp() override { executorch::runtime::runtime_init(); }
};

TEST_F(TensorListings, PlainTensor) {
  SizesType sizes[] = {2, 3};
  DimOrderType dim_order[] = {0, 1};
  StridesType strides[] = {3, 1};
  float data[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
  TensorImpl tensor_impl(ScalarType::Float, std::size(sizes), sizes, data, dim_order, strides);
  EXPECT_EQ(forward({Tensor(&tensor_impl)})[0].const_data_ptr(), data);
}

TEST_F(TensorListings, TensorPtrOwnsItsData) {
  RecordProperty("req", "EXT-010");
  auto tensor = make_tensor_ptr({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  EXPECT_EQ(tensor->scalar_type(), ScalarType::Float);
  EXPECT_EQ(sizes_of(*tensor), (std::vector<int>{2, 3}));
  EXPECT_EQ(forward({tensor})[0].const_data_ptr(), tensor->const_data_ptr());
}

TEST_F(TensorListings, ScalarTensors) {
  RecordProperty("req", "EXT-011");
  auto tensor = make_tensor_ptr(3.14);
  EXPECT_EQ(tensor->scalar_type(), ScalarType::Double);
  EXPECT_EQ(tensor->dim(), 0);
  EXPECT_EQ(elements<double>(*tensor), (std::vector<double>{3.14}));
  auto typed = make_tensor_ptr(42, ScalarType::Float);
  EXPECT_EQ(elements<float>(*typed), (std::vector<float>{42}));
}

TEST_F(TensorListings, DataWithAType) {
  auto tensor = make_tensor_ptr({1, 2, 3, 4, 5, 6}, ScalarType::Double);
  EXPECT_EQ(sizes_of(*tensor), (std::vector<int>{6}));
  EXPECT_EQ(elements<double>(*tensor), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_F(TensorListings, RawBytes) {
  std::vector<uint8_t> data(24);
  data[4] = 7;
  auto tensor = make_tensor_ptr({2, 3}, std::move(data), ScalarType::Int);
  EXPECT_EQ(elements<int32_t>(*tensor), (std::vector<int32_t>{0, 7, 0, 0, 0, 0}));
}

TEST_F(TensorListings, RawPointer) {
  float data[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
  auto tensor = make_tensor_ptr({2, 3}, data, ScalarType::Float);
  EXPECT_EQ(tensor->const_data_ptr(), data);
}

TEST_F(TensorListings, RawPointerWithDeleter) {
  static int deleted = 0;
  auto* data = new double[6]{1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  auto tensor = make_tensor_ptr({2, 3}, data, ScalarType::Double,
                                TensorShapeDynamism::DYNAMIC_BOUND, [](void* ptr) {
                                  delete[] static_cast<double*>(ptr);
                                  deleted += 1;
                                });
  auto other = tensor;
  tensor.reset();
  EXPECT_EQ(deleted, 0);
  other.reset();
  EXPECT_EQ(deleted, 1);
}

TEST_F(TensorListings, SharingAndViewing) {
  auto tensor = make_tensor_ptr({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  auto tensor_copy = tensor;
  EXPECT_EQ(tensor_copy.get(), tensor.get());
  Tensor original_tensor = *tensor;
  auto view = make_tensor_ptr(original_tensor);
  view->mutable_data_ptr<float>()[0] = 9;
  EXPECT_EQ(tensor->const_data_ptr<float>()[0], 9);
  auto reshaped = make_tensor_ptr(tensor, {3, 2});
  tensor.reset();
  tensor_copy.reset();
  EXPECT_EQ(sizes_of(*reshaped), (std::vector<int>{3, 2}));
  EXPECT_EQ(reshaped->const_data_ptr<float>()[5], 6);  // keeps the viewed tensor
}

TEST_F(TensorListings, Cloning) {
  RecordProperty("req", "EXT-013");
  auto original_tensor = make_tensor_ptr({2, 2}, {1, 2, 3, 4});
  auto tensor = clone_tensor_ptr(original_tensor);
  auto from_tensor = clone_tensor_ptr(*original_tensor);
  tensor->mutable_data_ptr<int32_t>()[0] = 9;
  EXPECT_EQ(elements<int32_t>(*original_tensor), (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(elements<int32_t>(*from_tensor), (std::vector<int32_t>{1, 2, 3, 4}));
}

TEST_F(TensorListings, Resizing) {
  RecordProperty("req", "EXT-012");
  auto tensor = make_tensor_ptr({2, 3}, {1, 2, 3, 4, 5, 6}, ScalarType::Int,
                                TensorShapeDynamism::DYNAMIC_BOUND);
  for (const std::vector<SizesType>& sizes :
       std::vector<std::vector<SizesType>>{{2, 2}, {1, 3}, {3, 2}, {6, 1}}) {
    EXPECT_EQ(resize_tensor_ptr(tensor, sizes), Error::Ok);
    EXPECT_EQ(sizes_of(*tensor), sizes);
  }
  EXPECT_NE(resize_tensor_ptr(tensor, {7, 1}), Error::Ok);
  EXPECT_NE(resize_tensor_ptr(tensor, {6}), Error::Ok);
  auto fixed = make_tensor_ptr({2}, {1, 2}, ScalarType::Int, TensorShapeDynamism::STATIC);
  EXPECT_NE(resize_tensor_ptr(fixed, {1}), Error::Ok);
}

TEST_F(TensorListings, Blobs) {
  RecordProperty("req", "EXT-014");
  float data[] = {1.0f, 2.0f, 3.0f};
  auto tensor = from_blob(data, {3}, ScalarType::Float);
  EXPECT_EQ(tensor->const_data_ptr(), data);
  double doubles[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  auto fluent = for_blob(doubles, {2, 3}, ScalarType::Double)
                    .strides({3, 1})
                    .dynamism(TensorShapeDynamism::STATIC)
                    .make_tensor_ptr();
  EXPECT_EQ(fluent->shape_dynamism(), TensorShapeDynamism::STATIC);
  int* owned = new int[3]{1, 2, 3};
  auto deleting =
      from_blob(owned, {3}, ScalarType::Int, [](void* ptr) { delete[] static_cast<int*>(ptr); });
  EXPECT_EQ(elements<int32_t>(*deleting), (std::vector<int32_t>{1, 2, 3}));
}

TEST_F(TensorListings, EmptyAndFilled) {
  RecordProperty("req", "EXT-015");
  EXPECT_EQ(empty({2, 3})->numel(), 6);
  TensorPtr original_tensor =
      make_tensor_ptr({2, 2}, {int64_t(1), int64_t(2), int64_t(3), int64_t(4)});
  EXPECT_EQ(empty_like(original_tensor)->scalar_type(), ScalarType::Long);
  auto strided = empty_strided({2, 3}, {1, 2});
  EXPECT_EQ(strided->dim_order()[0], 1);
  EXPECT_EQ(elements<float>(*full({2, 3}, 42.0f)), std::vector<float>(6, 42));
  EXPECT_EQ(elements<float>(*zeros({2, 3})), std::vector<float>(6, 0));
  EXPECT_EQ(elements<float>(*ones({3, 4})), std::vector<float>(12, 1));
  EXPECT_EQ(elements<int64_t>(*full_like(original_tensor, 7)), std::vector<int64_t>(4, 7));
  EXPECT_EQ(elements<int64_t>(*ones_like(original_tensor)), std::vector<int64_t>(4, 1));
  EXPECT_EQ(elements<int64_t>(*zeros_like(original_tensor)), std::vector<int64_t>(4, 0));
  EXPECT_EQ(full_strided({2, 2}, {1, 2}, 1)->dim_order()[0], 1);
  EXPECT_EQ(elements<float>(*scalar_tensor(3.14f)), (std::vector<float>{3.14f}));
}

TEST_F(TensorListings, Random) {
  for (ScalarType type : {ScalarType::Float, ScalarType::Double}) {
    auto tensor_rand = rand({100, 10}, type);
    auto as_double = clone_tensor_ptr(tensor_rand, ScalarType::Double);
    for (double number : elements<double>(*as_double)) {
      EXPECT_TRUE(number >= 0 && number < 1) << number;
    }
  }
  for (ScalarType type : {ScalarType::Half, ScalarType::BFloat16}) {
    auto as_double = clone_tensor_ptr(rand({1000}, type), ScalarType::Double);
    for (double number : elements<double>(*as_double)) {
      EXPECT_TRUE(number >= 0 && number < 1) << number;
    }
  }
  double sum = 0;
  double squares = 0;
  for (float number : elements<float>(*randn({100, 100}))) {
    sum += number;
    squares += static_cast<double>(number) * number;
  }
  EXPECT_NEAR(sum / 10000, 0, 0.1);
  EXPECT_NEAR(squares / 10000, 1, 0.1);
  bool seen[10] = {};
  for (int32_t number : elements<int32_t>(*randint(0, 10, {100, 10}))) {
    ASSERT_TRUE(number >= 0 && number < 10);
    seen[number] = true;
  }
  for (bool number : seen) {
    EXPECT_TRUE(number);
  }
}

TEST_F(TensorListings, ValuesForModule) {
  TensorPtr tensor = make_tensor_ptr({1.0f});
  TensorPtr tensor2 = make_tensor_ptr({2.0f});
  EXPECT_EQ(forward({tensor, tensor2})[1].const_data_ptr(), tensor2->const_data_ptr());
}

}  // namespace
