// SPDX-License-Identifier: BSD-3-Clause
// MemoryAllocator and HierarchicalAllocator: alignment, exhaustion, and sizes that wrap.
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

using executorch::runtime::Error;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::Span;

namespace {

TEST(MemoryAllocatorTest, AlignsEveryPieceAndCountsBytes) {
  RecordProperty("req", "RT-014");
  alignas(64) uint8_t pool[1024];
  MemoryAllocator allocator(sizeof(pool), pool);
  EXPECT_EQ(allocator.size(), sizeof(pool));
  for (size_t alignment : {size_t{1}, size_t{2}, size_t{16}, size_t{64}}) {
    void* piece = allocator.allocate(3, alignment);
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % alignment, 0u);
  }
  EXPECT_EQ(allocator.used_size() + allocator.free_size(), sizeof(pool));
  allocator.reset();
  EXPECT_EQ(allocator.used_size(), 0u);
  EXPECT_EQ(allocator.allocate(8, 3), nullptr);
  EXPECT_EQ(allocator.allocate(8, 0), nullptr);
}

TEST(MemoryAllocatorTest, RefusesWhatDoesNotFit) {
  RecordProperty("req", "RT-015");
  uint8_t pool[64];
  MemoryAllocator allocator(sizeof(pool), pool);
  EXPECT_EQ(allocator.allocate(65, 1), nullptr);
  EXPECT_NE(allocator.allocate(64, 1), nullptr);
  EXPECT_EQ(allocator.allocate(1, 1), nullptr);
}

// CVE-2025-30404: sizes whose sum with the position wraps must not give overlapping pieces.
TEST(MemoryAllocatorTest, HugeSizesDoNotWrap) {
  uint8_t pool[256];
  for (size_t huge : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 16, SIZE_MAX / 2 + 1}) {
    MemoryAllocator allocator(sizeof(pool), pool);
    void* first = allocator.allocate(16, 1);
    EXPECT_EQ(allocator.allocate(huge, 16), nullptr);
    EXPECT_EQ(allocator.allocateList<uint64_t>(huge), nullptr);
    void* second = allocator.allocate(16, 1);
    ASSERT_NE(second, nullptr);
    EXPECT_GE(static_cast<uint8_t*>(second), static_cast<uint8_t*>(first) + 16);
  }
}

// CVE-2025-54952: element count x element size wraps to a small number.
TEST(MemoryAllocatorTest, ListsWhoseByteCountWrapsAreRefused) {
  uint8_t pool[256];
  MemoryAllocator allocator(sizeof(pool), pool);
  struct Large {
    uint64_t words[3];
  };
  EXPECT_EQ(allocator.allocateList<Large>(SIZE_MAX / sizeof(Large) + 1), nullptr);
  EXPECT_EQ(allocator.allocateList<uint64_t>(size_t{1} << 61), nullptr);
  EXPECT_NE(allocator.allocateList<uint64_t>(4), nullptr);
}

TEST(MemoryAllocatorTest, RandomPiecesNeverOverlap) {
  std::vector<uint8_t> pool(4096);
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    MemoryAllocator allocator(static_cast<uint32_t>(pool.size()), pool.data());
    uint8_t* previous_end = pool.data();
    for (int i = 0; i < 100; ++i) {
      const size_t size = random() % 5 == 0 ? SIZE_MAX - random() % 64 : random() % 200;
      const size_t alignment = size_t{1} << (random() % 7);
      auto* piece = static_cast<uint8_t*>(allocator.allocate(size, alignment));
      if (piece == nullptr) {
        continue;
      }
      ASSERT_GE(piece, previous_end);
      ASSERT_LE(size, static_cast<size_t>(pool.data() + pool.size() - piece));
      previous_end = piece + size;
    }
  }
}

// CVE-2025-30405: offset + size wraps.
TEST(HierarchicalAllocatorTest, ChecksEveryRange) {
  RecordProperty("req", "RT-014");
  uint8_t sram[32];
  uint8_t dram[128];
  Span<uint8_t> buffers[] = {{sram, sizeof(sram)}, {dram, sizeof(dram)}};
  HierarchicalAllocator allocator(Span<Span<uint8_t>>(buffers, 2));
  EXPECT_EQ(allocator.get_offset_address(0, 0, 32).get(), sram);
  EXPECT_EQ(allocator.get_offset_address(1, 64, 64).get(), dram + 64);
  EXPECT_EQ(allocator.get_offset_address(1, 128, 0).get(), dram + 128);
  EXPECT_EQ(allocator.get_offset_address(2, 0, 1).error(), Error::InvalidArgument);
  EXPECT_EQ(allocator.get_offset_address(UINT32_MAX, 0, 1).error(), Error::InvalidArgument);
  EXPECT_EQ(allocator.get_offset_address(0, 0, 33).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(allocator.get_offset_address(0, 33, 0).error(), Error::MemoryAllocationFailed);
  for (size_t huge : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 31}) {
    EXPECT_FALSE(allocator.get_offset_address(0, huge, 16).ok());
    EXPECT_FALSE(allocator.get_offset_address(0, 16, huge).ok());
  }
}

}  // namespace
