// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its planner of the workspace: that one never uses the
// room ahead of the first value that lives at the same time, so that a ResNet's took twice the
// memory of the values that live together.
#include "xnnpack/memory-planner.h"

#include <algorithm>
#include <vector>

namespace {

using Record = xnn_usage_record;

bool live_together(const Record& a, const Record& b) {
  return a.first_node <= b.last_node && b.first_node <= a.last_node;
}

size_t end_of(const Record& record) {
  return record.alloc_offset + record.tensor_size;
}

/// The start of the smallest gap between what is `placed`, sorted by offset, and lives at the same
/// time; behind all of it where none is large enough.
size_t offset_for(const Record& record, const std::vector<Record*>& placed) {
  size_t best = 0;
  size_t smallest = SIZE_MAX;
  size_t end = 0;
  for (const Record* other : placed) {
    if (!live_together(record, *other)) {
      continue;
    }
    const size_t gap = other->alloc_offset > end ? other->alloc_offset - end : 0;
    if (gap >= record.tensor_size && gap < smallest) {
      smallest = gap;
      best = end;
    }
    end = std::max(end, end_of(*other));
  }
  return smallest == SIZE_MAX ? end : best;
}

}  // namespace

/// The largest first, as in "Efficient Memory Management for Deep Neural Net Inference" (Pisarchyk
/// and Lee, 2020).
extern "C" void xnn_plan_value_allocation_tracker(xnn_value_allocation_tracker* tracker) {
  if (tracker->min_value_id == XNN_INVALID_VALUE_ID) {
    return;
  }
  Record* const first = tracker->usage + tracker->min_value_id;
  Record* const last = tracker->usage + tracker->max_value_id;
  std::vector<Record*> by_size;
  for (Record* record = first; record <= last; ++record) {
    if (record->tensor_size != 0) {
      by_size.push_back(record);
    }
  }
  std::stable_sort(by_size.begin(), by_size.end(), [](const Record* a, const Record* b) {
    return a->tensor_size > b->tensor_size;
  });
  const auto by_offset = [](const Record* a, const Record* b) {
    return a->alloc_offset < b->alloc_offset;
  };
  std::vector<Record*> placed;
  for (Record* record : by_size) {
    record->alloc_offset = offset_for(*record, placed);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), record, by_offset), record);
    tracker->mem_arena_size = std::max(tracker->mem_arena_size, end_of(*record));
  }
  for (Record* record = first; record <= last; ++record) {
    if (record->reuse_value_id != XNN_INVALID_VALUE_ID) {
      record->alloc_offset = tracker->usage[record->reuse_value_id].alloc_offset;
    }
  }
}
