// SPDX-License-Identifier: BSD-3-Clause
// DeviceMemoryBuffer: a piece of device memory that is given back on destruction.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch {
namespace runtime {

/// Movable; a moved-from buffer is empty. The host may not be able to read the memory.
class DeviceMemoryBuffer final {
 public:
  /// NotFound when no allocator is registered for `type`; else the allocator's error.
  static Result<DeviceMemoryBuffer> create(size_t size, etensor::DeviceType type,
                                           etensor::DeviceIndex index = 0,
                                           size_t alignment = DeviceAllocator::kDefaultAlignment);

  DeviceMemoryBuffer() = default;
  DeviceMemoryBuffer(DeviceMemoryBuffer&& other) noexcept;
  DeviceMemoryBuffer& operator=(DeviceMemoryBuffer&& other) noexcept;
  DeviceMemoryBuffer(const DeviceMemoryBuffer&) = delete;
  DeviceMemoryBuffer& operator=(const DeviceMemoryBuffer&) = delete;
  ~DeviceMemoryBuffer();

  void* data() const { return data_; }
  size_t size() const { return size_; }
  Span<uint8_t> as_span() const { return {static_cast<uint8_t*>(data_), size_}; }

 private:
  DeviceMemoryBuffer(void* data, size_t size, DeviceAllocator* allocator,
                     etensor::DeviceIndex index)
      : data_(data), size_(size), allocator_(allocator), index_(index) {}
  void swap(DeviceMemoryBuffer& other) noexcept;

  void* data_ = nullptr;
  size_t size_ = 0;
  DeviceAllocator* allocator_ = nullptr;
  etensor::DeviceIndex index_ = 0;
};

}  // namespace runtime
}  // namespace executorch
