// SPDX-License-Identifier: BSD-3-Clause
// Blocks are cut one after the other from regions of address space, which take no memory before
// they are written. No part of a region is used twice, so that all blocks come as zeros.
#include <executorch/backends/xnnpack/runtime/memory.h>
#include <executorch/backends/xnnpack/runtime/weights/weight_pages.h>
#include <executorch/extension/memory_allocator/large_pages.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#if defined(EXECUTORCH_XNNPACK_MAPS_PAGES)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace executorch::backends::xnnpack {

#if defined(EXECUTORCH_XNNPACK_MAPS_PAGES)

namespace {

constexpr size_t kRegion = size_t{1} << 28;
/// Weights up to this much lie in ordinary pages: a large page is resident as a whole.
constexpr size_t kOrdinary = size_t{1} << 24;

size_t divide_up(size_t size, size_t unit) {
  return (size + unit - 1) / unit;
}

size_t round_up(size_t size, size_t unit) {
  return divide_up(size, unit) * unit;
}

using extension::kLargePage;
using Clock = std::chrono::steady_clock;
/// What one region's large pages may take beyond what ordinary ones would.
constexpr Clock::duration kPatience = std::chrono::milliseconds(20);

struct Region {
  size_t size = 0, used = 0;
  std::map<uint8_t*, size_t> blocks;  // their sizes
  bool is_large = false;
  Patience patience{kPatience.count()};
};

struct Regions {
  std::mutex mutex;
  std::map<uint8_t*, Region> by_begin;
  uint8_t* newest = nullptr;  // a key of by_begin, or null
  size_t live_bytes = 0;
};

/// Never destroyed, as the store of packed weights.
Regions& regions() {
  static Regions& instance = *new Regions();
  return instance;
}

/// Address space that begins at a large page; null without.
uint8_t* map_region(size_t size) {
  const size_t total = size + kLargePage;
  void* const pages =
      ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return nullptr;
  }
  auto* const first = static_cast<uint8_t*>(pages);
  const size_t before =
      round_up(reinterpret_cast<uintptr_t>(first), kLargePage) - reinterpret_cast<uintptr_t>(first);
  if (before != 0) {
    static_cast<void>(::munmap(first, before));
  }
  if (before != kLargePage) {
    static_cast<void>(::munmap(first + before + size, kLargePage - before));
  }
  return first + before;
}

/// One for `size` bytes and for others after them; null without memory.
uint8_t* add_region(Regions& all, size_t size) {
  const bool is_large = all.live_bytes + size > kOrdinary;
  size_t total = round_up(std::max(size, is_large ? kRegion : kOrdinary), kLargePage);
  uint8_t* begin = map_region(total);
  if (begin == nullptr) {
    total = round_up(size, kLargePage);
    begin = map_region(total);
  }
  if (begin == nullptr) {
    return nullptr;
  }
#if defined(MADV_HUGEPAGE)
  if (is_large) {
    static_cast<void>(::madvise(begin, total, MADV_HUGEPAGE));
  }
#endif
  Region& region = all.by_begin[begin];
  region.size = total;
  region.is_large = is_large;
  return all.newest = begin;
}

#if defined(MADV_HUGEPAGE)

/// Of 512 ordinary pages. A large page takes 0.15 ms, but 5 ms where the system moves memory
/// together for it first, or a virtual machine's host has to find it.
constexpr Clock::duration kOrdinary512 = std::chrono::milliseconds(1);

/// Writes to a page, so that it is there.
void touch(uint8_t* page) {
  *static_cast<volatile uint8_t*>(page) = 0;
}

/// A large page, where there is patience for it.
bool touch_large(uint8_t* page, Patience& patience) {
  if (patience.load() <= 0) {
    return false;
  }
  const auto start = Clock::now();
  touch(page);
  patience += (kOrdinary512 - (Clock::now() - start)).count();
  return true;
}

/// Ordinary pages for a large one's range, as far as the `size` bytes from its begin on go: what
/// lies behind them is another block's.
void touch_ordinary(uint8_t* large, size_t size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  static_cast<void>(::madvise(large, kLargePage, MADV_NOHUGEPAGE));
  for (size_t i = 0; i < std::min(size, kLargePage); i += page) {
    touch(large + i);
  }
  static_cast<void>(::madvise(large, kLargePage, MADV_HUGEPAGE));
}

#endif

/// Hands back the pages that only this block lies in.
void forget(uint8_t* block, size_t size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(block);
  const size_t before = round_up(begin, page) - begin;
  const size_t after = (begin + size) % page;
  if (size > before + after) {
    static_cast<void>(::madvise(block + before, size - before - after, MADV_DONTNEED));
  }
}

}  // namespace

std::vector<uint8_t*> touch_large_pages(uint8_t* begin, size_t size, Patience& patience,
                                        pthreadpool_t pool) {
  std::vector<uint8_t*> ordinary;
#if defined(MADV_HUGEPAGE)
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const size_t before = round_up(address, kLargePage) - address;
  if (before >= size) {
    return ordinary;
  }
  ordinary.resize(divide_up(size - before, kLargePage));
  struct Task {
    uint8_t* first;
    size_t size;
    Patience& patience;
    std::vector<uint8_t*>& ordinary;  // null for large ones
  } task{begin + before, size - before, patience, ordinary};
  const auto run = [](void* context, size_t place) {
    const Task& task = *static_cast<Task*>(context);
    uint8_t* const page = task.first + place * kLargePage;
    if (!touch_large(page, task.patience)) {
      touch_ordinary(page, task.size - place * kLargePage);
      task.ordinary[place] = page;
    }
  };
  pthreadpool_parallelize_1d(pool, run, &task, ordinary.size(), 0);
  ordinary.erase(std::remove(ordinary.begin(), ordinary.end(), nullptr), ordinary.end());
#else
  static_cast<void>(begin), static_cast<void>(size), static_cast<void>(patience);
  static_cast<void>(pool);
#endif
  return ordinary;
}

void* allocate_weights(size_t size, pthreadpool_t pool) {
  if (size > SIZE_MAX - 2 * kLargePage) {
    return nullptr;
  }
  const size_t total = std::max(round_up(size, kBlockAlignment), kBlockAlignment);
  Regions& all = regions();
  std::unique_lock<std::mutex> lock(all.mutex);
  uint8_t* begin = all.newest;
  if (begin == nullptr || all.by_begin[begin].size - all.by_begin[begin].used < total) {
    begin = add_region(all, total);
  }
  if (begin == nullptr) {
    return nullptr;
  }
  Region& region = all.by_begin[begin];
  uint8_t* const block = begin + region.used;
  region.used += total;
  region.blocks[block] = total;
  all.live_bytes += total;
  lock.unlock();
  if (region.is_large) {  // the block keeps it
    for (uint8_t* const page : touch_large_pages(block, total, region.patience, pool)) {
      extension::want_large_pages(page, kLargePage);
    }
  }
  return block;
}

void free_weights(void* block) {
  if (block == nullptr) {
    return;
  }
  Regions& all = regions();
  const std::lock_guard<std::mutex> lock(all.mutex);
  auto* const at = static_cast<uint8_t*>(block);
  const auto found = std::prev(all.by_begin.upper_bound(at));
  Region& region = found->second;
  const auto size = region.blocks.find(at);
  extension::forget_large_pages(at, size->second);
  all.live_bytes -= size->second;
  if (region.blocks.size() > 1) {
    forget(at, size->second);
    region.blocks.erase(size);
    return;
  }
  static_cast<void>(::munmap(found->first, region.size));
  if (all.newest == found->first) {
    all.newest = nullptr;
  }
  all.by_begin.erase(found);
}

#else

std::vector<uint8_t*> touch_large_pages(uint8_t*, size_t, Patience&, pthreadpool_t) {
  return {};
}

void* allocate_weights(size_t size, pthreadpool_t) {
  void* const block = allocate_block(size);
  return block == nullptr ? nullptr : std::memset(block, 0, size);
}

void free_weights(void* block) {
  free_block(block);
}

#endif

}  // namespace executorch::backends::xnnpack
