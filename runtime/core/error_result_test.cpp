// SPDX-License-Identifier: BSD-3-Clause
// Error, Result and the macros that return them.
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/runtime.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>

using executorch::runtime::Error;
using executorch::runtime::Result;
using executorch::runtime::to_string;

namespace {

TEST(ErrorTest, NumbersAreTheDocumentedOnes) {
  RecordProperty("req", "RT-021");
  static_assert(static_cast<uint32_t>(Error::Ok) == 0x00);
  static_assert(static_cast<uint32_t>(Error::Internal) == 0x01);
  static_assert(static_cast<uint32_t>(Error::InvalidState) == 0x02);
  static_assert(static_cast<uint32_t>(Error::EndOfMethod) == 0x03);
  static_assert(static_cast<uint32_t>(Error::AlreadyLoaded) == 0x04);
  static_assert(static_cast<uint32_t>(Error::NotSupported) == 0x10);
  static_assert(static_cast<uint32_t>(Error::NotImplemented) == 0x11);
  static_assert(static_cast<uint32_t>(Error::InvalidArgument) == 0x12);
  static_assert(static_cast<uint32_t>(Error::InvalidType) == 0x13);
  static_assert(static_cast<uint32_t>(Error::OperatorMissing) == 0x14);
  static_assert(static_cast<uint32_t>(Error::NotFound) == 0x20);
  static_assert(static_cast<uint32_t>(Error::MemoryAllocationFailed) == 0x21);
  static_assert(static_cast<uint32_t>(Error::AccessFailed) == 0x22);
  static_assert(static_cast<uint32_t>(Error::InvalidProgram) == 0x23);
  static_assert(static_cast<uint32_t>(Error::InvalidExternalData) == 0x24);
  static_assert(static_cast<uint32_t>(Error::OutOfResources) == 0x25);
  static_assert(static_cast<uint32_t>(Error::DelegateInvalidCompatibility) == 0x30);
  static_assert(static_cast<uint32_t>(Error::DelegateInvalidHandle) == 0x32);
  EXPECT_STREQ(to_string(Error::OperatorMissing), "Error::OperatorMissing");
  EXPECT_STREQ(to_string(static_cast<Error>(0x7777)), "Error::Unknown");
}

Result<int> half_of(int value) {
  ET_CHECK_OR_RETURN_ERROR(value % 2 == 0, InvalidArgument, "expected an even number, got %d",
                           value);
  return value / 2;
}

Result<int> quarter_of(int value) {
  const int half = ET_UNWRAP(half_of(value));
  return ET_UNWRAP(half_of(half), "no quarter of %d", value);
}

Error check_even(int value) {
  ET_CHECK_OK_OR_RETURN_ERROR(half_of(value).error());
  ET_CHECK_OK_OR_RETURN_ERROR(half_of(value).error(), "value %d", value);
  return Error::Ok;
}

TEST(ResultTest, HoldsAValueOrAnError) {
  RecordProperty("req", "RT-022");
  Result<int> good = quarter_of(8);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good.error(), Error::Ok);
  EXPECT_EQ(good.get(), 2);
  EXPECT_EQ(*good, 2);
  *good = 5;
  EXPECT_EQ(good.get(), 5);

  EXPECT_EQ(quarter_of(6).error(), Error::InvalidArgument);
  EXPECT_EQ(quarter_of(7).error(), Error::InvalidArgument);
  EXPECT_EQ(check_even(3), Error::InvalidArgument);
  EXPECT_EQ(check_even(4), Error::Ok);
}

TEST(ResultDeathTest, TakingTheValueOfAnErrorEndsTheProgram) {
  RecordProperty("req", "RT-022");
  const auto misuse = [](auto&& use) {
    executorch::runtime::runtime_init();
    Result<int> failed(Error::NotFound);
    use(failed);
  };
  const char* const kMessage = "In function CheckOk\\(\\), assert failed: hasValue_";
  EXPECT_DEATH(misuse([](Result<int>& failed) { failed.get(); }), kMessage);
  EXPECT_DEATH(misuse([](Result<int>& failed) { *failed += 1; }), kMessage);
}

TEST(ResultTest, OkWithoutAValueIsAnInternalError) {
  Result<int> result(Error::Ok);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.error(), Error::Internal);
}

TEST(ResultTest, MovesAndDestroysItsValueOnce) {
  auto owner = std::make_shared<int>(7);
  {
    Result<std::shared_ptr<int>> first(owner);
    EXPECT_EQ(owner.use_count(), 2);
    Result<std::shared_ptr<int>> second(std::move(first));
    EXPECT_EQ(owner.use_count(), 2);
    EXPECT_EQ(**second, 7);
    EXPECT_EQ(*second->get(), 7);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(ResultDeathTest, TakingTheValueOfAFailureAborts) {
  Result<std::string> failed(Error::NotFound);
  EXPECT_DEATH((void)failed.get(), "");
}

}  // namespace
