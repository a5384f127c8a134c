// SPDX-License-Identifier: BSD-3-Clause
// TensorPtr: layouts, conversions between all types, misuse; accessors.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/device_allocator.h>
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

std::vector<int> dim_order_of(const Tensor& tensor) {
  std::vector<DimOrderType> order(static_cast<size_t>(tensor.dim()));
  EXPECT_EQ(executorch::runtime::get_dim_order(tensor, order.data(), order.size()), Error::Ok);
  return ints(order);
}

TEST_F(TensorPtrs, StridesAndDimOrderFollowEachOther) {
  float data[24];
  auto channels_last = make_tensor_ptr({2, 3, 2, 2}, data, {0, 2, 3, 1}, {}, ScalarType::Float);
  EXPECT_EQ(ints(channels_last->strides()), (std::vector<int>{12, 1, 6, 3}));
  auto from_strides = make_tensor_ptr({2, 3, 2, 2}, data, {}, {12, 1, 6, 3}, ScalarType::Float);
  EXPECT_EQ(dim_order_of(*from_strides), (std::vector<int>{0, 2, 3, 1}));
  auto contiguous = make_tensor_ptr({2, 3, 2, 2}, data);
  EXPECT_EQ(ints(contiguous->strides()), (std::vector<int>{12, 4, 2, 1}));
  // Dimensions of size 1 may have any stride.
  EXPECT_EQ(make_tensor_ptr({1, 4}, data, {}, {100, 1}, ScalarType::Float)->numel(), 4);
}

TEST_F(TensorPtrs, TheStrideOfADimensionOfOneIsTheDenseOne) {
  float data[4];
  EXPECT_EQ(ints(make_tensor_ptr({1, 4}, data, {}, {100, 1}, ScalarType::Float)->strides()),
            (std::vector<int>{4, 1}));
}

TEST_F(TensorPtrs, ViewsKeepTheLayout) {
  float data[24];
  auto tensor = make_tensor_ptr({2, 3, 2, 2}, data, {0, 2, 3, 1}, {}, ScalarType::Float);
  EXPECT_EQ(dim_order_of(*make_tensor_ptr(*tensor)), (std::vector<int>{0, 2, 3, 1}));
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
  EXPECT_EQ(make_tensor_ptr({1.5f, 65535.0f}, ScalarType::UInt16)->const_data_ptr<uint16_t>()[1],
            65535);
  EXPECT_EQ(make_tensor_ptr({4294967295.0}, ScalarType::UInt32)->const_data_ptr<uint32_t>()[0],
            4294967295u);
  EXPECT_EQ(make_tensor_ptr({1e19, -1.5}, ScalarType::UInt64)->const_data_ptr<uint64_t>()[0],
            10000000000000000000u);
  EXPECT_DEATH(make_tensor_ptr({1.5}, ScalarType::Byte), "cannot become");
  EXPECT_DEATH(make_tensor_ptr({1}, ScalarType::Bool), "cannot become");
  EXPECT_DEATH(make_tensor_ptr(1.5f, ScalarType::Bool), "cannot become");
}

TEST_F(TensorPtrsDeathTest, DataThatDoesNotFitIsRefused) {
  EXPECT_DEATH(make_tensor_ptr({2, 3}, {1.0f, 2.0f}), "Expected 6 elements");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, std::vector<uint8_t>(23), ScalarType::Int),
               "Expected 24 bytes");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, std::vector<uint8_t>(25), ScalarType::Int),
               "Expected 24 bytes");
  float data[6];
  EXPECT_DEATH(make_tensor_ptr({2, 3}, data, {}, {1, 1}, ScalarType::Float), "stride");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, data, {}, {1}, ScalarType::Float), "strides of 2");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, data, {0, 0}, {}, ScalarType::Float), "order");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, data, {0}, {}, ScalarType::Float), "order of 2");
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
  EXPECT_EQ(accessor->size(1), 3);
  EXPECT_EQ(accessor->stride(0), 3);
  EXPECT_EQ(accessor.get()[1].size(0), 3);
  EXPECT_EQ((make_tensor_accessor<float, 1>(*tensor).error()), Error::InvalidArgument);
  EXPECT_EQ((make_tensor_accessor<double, 2>(*tensor).error()), Error::InvalidArgument);
  // Types of one size: the bits are read.
  auto bits = make_tensor_accessor<int32_t, 2>(*tensor);
  ASSERT_TRUE(bits.ok());
  EXPECT_EQ(bits.get()[0][0], 0x3f800000);
  float data[24];
  auto channels_last = make_tensor_ptr({2, 3, 2, 2}, data, {0, 2, 3, 1}, {}, ScalarType::Float);
  EXPECT_EQ((make_tensor_accessor<float, 4>(*channels_last).error()), Error::NotSupported);
}

TEST_F(TensorPtrsDeathTest, AccessorsKnowTheirDimensions) {
  auto tensor = make_tensor_ptr({2, 3}, {1, 2, 3, 4, 5, 6});
  auto accessor = make_tensor_accessor<int32_t, 2>(*tensor);
  EXPECT_DEATH((void)accessor->size(2), "dimension from 0 to 1, got 2");
  EXPECT_DEATH((void)accessor->stride(-1), "got -1");
}

TEST_F(TensorPtrs, FillValuesThatFit) {
  EXPECT_EQ(full({1}, 255, ScalarType::Byte)->const_data_ptr<uint8_t>()[0], 255);
  EXPECT_EQ(full({1}, -128, ScalarType::Char)->const_data_ptr<int8_t>()[0], -128);
  EXPECT_EQ(full({1}, 3, ScalarType::Double)->const_data_ptr<double>()[0], 3);
  EXPECT_EQ(full({1}, 2, ScalarType::Bool)->const_data_ptr<bool>()[0], true);
  EXPECT_EQ(full({1}, false, ScalarType::Bool)->const_data_ptr<bool>()[0], false);
  EXPECT_EQ(full({1}, -INFINITY, ScalarType::Float)->const_data_ptr<float>()[0], -INFINITY);
}

TEST_F(TensorPtrsDeathTest, FillValuesThatDoNotFit) {
  EXPECT_DEATH(full({1}, 256, ScalarType::Byte), "cannot hold");
  EXPECT_DEATH(full({1}, -1, ScalarType::UInt64), "cannot hold");
  EXPECT_DEATH(full({1}, 1.5, ScalarType::Int), "cannot hold");
  EXPECT_DEATH(full({1}, 1e39, ScalarType::Float), "cannot hold");
  EXPECT_DEATH(full({1}, 70000.0, ScalarType::Half), "cannot hold");
  EXPECT_DEATH(full({1}, true, ScalarType::Float), "cannot hold");
  EXPECT_DEATH(full({1}, true, ScalarType::Int), "cannot hold");
  EXPECT_DEATH(full({1}, 1.0, ScalarType::Bool), "cannot hold");
  EXPECT_DEATH(full({1}, 1, ScalarType::ComplexFloat), "cannot hold");
}

// A device whose memory is that of the heap.
class HeapDevice final : public executorch::runtime::DeviceAllocator {
 public:
  using DeviceIndex = executorch::runtime::etensor::DeviceIndex;

  executorch::runtime::Result<void*> allocate(size_t nbytes, DeviceIndex, size_t) override {
    live += 1;
    return std::malloc(nbytes);
  }
  void deallocate(void* data, DeviceIndex) override {
    live -= 1;
    std::free(data);
  }
  Error copy_host_to_device(void* to, const void* from, size_t nbytes, DeviceIndex) override {
    if (fails) {
      return Error::Internal;
    }
    std::memcpy(to, from, nbytes);
    return Error::Ok;
  }
  Error copy_device_to_host(void* to, const void* from, size_t nbytes, DeviceIndex) override {
    std::memcpy(to, from, nbytes);
    return Error::Ok;
  }
  executorch::runtime::etensor::DeviceType device_type() const override {
    return executorch::runtime::etensor::DeviceType::CUDA;
  }

  int live = 0;
  bool fails = false;
};

TEST_F(TensorPtrsDeathTest, CopiesToADeviceAndBack) {
  const Device cpu(DeviceType::CPU);
  const Device device(DeviceType::CUDA, 0);
  auto tensor = make_tensor_ptr({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  EXPECT_DEATH(clone_tensor_ptr_to(tensor, device), "No allocator");
  static HeapDevice heap;
  executorch::runtime::register_device_allocator(&heap);
  {
    auto there = clone_tensor_ptr_to(tensor, device);
    EXPECT_EQ(there->device().type(), DeviceType::CUDA);
    EXPECT_EQ(heap.live, 1);
    EXPECT_DEATH(clone_tensor_ptr(there), "clone_tensor_ptr_to");
    EXPECT_DEATH(clone_tensor_ptr_to(there, device), "by way of the CPU");
    auto view = make_tensor_ptr(there, {3, 2});
    EXPECT_EQ(view->device().type(), DeviceType::CUDA);
    auto back = clone_tensor_ptr_to(there, cpu);
    EXPECT_TRUE(back->device().is_cpu());
    EXPECT_EQ(back->const_data_ptr<float>()[5], 6);
  }
  EXPECT_EQ(heap.live, 0);
  EXPECT_DEATH(clone_tensor_ptr_to(tensor, cpu), "use clone_tensor_ptr");
  EXPECT_DEATH(clone_tensor_ptr_to(make_tensor_ptr({2}, static_cast<void*>(nullptr)), device),
               "no data");
  heap.fails = true;
  EXPECT_DEATH(clone_tensor_ptr_to(tensor, device), "cannot copy");
}

}  // namespace
