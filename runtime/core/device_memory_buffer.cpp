// SPDX-License-Identifier: BSD-3-Clause
// Ownership of device memory.
#include <executorch/runtime/core/device_memory_buffer.h>

#include <utility>

namespace executorch {
namespace runtime {

Result<DeviceMemoryBuffer> DeviceMemoryBuffer::create(size_t size, etensor::DeviceType type,
                                                      etensor::DeviceIndex index,
                                                      size_t alignment) {
  DeviceAllocator* const allocator = get_device_allocator(type);
  ET_CHECK_OR_RETURN_ERROR(allocator != nullptr, NotFound,
                           "no allocator is registered for device type %d%s: link the backend of "
                           "that device, which brings one",
                           static_cast<int>(type),
                           type == etensor::DeviceType::CUDA ? " (CUDA)" : "");
  const auto data = allocator->allocate(size, index, alignment);
  if (!data.ok()) {
    return data.error();
  }
  return DeviceMemoryBuffer(*data, size, allocator, index);
}

DeviceMemoryBuffer::DeviceMemoryBuffer(DeviceMemoryBuffer&& other) noexcept {
  swap(other);
}

DeviceMemoryBuffer& DeviceMemoryBuffer::operator=(DeviceMemoryBuffer&& other) noexcept {
  DeviceMemoryBuffer taken(std::move(other));
  swap(taken);
  return *this;
}

DeviceMemoryBuffer::~DeviceMemoryBuffer() {
  if (data_ != nullptr) {
    allocator_->deallocate(data_, index_);
  }
}

void DeviceMemoryBuffer::swap(DeviceMemoryBuffer& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(allocator_, other.allocator_);
  std::swap(index_, other.index_);
}

}  // namespace runtime
}  // namespace executorch
