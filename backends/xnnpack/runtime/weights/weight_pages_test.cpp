// SPDX-License-Identifier: BSD-3-Clause
// Blocks of weights: zero, apart from each other, and given back to the system.
#include <executorch/backends/xnnpack/runtime/memory.h>
#include <executorch/backends/xnnpack/runtime/weights/weight_pages.h>
#include <executorch/extension/memory_allocator/large_pages_test.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#if __has_include(<unistd.h>)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace {

using executorch::backends::xnnpack::allocate_weights;
using executorch::backends::xnnpack::free_weights;
using executorch::backends::xnnpack::kBlockAlignment;
using executorch::backends::xnnpack::Patience;
using executorch::backends::xnnpack::touch_large_pages;
using executorch::extension::testing::bytes_in_large_pages;

constexpr size_t kMegabyte = size_t{1} << 20;

uint8_t* allocate(size_t size) {
  auto* const block = static_cast<uint8_t*>(allocate_weights(size));
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kBlockAlignment, 0u);
  EXPECT_TRUE(std::all_of(block, block + size, [](uint8_t byte) { return byte == 0; })) << size;
  return block;
}

void expect_filled(const uint8_t* block, size_t size, uint8_t value) {
  EXPECT_TRUE(std::all_of(block, block + size, [&](uint8_t byte) { return byte == value; }));
}

// Sizes below and above those of pages, large pages and regions.
const std::vector<size_t>& sizes() {
  static const std::vector<size_t> all = {
      0, 1, 63, 64, 4097, kMegabyte, kMegabyte, 3 * kMegabyte + 5, 100000, 300, 70 * kMegabyte};
  return all;
}

TEST(WeightPages, BlocksAreZeroAndApart) {
  std::vector<uint8_t*> blocks;
  for (size_t i = 0; i < sizes().size(); ++i) {
    blocks.push_back(allocate(sizes()[i]));
    std::memset(blocks[i], static_cast<int>(i + 1), sizes()[i]);
  }
  for (size_t i = 0; i < blocks.size(); i += 2) {
    free_weights(blocks[i]);
  }
  for (size_t i = 1; i < blocks.size(); i += 2) {
    expect_filled(blocks[i], sizes()[i], static_cast<uint8_t>(i + 1));
  }
  uint8_t* const late = allocate(kMegabyte);
  for (size_t i = 1; i < blocks.size(); i += 2) {
    free_weights(blocks[i]);
  }
  expect_filled(late, kMegabyte, 0);
  free_weights(late);
  free_weights(nullptr);
}

TEST(WeightPages, TooMuchIsNull) {
  EXPECT_EQ(allocate_weights(SIZE_MAX), nullptr);
  EXPECT_EQ(allocate_weights(SIZE_MAX / 2), nullptr);
  free_weights(allocate(10));
}

TEST(WeightPages, ThreadsTakeAndGiveBlocks) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int round = 0; round < 50; ++round) {
        uint8_t* const block = allocate(kMegabyte / 3);
        std::memset(block, thread + 1, kMegabyte / 3);
        expect_filled(block, kMegabyte / 3, static_cast<uint8_t>(thread + 1));
        free_weights(block);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

#if defined(__linux__)

size_t resident() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, pages = 0;
  file >> total >> pages;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

// ThreadSanitizer keeps memory of its own for each byte that was touched.
#if defined(__SANITIZE_THREAD__)
constexpr bool kResidentIsOurs = false;
#else
constexpr bool kResidentIsOurs = true;
#endif

TEST(WeightPages, MemoryGoesBackToTheSystem) {
  const size_t before = resident();
  std::vector<uint8_t*> blocks;
  for (int i = 0; i < 50; ++i) {
    blocks.push_back(allocate(kMegabyte));
    std::memset(blocks.back(), 1, kMegabyte);
  }
  EXPECT_GT(resident(), before + 45 * kMegabyte);
  for (size_t i = 1; i < blocks.size(); ++i) {
    free_weights(blocks[i]);
  }
  if (kResidentIsOurs) {
    EXPECT_LT(resident(), before + 10 * kMegabyte) << "all but one are free";
  }
  free_weights(blocks[0]);
  if (kResidentIsOurs) {
    EXPECT_LT(resident(), before + 4 * kMegabyte);
  }
}

#if defined(MADV_HUGEPAGE)

TEST(WeightPages, WithoutPatiencePagesAreOrdinary) {
  constexpr size_t kSize = 64 * kMegabyte;
  void* const mapped =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ASSERT_EQ(::madvise(mapped, kSize, MADV_HUGEPAGE), 0);
  auto* const begin = static_cast<uint8_t*>(mapped);
  const size_t resident_before = resident(), large_before = bytes_in_large_pages();
  Patience patience{0};
  const auto ordinary = touch_large_pages(begin, kSize / 2, patience);
  EXPECT_GE(ordinary.size(), kSize / 2 / (2 * kMegabyte) - 1);
  EXPECT_EQ(patience.load(), 0);
  EXPECT_EQ(bytes_in_large_pages(), large_before);
  EXPECT_GE(resident(), resident_before + kSize / 2 - 4 * kMegabyte);
  patience = INT64_MAX / 2;
  EXPECT_TRUE(touch_large_pages(begin + kSize / 2, kSize / 2, patience).empty());
  EXPECT_NE(patience.load(), INT64_MAX / 2) << "each large page counts";
  EXPECT_TRUE(std::all_of(begin, begin + kSize, [](uint8_t byte) { return byte == 0; }));
  ::munmap(mapped, kSize);
}

// Another thread may have packed weights there already: blocks lie side by side.
TEST(WeightPages, WhatLiesBehindABlockIsNotTouched) {
  constexpr size_t kSize = 8 * kMegabyte, kOwn = 5 * kMegabyte;
  void* const mapped =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const begin = static_cast<uint8_t*>(mapped);
  std::memset(begin + kOwn, 7, kSize - kOwn);
  for (const int64_t ticks : {int64_t{0}, INT64_MAX / 2}) {
    Patience patience{ticks};
    touch_large_pages(begin, kOwn, patience);
    expect_filled(begin + kOwn, kSize - kOwn, 7);
  }
  ::munmap(mapped, kSize);
}

#endif

TEST(WeightPages, FewWeightsAreNotRoundedUp) {
  const size_t before = resident();
  uint8_t* const block = static_cast<uint8_t*>(allocate_weights(2 * kMegabyte));
  std::memset(block, 1, kMegabyte / 4);
  if (kResidentIsOurs) {
    EXPECT_LT(resident(), before + kMegabyte);
  }
  free_weights(block);
}

#endif

}  // namespace
