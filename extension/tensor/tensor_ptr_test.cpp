// SPDX-License-Identifier: BSD-3-Clause
// TensorPtr: layouts, conversions between all types, misuse; accessors.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::aten;
using namespace executorch::extension;
using executorch::runtime::Error;

namespace {

class TensorPtrs : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};
using TensorPtrsDeathTest = TensorPtrs;

template <typename List>
std::vector<int> ints(const List& list) {
  return {list.begin(), list.end()};
}

TEST_F(TensorPtrs, StridesAndDimOrderFollowEachOther) {
  float data[24];
  auto channels_last = make_tensor_ptr({2, 3, 2, 2}, data, {0, 2, 3, 1}, {}, ScalarType::Float);
  EXPECT_EQ(ints(channels_last->strides()), (std::vector<int>{12, 1, 6, 3}));
  auto from_strides = make_tensor_ptr({2, 3, 2, 2}, data, {}, {12, 1, 6, 3}, ScalarType::Float);
  EXPECT_EQ(ints(from_strides->dim_order()), (std::vector<int>{0, 2, 3, 1}));
  auto contiguous = make_tensor_ptr({2, 3, 2, 2}, data);
  EXPECT_EQ(ints(contiguous->strides()), (std::vector<int>{12, 4, 2, 1}));
  // Dimensions of size 1 may have any stride.
  EXPECT_EQ(make_tensor_ptr({1, 4}, data, {}, {100, 1}, ScalarType::Float)->numel(), 4);
}

TEST_F(TensorPtrs, ViewsKeepTheLayout) {
  float data[24];
  auto tensor = make_tensor_ptr({2, 3, 2, 2}, data, {0, 2, 3, 1}, {}, ScalarType::Float);
  EXPECT_EQ(ints(make_tensor_ptr(*tensor)->dim_order()), (std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(ints(make_tensor_ptr(*tensor, {6, 4})->strides()), (std::vector<int>{4, 1}));
  auto clone = clone_tensor_ptr(tensor);
  EXPECT_EQ(ints(clone->strides()), ints(tensor->strides()));
}

TEST_F(TensorPtrs, EmptyTensors) {
  EXPECT_EQ(make_tensor_ptr(std::vector<float>{})->numel(), 0);
  EXPECT_EQ(zeros({0, 3})->numel(), 0);
  EXPECT_EQ(clone_tensor_ptr(zeros({0, 3}))->numel(), 0);
  EXPECT_EQ(clone_tensor_ptr(make_tensor_ptr({2}, static_cast<void*>(nullptr)))->const_data_ptr(),
            nullptr);
}

TEST_F(TensorPtrs, EveryAllowedCastKeepsTheValue) {
  const ScalarType types[] = {ScalarType::Byte,     ScalarType::Char,   ScalarType::Short,
                              ScalarType::Int,      ScalarType::Long,   ScalarType::UInt16,
                              ScalarType::UInt32,   ScalarType::UInt64, ScalarType::Half,
                              ScalarType::BFloat16, ScalarType::Float,  ScalarType::Double};
  for (ScalarType from : types) {
    auto source = full({300}, 5, from);
    for (ScalarType to : types) {
      const bool to_integer =
          executorch::runtime::isFloatingType(from) && !executorch::runtime::isFloatingType(to);
      if (!to_integer) {
        auto back = clone_tensor_ptr(clone_tensor_ptr(source, to), ScalarType::Double);
        EXPECT_EQ(back->const_data_ptr<double>()[299], 5) << static_cast<int>(to);
      }
    }
  }
  auto bools = make_tensor_ptr({true, false, true});
  EXPECT_EQ(bools->scalar_type(), ScalarType::Bool);
  EXPECT_EQ(clone_tensor_ptr(bools, ScalarType::Int)->const_data_ptr<int32_t>()[2], 1);
}

TEST_F(TensorPtrsDeathTest, CastsThatLoseAreRefused) {
  RecordProperty("req", "EXT-011");
  EXPECT_DEATH(make_tensor_ptr({1.5f}, ScalarType::Int), "cannot become");
  EXPECT_DEATH(make_tensor_ptr({1.5}, ScalarType::Byte), "cannot become");
  EXPECT_DEATH(make_tensor_ptr({1}, ScalarType::Bool), "cannot become");
  EXPECT_DEATH(make_tensor_ptr(1.5f, ScalarType::Bool), "cannot become");
}

TEST_F(TensorPtrsDeathTest, DataThatDoesNotFitIsRefused) {
  EXPECT_DEATH(make_tensor_ptr({2, 3}, {1.0f, 2.0f}), "Expected 6 elements");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, std::vector<uint8_t>(23), ScalarType::Int),
               "Expected 24 bytes");
  float data[6];
  EXPECT_DEATH(make_tensor_ptr({2, 3}, data, {}, {1, 1}, ScalarType::Float), "stride");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, data, {0, 0}, {}, ScalarType::Float), "order");
  EXPECT_DEATH(make_tensor_ptr({-1}, data), "negative");
  EXPECT_DEATH(make_tensor_ptr(*make_tensor_ptr({2, 3}, data), {7}), "at most 6 elements");
}

TEST_F(TensorPtrs, Accessors) {
  auto tensor = make_tensor_ptr({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  auto accessor = make_tensor_accessor<float, 2>(*tensor);
  ASSERT_TRUE(accessor.ok());
  EXPECT_EQ(accessor.get()[1][2], 6);
  accessor.get()[0][1] = 9;
  EXPECT_EQ(tensor->const_data_ptr<float>()[1], 9);
  auto read_only = make_tensor_accessor<const float, 2>(*tensor);
  EXPECT_EQ(read_only.get()[0][1], 9);
  EXPECT_EQ((make_tensor_accessor<float, 1>(*tensor).error()), Error::InvalidArgument);
  EXPECT_EQ((make_tensor_accessor<int32_t, 2>(*tensor).error()), Error::InvalidArgument);
}

TEST_F(TensorPtrs, CopiesToTheCpuAreClones) {
  auto tensor = make_tensor_ptr({1.0f, 2.0f});
  auto copy = clone_tensor_ptr_to(tensor, Device(DeviceType::CPU));
  ASSERT_NE(copy, nullptr);
  EXPECT_NE(copy->const_data_ptr(), tensor->const_data_ptr());
  EXPECT_EQ(copy->const_data_ptr<float>()[1], 2);
  EXPECT_EQ(clone_tensor_ptr_to(tensor, Device(DeviceType::CUDA)), nullptr);
}

}  // namespace
