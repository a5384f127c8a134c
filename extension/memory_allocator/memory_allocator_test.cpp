// SPDX-License-Identifier: BSD-3-Clause
// The allocators on top of malloc: alignment, reuse, sizes that cannot be.
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::extension::CPUCachingAllocator;
using executorch::extension::MallocMemoryAllocator;
using executorch::extension::utils::get_aligned_size;
using executorch::runtime::Error;

namespace {

class MemoryAllocators : public testing::Test {
 protected:
  void SetUp() override { executorch::runtime::runtime_init(); }

  static bool is_aligned(const void* data, size_t alignment) {
    return reinterpret_cast<uintptr_t>(data) % alignment == 0;
  }
};

TEST_F(MemoryAllocators, MallocGivesAlignedBlocksThatDoNotOverlap) {
  RecordProperty("req", "EXT-020");
  MallocMemoryAllocator allocator;
  for (size_t alignment : {1, 2, 8, 16, 64, 4096}) {
    void* first = allocator.allocate(100, alignment);
    void* second = allocator.allocate(100, alignment);
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    EXPECT_TRUE(is_aligned(first, alignment));
    std::memset(first, 1, 100);
    std::memset(second, 2, 100);
    EXPECT_EQ(static_cast<uint8_t*>(first)[99], 1);
  }
  allocator.reset();
  EXPECT_NE(allocator.allocate(8), nullptr);
}

TEST_F(MemoryAllocators, MallocRefusesWhatCannotBe) {
  MallocMemoryAllocator allocator;
  EXPECT_EQ(allocator.allocate(8, 3), nullptr);
  EXPECT_EQ(allocator.allocate(8, 0), nullptr);
  EXPECT_EQ(allocator.allocate(SIZE_MAX, 64), nullptr);
  EXPECT_EQ(allocator.allocate(SIZE_MAX - 8), nullptr);
  EXPECT_EQ(allocator.allocateList<uint64_t>(SIZE_MAX / 4), nullptr);
}

TEST_F(MemoryAllocators, CachingRefusesAlignmentsThatAreNoPowersOfTwo) {
  CPUCachingAllocator allocator(1 << 20);
  for (const size_t alignment : {0, 3, 24, 48, 100}) {
    EXPECT_EQ(allocator.allocate(8, alignment), nullptr) << alignment;
  }
  EXPECT_NE(allocator.allocate(8, 1), nullptr);
}

TEST_F(MemoryAllocators, AlignedSizeLeavesRoom) {
  EXPECT_EQ(get_aligned_size(10, 8).get(), 10u);
  EXPECT_EQ(get_aligned_size(10, 64).get(), 73u);
  EXPECT_EQ(get_aligned_size(SIZE_MAX, 64).error(), Error::InvalidArgument);
  EXPECT_EQ(get_aligned_size(1, 48).error(), Error::InvalidArgument);
}

TEST_F(MemoryAllocators, CachingReusesBlocksAfterReset) {
  CPUCachingAllocator allocator(1024);
  void* first = allocator.allocate(512);
  void* second = allocator.allocate(512);
  EXPECT_NE(first, second);
  EXPECT_TRUE(is_aligned(first, 64));
  allocator.reset();
  void* third = allocator.allocate(512);
  EXPECT_TRUE(third == first || third == second);
  EXPECT_EQ(allocator.allocate(512, 3 * 64), nullptr);
  EXPECT_EQ(allocator.allocate(SIZE_MAX - 1), nullptr);
}

TEST_F(MemoryAllocators, CachingKeepsAllBlocksOrNone) {
  CPUCachingAllocator roomy(1024);
  auto* kept = static_cast<uint8_t*>(roomy.allocate(512));
  void* other = roomy.allocate(256);
  std::memset(kept, 7, 512);
  roomy.reset();
  EXPECT_EQ(roomy.allocate(512), kept);
  EXPECT_EQ(kept[511], 7);
  EXPECT_EQ(roomy.allocate(256), other);
  // 1280 bytes are held now: over the limit, so that all go, and the count starts again.
  ASSERT_NE(roomy.allocate(512), nullptr);
  roomy.reset();
  void* first = roomy.allocate(512);
  roomy.reset();
  EXPECT_EQ(roomy.allocate(512), first);
  CPUCachingAllocator none(0);
  ASSERT_NE(none.allocate(512), nullptr);
  none.reset();
  ASSERT_NE(none.allocate(512), nullptr);
}

TEST_F(MemoryAllocators, CachingServesSeveralThreads) {
  CPUCachingAllocator allocator(1 << 20);
  std::vector<std::thread> threads;
  for (uint8_t id = 1; id <= 4; ++id) {
    threads.emplace_back([&allocator, id] {
      for (int round = 0; round < 200; ++round) {
        auto* block = static_cast<uint8_t*>(allocator.allocate(64));
        std::memset(block, id, 64);
        ASSERT_EQ(block[0], id);
        ASSERT_EQ(block[63], id);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  allocator.reset();
  EXPECT_NE(allocator.allocate(64), nullptr);
}

TEST_F(MemoryAllocators, CachingGivesTheAlignmentAskedFor) {
  CPUCachingAllocator allocator(1 << 20);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(is_aligned(allocator.allocate(256, 64), 64));
    EXPECT_TRUE(is_aligned(allocator.allocate(256, 4096), 4096));
    allocator.reset();
  }
}

}  // namespace
