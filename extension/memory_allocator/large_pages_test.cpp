// SPDX-License-Identifier: BSD-3-Clause
// What is in use comes to lie in large pages, what is not stays unused.
#include <executorch/extension/memory_allocator/large_pages.h>
#include <executorch/extension/memory_allocator/large_pages_test.h>

#include <gtest/gtest.h>

#if defined(__linux__)

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

namespace {

using executorch::extension::forget_large_pages;
using executorch::extension::kLargePage;
using executorch::extension::want_large_pages;

size_t count_large_pages() {
  return executorch::extension::testing::bytes_in_large_pages() / kLargePage;
}

/// Some large pages that are not there yet, from one on.
class LargePages : public ::testing::Test {
 protected:
  static constexpr size_t kCount = 8, kMapped = (kCount + 1) * kLargePage;

  void SetUp() override {
    mapped_ = ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped_, MAP_FAILED);
    const auto address = reinterpret_cast<uintptr_t>(mapped_);
    first_ = static_cast<uint8_t*>(mapped_) + (kLargePage - address % kLargePage) % kLargePage;
    ASSERT_EQ(::madvise(mapped_, kMapped, MADV_NOHUGEPAGE), 0) << "none comes by itself";
    std::memset(first_, 1, kLargePage);
    allow(0);
    works_ = collapse(0);
    before_ = count_large_pages();
  }

  void TearDown() override {
    forget_large_pages(mapped_, kMapped);
    ::munmap(mapped_, kMapped);
  }

  uint8_t* page(size_t place) const { return first_ + place * kLargePage; }

  /// The page may be a large one from now on. The system would refuse to make it one before.
  void allow(size_t place) const {
    ASSERT_EQ(::madvise(page(place), kLargePage, MADV_HUGEPAGE), 0);
  }

  bool collapse(size_t place) const {
    constexpr int kCollapse = 25;
    return ::madvise(page(place), kLargePage, kCollapse) == 0;
  }

  /// Whether pages from the second to `last` become large; also where a busy system has none to
  /// give, which it then refuses the test, too.
  bool come_to(size_t last, int seconds = 10) const {
    for (int i = 0; i < 20 * seconds && count_large_pages() < before_ + last; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const bool came = count_large_pages() >= before_ + last;
    bool is_refused = false;
    for (size_t place = 1; !came && place <= last; ++place) {
      is_refused = !collapse(place) || is_refused;
    }
    return came == works_ || is_refused;
  }

  void* mapped_ = nullptr;
  uint8_t* first_ = nullptr;
  bool works_ = false;  // kernels from 6.1 on
  size_t before_ = 0;
};

TEST_F(LargePages, ComeWhereHalfIsInUse) {
  std::memset(page(1), 7, 3 * kLargePage);
  std::memset(page(4), 8, kLargePage / 4);
  for (size_t place = 1; place < 4; ++place) {
    allow(place);
  }
  want_large_pages(first_ + 1, kMapped - kLargePage - 1);  // from the second page on
  EXPECT_TRUE(come_to(3));
  EXPECT_TRUE(std::all_of(page(1), page(4), [](uint8_t byte) { return byte == 7; }));
  std::memset(page(4), 9, kLargePage * 3 / 4);
  allow(4);
  EXPECT_TRUE(come_to(4)) << "at a later look";
  EXPECT_EQ(*page(4), 9);
  EXPECT_EQ(*(page(5) - 1), 0);
}

TEST_F(LargePages, DoNotComeWhenForgotten) {
  std::memset(page(1), 7, 2 * kLargePage);
  allow(1);
  want_large_pages(first_, 3 * kLargePage);
  forget_large_pages(page(2), kLargePage);
  ::munmap(page(2), kLargePage);
  EXPECT_TRUE(come_to(1));
}

/// Whatever the thread waits for by then: its own next look comes at 15 seconds.
TEST_F(LargePages, OfMemoryThatComesLaterAreLookedAtSoon) {
  want_large_pages(page(2), kLargePage);  // not in use
  std::this_thread::sleep_for(std::chrono::milliseconds(7500));
  std::memset(page(1), 7, kLargePage);
  allow(1);
  want_large_pages(page(1), kLargePage);
  EXPECT_TRUE(come_to(1, 6));
}

TEST(LargePagesOfNothing, AreNotWanted) {
  uint8_t byte = 1;
  want_large_pages(&byte, 1);
  forget_large_pages(&byte, 1);
  want_large_pages(nullptr, 0);
}

}  // namespace

#endif
