// SPDX-License-Identifier: BSD-3-Clause
// Span, ArrayRef, FunctionRef and FreeableBuffer: the views and the one owner of bytes.
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/function_ref.h>
#include <executorch/runtime/core/span.h>

#include <array>
#include <utility>

#include <gtest/gtest.h>

using executorch::runtime::ArrayRef;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::FunctionRef;
using executorch::runtime::Span;

namespace {

TEST(SpanTest, ViewsAndWritesThrough) {
  int values[] = {1, 2, 3};
  Span<int> span(values);
  span[1] = 20;
  EXPECT_EQ(values[1], 20);
  EXPECT_EQ(span.size(), 3u);
  EXPECT_EQ(span.end() - span.begin(), 3);
  EXPECT_EQ(Span<int>(values, values + 2).size(), 2u);
  int single = 4;
  EXPECT_EQ(Span<int>(single).data(), &single);
  EXPECT_TRUE(Span<int>().empty());
}

TEST(ArrayRefTest, ComparesAndSlices) {
  const int values[] = {1, 2, 3, 4};
  const ArrayRef<int> all(values);
  EXPECT_EQ(all.slice(1, 2).size(), 2u);
  EXPECT_EQ(all.slice(1, 2)[1], 3);
  EXPECT_EQ(all.slice(3).front(), 4);
  EXPECT_EQ(all.back(), 4);
  const std::array<int, 4> same = {1, 2, 3, 4};
  EXPECT_TRUE(all == ArrayRef<int>(same));
  EXPECT_TRUE(all != all.slice(0, 3));
  EXPECT_TRUE(ArrayRef<int>().empty());
}

TEST(ArrayRefDeathTest, OutOfRangeAborts) {
  const int values[] = {1, 2};
  const ArrayRef<int> all(values);
  EXPECT_DEATH((void)all.at(2), "");
  EXPECT_DEATH((void)all.slice(1, 2), "");
  EXPECT_DEATH((void)all.slice(SIZE_MAX, 2), "");
}

TEST(FunctionRefTest, CallsWhatItViews) {
  int total = 0;
  auto add = [&total](int value) { return total += value; };
  FunctionRef<int(int)> ref(add);
  EXPECT_EQ(ref(3), 3);
  EXPECT_EQ(ref(4), 7);
  EXPECT_TRUE(static_cast<bool>(ref));
  EXPECT_FALSE(static_cast<bool>(FunctionRef<int(int)>()));
  EXPECT_FALSE(static_cast<bool>(FunctionRef<int(int)>(nullptr)));
}

struct FreeCalls {
  int count = 0;
  const void* data = nullptr;
  size_t size = 0;
};

void record_free(void* context, void* data, size_t size) {
  auto* calls = static_cast<FreeCalls*>(context);
  ++calls->count;
  calls->data = data;
  calls->size = size;
}

TEST(FreeableBufferTest, IsFreedOnceAtTheRightTime) {
  RecordProperty("req", "RT-032");
  const char bytes[] = "bytes";
  FreeCalls calls;
  {
    FreeableBuffer buffer(bytes, sizeof(bytes), record_free, &calls);
    FreeableBuffer moved(std::move(buffer));
    EXPECT_EQ(moved.data(), bytes);
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(calls.count, 0);
    moved.Free();
    EXPECT_EQ(calls.count, 1);
    EXPECT_EQ(calls.data, bytes);
    EXPECT_EQ(calls.size, sizeof(bytes));
    EXPECT_EQ(moved.data(), nullptr);
    EXPECT_EQ(moved.size(), 0u);
    moved.Free();
  }
  EXPECT_EQ(calls.count, 1);
  {
    FreeableBuffer dropped(bytes, sizeof(bytes), record_free, &calls);
  }
  EXPECT_EQ(calls.count, 2);
}

TEST(FreeableBufferTest, KnowsPointersFromAddresses) {
  const char bytes[] = "bytes";
  FreeableBuffer pointer(bytes, sizeof(bytes), nullptr);
  ASSERT_TRUE(pointer.data_safe().ok());
  EXPECT_FALSE(pointer.data_uint64_type().ok());
  FreeableBuffer address(uint64_t{0xb400000000001000}, 16, nullptr);
  ASSERT_TRUE(address.data_uint64_type().ok());
  EXPECT_EQ(address.data_uint64_type().get(), 0xb400000000001000u);
  EXPECT_FALSE(address.data_safe().ok());
}

}  // namespace
