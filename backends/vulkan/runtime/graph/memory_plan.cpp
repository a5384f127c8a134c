// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/graph/memory_plan.h>

#include <algorithm>

namespace executorch::backends::vulkan {

namespace {

uint64_t align(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool meet(const Storage& a, const Storage& b) {
  return a.first_use <= b.last_use && b.first_use <= a.last_use;
}

/// The lowest place that is free of those that meet it; `placed` is sorted by place.
uint64_t lowest_gap(const Storage& storage, const std::vector<const Storage*>& placed,
                    uint64_t alignment, bool is_sharing) {
  uint64_t place = 0;
  for (const Storage* other : placed) {
    if (is_sharing && !meet(storage, *other)) {
      continue;
    }
    if (other->offset >= place + storage.num_bytes) {
      break;
    }
    place = std::max(place, align(other->offset + other->num_bytes, alignment));
  }
  return place;
}

}  // namespace

std::vector<uint64_t> plan_memory(std::vector<Storage>& storages, uint64_t alignment,
                                  uint64_t max_constants, bool is_sharing) {
  std::vector<uint64_t> sizes(kFirstConstantBuffer, 0);
  std::vector<Storage*> shared;
  for (Storage& storage : storages) {
    switch (storage.place) {
      case Storage::Place::kShared:
        shared.push_back(&storage);
        break;
      case Storage::Place::kHost:
        storage.buffer = kHostBuffer;
        storage.offset = sizes[kHostBuffer];
        sizes[kHostBuffer] = align(storage.offset + storage.num_bytes, alignment);
        break;
      case Storage::Place::kConstant:
        if (sizes.size() == kFirstConstantBuffer ||
            (sizes.back() > 0 && sizes.back() + storage.num_bytes > max_constants)) {
          sizes.push_back(0);
        }
        storage.buffer = static_cast<uint32_t>(sizes.size() - 1);
        storage.offset = sizes.back();
        sizes.back() = align(storage.offset + storage.num_bytes, alignment);
        break;
    }
  }
  std::stable_sort(shared.begin(), shared.end(),
                   [](const Storage* a, const Storage* b) { return a->num_bytes > b->num_bytes; });
  std::vector<const Storage*> placed;
  for (Storage* storage : shared) {
    storage->buffer = kSharedBuffer;
    storage->offset = lowest_gap(*storage, placed, alignment, is_sharing);
    sizes[kSharedBuffer] = std::max(sizes[kSharedBuffer], storage->offset + storage->num_bytes);
    const auto place =
        std::upper_bound(placed.begin(), placed.end(), storage,
                         [](const Storage* a, const Storage* b) { return a->offset < b->offset; });
    placed.insert(place, storage);
  }
  return sizes;
}

}  // namespace executorch::backends::vulkan
