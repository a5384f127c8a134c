// SPDX-License-Identifier: BSD-3-Clause
// What a TensorPtr keeps of a portable tensor and a PyTorch tensor does not have: its dynamism, a
// data pointer that moves.
#include <gtest/gtest.h>

#include <executorch/extension/tensor/tensor.h>

using namespace executorch::aten;
using namespace executorch::extension;

namespace {

TEST(PortableTensorPtrs, DynamismAndLayoutThatAreNotGiven) {
  EXPECT_EQ(make_tensor_ptr({1.0f, 2.0f})->shape_dynamism(), TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(make_tensor_ptr(3.5)->shape_dynamism(), TensorShapeDynamism::STATIC);
  EXPECT_EQ(scalar_tensor(1)->shape_dynamism(), TensorShapeDynamism::STATIC);
  float data[6];
  auto fixed = make_tensor_ptr({2, 3}, data, ScalarType::Float, TensorShapeDynamism::STATIC);
  EXPECT_EQ(make_tensor_ptr(fixed, {3, 2})->shape_dynamism(), TensorShapeDynamism::STATIC);
}

TEST(PortableTensorPtrs, DeletersGetTheDataOfTheEnd) {
  float first[2];
  float second[2];
  void* deleted = nullptr;
  auto tensor = make_tensor_ptr({2}, first, ScalarType::Float, TensorShapeDynamism::DYNAMIC_BOUND,
                                [&deleted](void* data) { deleted = data; });
  tensor->unsafeGetTensorImpl()->set_data(second);
  tensor.reset();
  EXPECT_EQ(deleted, second);
  auto owned = empty({1000});
  owned->unsafeGetTensorImpl()->set_data(nullptr);  // its memory is freed all the same
}

}  // namespace
