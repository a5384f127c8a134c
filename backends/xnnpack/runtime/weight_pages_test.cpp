// SPDX-License-Identifier: BSD-3-Clause
// Blocks of weights: zero, apart from each other, and given back to the system.
#include <executorch/backends/xnnpack/runtime/memory.h>
#include <executorch/backends/xnnpack/runtime/weight_pages.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace {

using executorch::backends::xnnpack::allocate_weights;
using executorch::backends::xnnpack::free_weights;
using executorch::backends::xnnpack::kBlockAlignment;

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
  EXPECT_LT(resident(), before + 10 * kMegabyte) << "all but one are free";
  free_weights(blocks[0]);
  EXPECT_LT(resident(), before + 4 * kMegabyte);
}

TEST(WeightPages, FewWeightsAreNotRoundedUp) {
  const size_t before = resident();
  uint8_t* const block = static_cast<uint8_t*>(allocate_weights(2 * kMegabyte));
  std::memset(block, 1, kMegabyte / 4);
  EXPECT_LT(resident(), before + kMegabyte);
  free_weights(block);
}

#endif

}  // namespace
