// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/backend/ports/byte_arguments.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

using executorch::aten::ScalarType;
using executorch::runtime::ArgumentName;
using executorch::runtime::BytePort;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::testing::TensorFactory;

namespace {
constexpr ArgumentName kName{"B", "input", 1};
}

TEST(ByteArgumentsTest, ATensorOfJustTheseBytesIsUsedInPlace) {
  TensorFactory<ScalarType::Short> shorts;
  const auto tensor = shorts.make({2}, {1, 2});
  BytePort port{4};
  const auto read = port.to_read(kName, EValue(tensor));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->data(), tensor.const_data_ptr());
  EXPECT_EQ(port.to_write(kName, EValue(tensor))->data(), tensor.const_data_ptr());
  port.store(EValue(tensor));
  EXPECT_EQ(tensor.const_data_ptr<int16_t>()[1], 2);
}

TEST(ByteArgumentsTest, ASmallerOneIsFilledUpWithZeros) {
  TensorFactory<ScalarType::Byte> bytes;
  const auto tensor = bytes.make({2}, {7, 8});
  BytePort port{3};
  port.copy = {9, 9, 9, 9};
  const auto read = port.to_read(kName, EValue(tensor));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::vector<uint8_t>(read->begin(), read->end()), (std::vector<uint8_t>{7, 8, 0}));
  const auto written = port.to_write(kName, EValue(tensor));
  ASSERT_EQ(written->size(), 3u);
  written->data()[0] = 5;
  EXPECT_EQ(tensor.const_data_ptr<uint8_t>()[0], 7);
  port.store(EValue(tensor));
  EXPECT_EQ(tensor.const_data_ptr<uint8_t>()[0], 5);
  EXPECT_EQ(tensor.const_data_ptr<uint8_t>()[1], 8);
}

TEST(ByteArgumentsTest, OthersAreRefusedByName) {
  executorch::runtime::runtime_init();
  TensorFactory<ScalarType::Byte> bytes;
  BytePort port{1};
  testing::internal::CaptureStderr();
  EXPECT_EQ(port.to_read(kName, EValue(bytes.make({2}, {7, 8}))).error(), Error::InvalidArgument);
  EXPECT_EQ(port.to_write(kName, EValue(int64_t{3})).error(), Error::InvalidArgument);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("B: input 1: expected at most 1 bytes, found 2"), std::string::npos) << log;
}
