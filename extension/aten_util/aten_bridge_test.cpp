// SPDX-License-Identifier: BSD-3-Clause
// Tensors of the runtime and of PyTorch on the same memory, there and back.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>

#include <executorch/extension/aten_util/aten_bridge.h>
#include <executorch/extension/tensor/tensor.h>

#include <gtest/gtest.h>

using namespace executorch::extension;
using executorch::aten::ScalarType;

namespace {

TEST(AtenBridgeTest, TypesComeBack) {
  RecordProperty("req", "RT-020");
  for (int i = 0; i < static_cast<int>(ScalarType::NumOptions); ++i) {
    const auto type = static_cast<ScalarType>(i);
    if (type != ScalarType::Undefined) {
      const auto there = c10::scalarTypeToTypeMeta(executorch_to_torch_scalar_type(type));
      EXPECT_EQ(torch_to_executorch_scalar_type(there), type) << i;
    }
  }
  EXPECT_EQ(executorch_to_torch_scalar_type(ScalarType::BFloat16), c10::ScalarType::BFloat16);
}

TEST(AtenBridgeTest, AnyOrderOfDimensionsComesBack) {
  RecordProperty("req", "RT-020");
  at::Tensor dense = at::arange(24, at::kFloat).reshape({1, 2, 3, 4});
  at::Tensor channels_last = dense.contiguous(at::MemoryFormat::ChannelsLast);
  at::Tensor turned = dense.permute({3, 0, 2, 1});
  at::Tensor number = at::ones({});
  for (at::Tensor* tensor : {&dense, &channels_last, &turned, &number}) {
    const TensorPtr there = alias_tensor_ptr_to_attensor(*tensor);
    EXPECT_EQ(there->const_data_ptr(), tensor->const_data_ptr());
    const at::Tensor back = alias_attensor_to_etensor(*there);
    EXPECT_EQ(back.const_data_ptr(), tensor->const_data_ptr());
    EXPECT_EQ(back.scalar_type(), tensor->scalar_type());
    EXPECT_TRUE(at::equal(back, *tensor));
  }
}

TEST(AtenBridgeTest, WhatOneSideWritesTheOtherReads) {
  const TensorPtr ours = make_tensor_ptr({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f});
  at::Tensor theirs = alias_attensor_to_etensor(*ours);
  theirs.mul_(10);
  EXPECT_EQ(ours->const_data_ptr<float>()[3], 40);
  at::Tensor other = at::ones({2, 2});
  alias_etensor_to_attensor(other, *ours);
  ours->mutable_data_ptr<float>()[1] = 7;
  EXPECT_EQ(other[0][1].item<float>(), 7);
}

TEST(AtenBridgeTest, TheMemoryLivesAsLongAsTheTensorPtr) {
  at::Tensor theirs = at::ones({3});
  TensorPtr ours = alias_tensor_ptr_to_attensor(theirs);
  EXPECT_EQ(theirs.use_count(), 2u);
  const void* memory = theirs.const_data_ptr();
  theirs = at::Tensor();
  EXPECT_EQ(ours->const_data_ptr(), memory);
  EXPECT_EQ(ours->const_data_ptr<float>()[2], 1);
}

TEST(AtenBridgeDeathTest, WhatDoesNotFitIsRefused) {
  const TensorPtr ours = make_tensor_ptr({2, 3}, std::vector<float>(6));
  at::Tensor doubles = at::ones({2, 3}, at::kDouble);
  EXPECT_DEATH(alias_etensor_to_attensor(doubles, *ours), "expected a tensor of dtype 6, found 7");
  at::Tensor flat = at::ones({6});
  EXPECT_DEATH(alias_etensor_to_attensor(flat, *ours), "expected a tensor of 2 dims, found 1");
  at::Tensor turned = at::ones({3, 2}).t();
  EXPECT_DEATH(alias_etensor_to_attensor(turned, *ours),
               "dimension 0: expected size 2 and stride 3");
  at::Tensor holes = at::ones({4, 4}).slice(1, 0, 2);
  EXPECT_DEATH((void)alias_tensor_ptr_to_attensor(holes), "without holes");
}

}  // namespace
