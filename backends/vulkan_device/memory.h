// SPDX-License-Identifier: BSD-3-Clause
// Memory of the device, and buffers in it.
#pragma once

#include <executorch/backends/vulkan_device/device.h>
#include <executorch/backends/vulkan_device/owned.h>

#include <cstddef>

namespace executorch::backends::vulkan {

enum class MemoryKind {
  /// The device's own; the host may see it, too.
  kDevice,
  /// The host reads and writes it.
  kHost,
  /// The device's own that the host sees; where there is none, the host's.
  kShared,
};

/// Movable; empty when it was made of nothing. The device must outlive it.
class Memory final {
 public:
  /// MemoryAllocationFailed, with the sizes in the log, when the device does not give that much at
  /// once.
  static runtime::Result<Memory> allocate(const Device& device, const VkMemoryRequirements& needed,
                                          MemoryKind kind);

  VkDeviceMemory handle() const { return memory_.get(); }
  /// Where the host sees it; null when it does not. Coherent.
  uint8_t* mapped() const { return mapped_; }

 private:
  Owned<VkDeviceMemory> memory_;  // freeing unmaps
  uint8_t* mapped_ = nullptr;
};

/// Owns a buffer with memory of its own. Movable; empty when it was made of nothing. The device
/// must outlive it.
class Buffer final {
 public:
  /// Of at least one byte. Errors: as Memory::allocate().
  static runtime::Result<Buffer> create(const Device& device, uint64_t num_bytes, MemoryKind kind);

  VkBuffer handle() const { return buffer_.get(); }
  uint64_t num_bytes() const { return num_bytes_; }
  /// Where the host sees it; null when it does not. Coherent.
  uint8_t* mapped() const { return memory_.mapped(); }

 private:
  Memory memory_;
  Owned<VkBuffer> buffer_;  // destroyed first
  uint64_t num_bytes_ = 0;
};

}  // namespace executorch::backends::vulkan
