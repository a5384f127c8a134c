// SPDX-License-Identifier: BSD-3-Clause
// Tensor and TensorImpl: construction, accessors, and resizing within and beyond what is allowed.
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/portable_type/scalar.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using executorch::aten::ArrayRef;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::Error;
using executorch::runtime::resize_tensor;

namespace {

struct Shaped {
  std::vector<SizesType> sizes;
  std::vector<uint8_t> dim_order;
  std::vector<int32_t> strides;
  std::vector<float> data;
  TensorImpl impl;

  Shaped(std::vector<SizesType> s, std::vector<uint8_t> order, std::vector<int32_t> st,
         TensorShapeDynamism dynamism)
      : sizes(std::move(s)),
        dim_order(std::move(order)),
        strides(std::move(st)),
        data(1000),
        impl(ScalarType::Float, static_cast<ssize_t>(sizes.size()), sizes.data(), data.data(),
             dim_order.data(), strides.data(), dynamism) {}
};

TEST(TensorTest, AccessorsAndOwnership) {
  RecordProperty("req", "RT-017");
  static_assert(std::is_same_v<Tensor::SizesType, int32_t>);
  static_assert(std::is_same_v<Tensor::StridesType, int32_t>);
  static_assert(std::is_same_v<Tensor::DimOrderType, uint8_t>);
  static_assert(std::is_same_v<decltype(std::declval<Tensor>().dim()), ssize_t>);
  static_assert(std::is_trivially_copyable_v<Tensor> && sizeof(Tensor) == sizeof(void*));
  Shaped shaped({2, 3}, {0, 1}, {3, 1}, TensorShapeDynamism::STATIC);
  const Tensor t(&shaped.impl);
  EXPECT_EQ(t.dim(), 2);
  EXPECT_EQ(t.size(1), 3);
  EXPECT_EQ(t.numel(), 6);
  EXPECT_EQ(t.nbytes(), 24u);
  EXPECT_EQ(t.element_size(), 4);
  EXPECT_EQ(t.scalar_type(), ScalarType::Float);
  EXPECT_EQ(t.sizes().data(), shaped.sizes.data());
  EXPECT_EQ(t.dim_order().data(), shaped.dim_order.data());
  EXPECT_EQ(t.strides().data(), shaped.strides.data());
  EXPECT_EQ(t.const_data_ptr<float>(), shaped.data.data());
  EXPECT_EQ(t.mutable_data_ptr(), shaped.data.data());
  EXPECT_TRUE(t.device().is_cpu());
  EXPECT_EQ(t.shape_dynamism(), TensorShapeDynamism::STATIC);
}

TEST(TensorTest, AtenNamesAreThePortableTypes) {
  static_assert(std::is_same_v<executorch::aten::Tensor, executorch::runtime::etensor::Tensor>);
  static_assert(
      std::is_same_v<executorch::aten::ScalarType, executorch::runtime::etensor::ScalarType>);
  static_assert(
      std::is_same_v<executorch::aten::TensorImpl, executorch::runtime::etensor::TensorImpl>);
  EXPECT_EQ(executorch::aten::compute_numel(nullptr, 0), 1);
}

TEST(TensorTest, ScalarsAndEmptyTensors) {
  TensorImpl scalar(ScalarType::Long, 0, nullptr);
  EXPECT_EQ(Tensor(&scalar).numel(), 1);
  EXPECT_EQ(Tensor(&scalar).nbytes(), 8u);
  EXPECT_TRUE(Tensor(&scalar).sizes().empty());
  SizesType sizes[] = {INT32_MAX, 0};
  TensorImpl empty(ScalarType::Double, 2, sizes);
  EXPECT_EQ(Tensor(&empty).numel(), 0);
}

// CVE-2025-30402: products of sizes that wrap, negative sizes.
TEST(TensorTest, SafeNumelRefusesWhatDoesNotFit) {
  using executorch::aten::safe_numel;
  const auto error_of = [](std::vector<SizesType> sizes) {
    return safe_numel(sizes.data(), static_cast<ssize_t>(sizes.size())).error();
  };
  EXPECT_EQ(error_of({INT32_MAX, INT32_MAX}), Error::Ok);
  EXPECT_EQ(error_of({INT32_MAX, INT32_MAX, INT32_MAX}), Error::InvalidArgument);
  EXPECT_EQ(error_of(std::vector<SizesType>(16, 65536)), Error::InvalidArgument);
  EXPECT_EQ(error_of({-1}), Error::InvalidArgument);
  EXPECT_EQ(error_of({0, -1}), Error::InvalidArgument);
  EXPECT_EQ(error_of({-1, 0}), Error::InvalidArgument);
  EXPECT_EQ(error_of({0, INT32_MAX}), Error::Ok);
  // Refused for the sake of products over some of the dimensions only.
  EXPECT_EQ(error_of({INT32_MAX, INT32_MAX, INT32_MAX, 0}), Error::InvalidArgument);
  EXPECT_EQ(safe_numel(nullptr, 3).error(), Error::InvalidArgument);
  EXPECT_EQ(safe_numel(nullptr, -1).error(), Error::InvalidArgument);
  EXPECT_EQ(safe_numel(nullptr, 0).get(), 1);
}

TEST(TensorTest, ConstructionOfNonsenseEndsTheProgram) {
  SizesType huge[] = {INT32_MAX, INT32_MAX, 2};
  // The elements fit, their bytes do not.
  EXPECT_DEATH(TensorImpl(ScalarType::Double, 3, huge), "");
  SizesType negative[] = {-1};
  EXPECT_DEATH(TensorImpl(ScalarType::Float, 1, negative), "");
  EXPECT_DEATH(TensorImpl(ScalarType::Undefined, 0, nullptr), "");
}

TEST(ResizeTest, BoundedTensorsMoveWithinTheirCapacity) {
  RecordProperty("req", "RT-024");
  Shaped shaped({4, 5}, {0, 1}, {5, 1}, TensorShapeDynamism::DYNAMIC_BOUND);
  Tensor t(&shaped.impl);
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({2, 3})), Error::Ok);
  EXPECT_EQ(t.numel(), 6);
  EXPECT_EQ(t.strides()[0], 3);
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({10, 2})), Error::Ok);
  EXPECT_EQ(t.numel(), 20);
  // More than the memory holds: refused, and the tensor is as it was.
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({3, 7})), Error::NotSupported);
  EXPECT_EQ(static_cast<uint32_t>(Error::NotSupported), 0x10u);
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      ::testing::HasSubstr("Attempted to resize a bounded tensor with a maximum capacity of 20 "
                           "elements to 21 elements"));
  EXPECT_EQ(t.size(0), 10);
  EXPECT_EQ(t.strides()[0], 2);
  EXPECT_EQ(t.numel(), 20);
}

TEST(ResizeTest, KeepsTheDimOrder) {
  Shaped shaped({1, 2, 3, 4}, {0, 2, 3, 1}, {24, 1, 8, 2}, TensorShapeDynamism::DYNAMIC_BOUND);
  Tensor t(&shaped.impl);
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({2, 3, 2, 2})), Error::Ok);
  EXPECT_EQ(std::vector<int32_t>(t.strides().begin(), t.strides().end()),
            (std::vector<int32_t>{12, 1, 6, 3}));
}

TEST(ResizeTest, StaticTensorsAndRanksDoNotChange) {
  Shaped shaped({4, 5}, {0, 1}, {5, 1}, TensorShapeDynamism::STATIC);
  Tensor t(&shaped.impl);
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({4, 5})), Error::Ok);
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({4, 4})), Error::NotSupported);
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({5, 4})), Error::NotSupported);
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({20})), Error::NotSupported);
  EXPECT_EQ(t.size(1), 5);
}

// CVE-2025-54951 and its cousin in resize: more dimensions than the fixed arrays have.
TEST(ResizeTest, ManyDimensionsAndWideSizesAreRefused) {
  Shaped shaped({4, 5}, {0, 1}, {5, 1}, TensorShapeDynamism::DYNAMIC_BOUND);
  Tensor t(&shaped.impl);
  const std::vector<int64_t> many(300, 1);
  EXPECT_EQ(resize_tensor(t, ArrayRef<int64_t>(many.data(), many.size())), Error::InvalidArgument);
  EXPECT_EQ(resize_tensor(t, ArrayRef<int64_t>({int64_t{1} << 32, 1})), Error::InvalidArgument);
  EXPECT_EQ(resize_tensor(t, ArrayRef<int64_t>({-1, 1})), Error::InvalidArgument);
  EXPECT_EQ(resize_tensor(t, ArrayRef<SizesType>({-1, -4})), Error::InvalidArgument);
  EXPECT_EQ(resize_tensor(t, ArrayRef<int64_t>({2, 2})), Error::Ok);
  EXPECT_EQ(t.numel(), 4);
  std::vector<SizesType> sizes(20, 1);
  std::vector<uint8_t> order(20);
  std::vector<int32_t> strides(20, 1);
  Shaped wide(sizes, order, strides, TensorShapeDynamism::DYNAMIC_BOUND);
  sizes[0] = 0;
  EXPECT_EQ(resize_tensor(Tensor(&wide.impl), ArrayRef<SizesType>(sizes.data(), 20)),
            Error::InvalidArgument);
}

TEST(ResizeTest, TensorsWithoutStridesTakeSizes) {
  SizesType sizes[] = {4};
  float data[4];
  TensorImpl impl(ScalarType::Float, 1, sizes, data, nullptr, nullptr,
                  TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(resize_tensor(Tensor(&impl), ArrayRef<SizesType>({3})), Error::Ok);
  EXPECT_EQ(sizes[0], 3);
}

TEST(ScalarTest, ConvertsAndClampsOutOfRangeDoubles) {
  EXPECT_EQ(Scalar(true).to<int64_t>(), 1);
  EXPECT_EQ(Scalar(3).to<double>(), 3.0);
  EXPECT_TRUE(Scalar(0.5).to<bool>());
  EXPECT_EQ(Scalar(2.9).to<int64_t>(), 2);
  EXPECT_EQ(Scalar(1e30).to<int64_t>(), INT64_MAX);
  EXPECT_EQ(Scalar(-1e30).to<int64_t>(), INT64_MIN);
  EXPECT_EQ(Scalar(9223372036854775808.0).to<int64_t>(), INT64_MAX);
  EXPECT_EQ(Scalar(-9223372036854775808.0).to<int64_t>(), INT64_MIN);
  EXPECT_EQ(Scalar(1e30).to<int8_t>(), 127);
  EXPECT_EQ(Scalar(-129.0).to<int8_t>(), -128);
  EXPECT_EQ(Scalar(-5.0).to<uint8_t>(), 0);
  EXPECT_EQ(Scalar(255.5).to<uint8_t>(), 255);
  EXPECT_EQ(Scalar(std::nan("")).to<int32_t>(), 0);
  EXPECT_EQ(Scalar(1e300).to<uint64_t>(), UINT64_MAX);
}

}  // namespace
