// SPDX-License-Identifier: BSD-3-Clause
// Buffers of the device.
#pragma once

#include <executorch/backends/vulkan/runtime/api/device.h>

#include <cstddef>
#include <utility>

namespace executorch::backends::vulkan {

enum class MemoryKind {
  /// The device's own; the host may see it, too.
  kDevice,
  /// The host reads and writes it.
  kHost,
};

/// Owns a buffer with memory of its own. Movable; empty when it was made of nothing. The device
/// must outlive it.
class Buffer final {
 public:
  /// Of at least one byte. MemoryAllocationFailed, with the sizes in the log, when the device does
  /// not give that much at once.
  static runtime::Result<Buffer> create(const Device& device, uint64_t num_bytes, MemoryKind kind);

  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  VkBuffer handle() const { return buffer_; }
  uint64_t num_bytes() const { return num_bytes_; }
  /// Where the host sees it; null when it does not. Coherent.
  uint8_t* mapped() const { return mapped_; }

 private:
  void swap(Buffer& other) {
    std::swap(device_, other.device_);
    std::swap(buffer_, other.buffer_);
    std::swap(memory_, other.memory_);
    std::swap(mapped_, other.mapped_);
    std::swap(num_bytes_, other.num_bytes_);
  }
  ET_NODISCARD runtime::Error allocate(MemoryKind kind);
  void release();

  const Device* device_ = nullptr;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  uint8_t* mapped_ = nullptr;
  uint64_t num_bytes_ = 0;
};

}  // namespace executorch::backends::vulkan
