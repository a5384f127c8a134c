// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/api/memory.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cinttypes>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

Result<Buffer> Buffer::create(const Device& device, uint64_t num_bytes, MemoryKind kind) {
  ET_CHECK_OR_RETURN_ERROR(num_bytes <= device.max_allocation, MemoryAllocationFailed,
                           "Vulkan: %" PRIu64 " bytes at once, %s gives at most %" PRIu64,
                           num_bytes, device.properties.deviceName, device.max_allocation);
  Buffer buffer;
  buffer.device_ = &device;
  buffer.num_bytes_ = std::max<uint64_t>(num_bytes, 16);
  ET_CHECK_OK_OR_RETURN_ERROR(buffer.allocate(kind));
  return buffer;
}

Error Buffer::allocate(MemoryKind kind) {
  const Api& api = device_->api;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = num_bytes_;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkCreateBuffer(device_->handle, &info, nullptr, &buffer_), "creating a buffer"));
  VkMemoryRequirements needed{};
  api.vkGetBufferMemoryRequirements(device_->handle, buffer_, &needed);
  constexpr VkMemoryPropertyFlags kVisible =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const bool is_host = kind == MemoryKind::kHost;
  constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  const uint32_t type = ET_UNWRAP(device_->find_memory_type(
      needed.memoryTypeBits, is_host ? kVisible : kLocal, is_host ? kCached : kVisible));
  const VkMemoryType& chosen = device_->memory.memoryTypes[type];
  ET_CHECK_OR_RETURN_ERROR(
      needed.size <= device_->memory.memoryHeaps[chosen.heapIndex].size, MemoryAllocationFailed,
      "Vulkan: %" PRIu64 " bytes, the heap of %s has %" PRIu64, static_cast<uint64_t>(needed.size),
      device_->properties.deviceName,
      static_cast<uint64_t>(device_->memory.memoryHeaps[chosen.heapIndex].size));
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needed.size;
  allocation.memoryTypeIndex = type;
  ET_CHECK_OK_OR_RETURN_ERROR(check(
      api.vkAllocateMemory(device_->handle, &allocation, nullptr, &memory_), "allocating memory"));
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkBindBufferMemory(device_->handle, buffer_, memory_, 0), "binding memory"));
  if ((chosen.propertyFlags & kVisible) == kVisible) {
    void* place = nullptr;
    ET_CHECK_OK_OR_RETURN_ERROR(check(
        api.vkMapMemory(device_->handle, memory_, 0, VK_WHOLE_SIZE, 0, &place), "mapping memory"));
    mapped_ = static_cast<uint8_t*>(place);
  }
  return Error::Ok;
}

void Buffer::release() {
  if (device_ == nullptr) {
    return;
  }
  device_->api.vkDestroyBuffer(device_->handle, buffer_, nullptr);
  device_->api.vkFreeMemory(device_->handle, memory_, nullptr);  // unmaps
  device_ = nullptr;
}

}  // namespace executorch::backends::vulkan
