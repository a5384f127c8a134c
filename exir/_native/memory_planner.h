// SPDX-License-Identifier: BSD-3-Clause
// Places of tensors in one arena: tensors that live at the same time never overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace executorch::exir {

/// A tensor to place: `size` bytes, alive from step `first` to step `last`, both included.
struct Lifetime {
  uint64_t size;
  int64_t first;
  int64_t last;
};

struct ArenaPlan {
  std::vector<uint64_t> offsets;  // one per tensor, multiples of the alignment
  std::vector<int64_t>
      objects;        // tensors with the same number were given the same stretch of the arena
  uint64_t size = 0;  // bytes of the arena
};

/// The largest sum of sizes (rounded up to `alignment`) alive at one step: no plan needs fewer
/// bytes.
uint64_t lower_bound(const std::vector<Lifetime>& tensors, uint64_t alignment);

/// The smallest of several greedy plans. `share_stretches`: a stretch may hold several small
/// tensors side by side; when false every tensor lies at the start of its stretch. Throws
/// std::invalid_argument on alignment 0, on last < first and when sizes add up to more than 2^63.
ArenaPlan plan_arena(const std::vector<Lifetime>& tensors, uint64_t alignment,
                     bool share_stretches);

/// One tensor after the other, no reuse: the upper bound.
ArenaPlan plan_linear(const std::vector<Lifetime>& tensors, uint64_t alignment);

}  // namespace executorch::exir
