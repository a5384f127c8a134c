// SPDX-License-Identifier: BSD-3-Clause
// Where storages are: each gets a buffer's number and a place in it.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/graph.h>

#include <vector>

namespace executorch::backends::vulkan {

/// Numbers of buffers: what calls share, what the host sees, and from then on constants.
constexpr uint32_t kSharedBuffer = 0;
constexpr uint32_t kHostBuffer = 1;
constexpr uint32_t kFirstConstantBuffer = 2;

/// Places all storages at multiples of `alignment`: those of calls, by their size, so that no two
/// that are in use at the same time overlap (none at all where `is_sharing` is false); others one
/// behind the other, constants in buffers of at most `max_constants` bytes each. Returns the bytes
/// of each buffer.
std::vector<uint64_t> plan_memory(std::vector<Storage>& storages, uint64_t alignment,
                                  uint64_t max_constants, bool is_sharing);

}  // namespace executorch::backends::vulkan
