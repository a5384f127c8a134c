// SPDX-License-Identifier: BSD-3-Clause
// Our plan of the workspace beside XNNPACK's own.
#include <gtest/gtest.h>

#include "xnnpack/memory-planner.h"

#include <algorithm>
#include <random>
#include <vector>

extern "C" void xnn_plan_value_allocation_tracker_any(xnn_value_allocation_tracker*);

namespace {

using Records = std::vector<xnn_usage_record>;

/// A value of `size` bytes that nodes `first` to `last` use.
xnn_usage_record record(uint32_t first, uint32_t last, size_t size) {
  return {first, last, size, SIZE_MAX, XNN_INVALID_VALUE_ID, UINT32_MAX};
}

/// XNNPACK's own takes memory from its allocator.
class MemoryPlanner : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success); }
};

template <typename Plan>
size_t arena_of(Plan& plan, Records& records) {
  xnn_value_allocation_tracker tracker{0, records.data(), 0, records.size() - 1};
  plan(&tracker);
  return tracker.mem_arena_size;
}

void expect_apart(const Records& records, size_t arena) {
  for (const xnn_usage_record& a : records) {
    ASSERT_LE(a.alloc_offset + a.tensor_size, arena);
    for (const xnn_usage_record& b : records) {
      const bool meet = a.first_node <= b.last_node && b.first_node <= a.last_node;
      const bool overlap = a.alloc_offset < b.alloc_offset + b.tensor_size &&
                           b.alloc_offset < a.alloc_offset + a.tensor_size;
      ASSERT_TRUE(&a == &b || !meet || !overlap);
    }
  }
}

/// A chain of equal values, each made from the one before: two live at a time.
TEST_F(MemoryPlanner, AChainNeedsTwoOfItsValues) {
  Records chain;
  for (uint32_t node = 0; node < 8; ++node) {
    chain.push_back(record(node, node + 1, 64));
  }
  Records theirs = chain;
  EXPECT_EQ(arena_of(xnn_plan_value_allocation_tracker, chain), 2u * 64);
  EXPECT_GT(arena_of(xnn_plan_value_allocation_tracker_any, theirs), 2u * 64);
  expect_apart(chain, 2 * 64);
}

TEST_F(MemoryPlanner, TakesTheSmallestGap) {
  // At node 1 live 64 bytes at 0 and 32 bytes behind; the 16 bytes of node 3 fit where those were.
  Records records = {record(0, 3, 64), record(1, 2, 32), record(2, 3, 24), record(3, 3, 16)};
  EXPECT_EQ(arena_of(xnn_plan_value_allocation_tracker, records), 64u + 32 + 24);
  EXPECT_EQ(records[3].alloc_offset, 64u);
  expect_apart(records, 64 + 32 + 24);
}

TEST_F(MemoryPlanner, ValuesThatShareMemoryStayTogether) {
  Records records = {record(0, 2, 48), record(1, 2, 0), record(1, 1, 32)};
  records[1].reuse_value_id = 0;
  EXPECT_EQ(arena_of(xnn_plan_value_allocation_tracker, records), 80u);
  EXPECT_EQ(records[1].alloc_offset, records[0].alloc_offset);
}

TEST_F(MemoryPlanner, NothingToPlan) {
  xnn_value_allocation_tracker tracker{0, nullptr, XNN_INVALID_VALUE_ID, XNN_INVALID_VALUE_ID};
  xnn_plan_value_allocation_tracker(&tracker);
  EXPECT_EQ(tracker.mem_arena_size, 0u);
}

TEST_F(MemoryPlanner, KeepsApartWhatLivesTogether) {
  std::mt19937 random(1);
  size_t ours = 0;
  size_t theirs = 0;
  for (int graph = 0; graph < 200; ++graph) {
    Records records;
    for (int value = 0; value < 40; ++value) {
      const uint32_t first = random() % 40;
      records.push_back(record(first, first + 1 + random() % 6, 16 * (1 + random() % 64)));
    }
    Records copy = records;
    const size_t arena = arena_of(xnn_plan_value_allocation_tracker, records);
    expect_apart(records, arena);
    ours += arena;
    theirs += arena_of(xnn_plan_value_allocation_tracker_any, copy);
  }
  EXPECT_LT(ours, theirs);
}

}  // namespace
