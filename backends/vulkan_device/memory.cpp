// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan_device/memory.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cinttypes>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

constexpr VkMemoryPropertyFlags kVisible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

struct Flags {
  VkMemoryPropertyFlags needed;
  VkMemoryPropertyFlags wanted;
};

Flags flags_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kHost:
      return {kVisible, VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
    case MemoryKind::kShared:
      return {kVisible, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    default:
      return {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, kVisible};
  }
}

Error check_size(const Device& device, uint64_t num_bytes) {
  ET_CHECK_OR_RETURN_ERROR(num_bytes <= device.max_allocation, MemoryAllocationFailed,
                           "Vulkan: %" PRIu64 " bytes at once, %s gives at most %" PRIu64,
                           num_bytes, device.properties.deviceName, device.max_allocation);
  return Error::Ok;
}

}  // namespace

Result<Memory> Memory::allocate(const Device& device, const VkMemoryRequirements& needed,
                                MemoryKind kind) {
  const Api& api = device.api;
  const Flags flags = flags_of(kind);
  ET_CHECK_OK_OR_RETURN_ERROR(check_size(device, needed.size));
  const uint32_t type =
      ET_UNWRAP(device.find_memory_type(needed.memoryTypeBits, flags.needed, flags.wanted));
  const VkMemoryType& chosen = device.memory.memoryTypes[type];
  const auto heap = static_cast<uint64_t>(device.memory.memoryHeaps[chosen.heapIndex].size);
  ET_CHECK_OR_RETURN_ERROR(needed.size <= heap, MemoryAllocationFailed,
                           "Vulkan: %" PRIu64 " bytes, the heap of %s has %" PRIu64,
                           static_cast<uint64_t>(needed.size), device.properties.deviceName, heap);
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = needed.size;
  info.memoryTypeIndex = type;
  Memory memory;
  ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(device.handle, info, api.vkAllocateMemory,
                                             api.vkFreeMemory, "allocating memory",
                                             memory.memory_));
  if ((chosen.propertyFlags & kVisible) == kVisible) {
    void* place = nullptr;
    ET_CHECK_OK_OR_RETURN_ERROR(
        check(api.vkMapMemory(device.handle, memory.handle(), 0, VK_WHOLE_SIZE, 0, &place),
              "mapping memory"));
    memory.mapped_ = static_cast<uint8_t*>(place);
  }
  return memory;
}

Result<Buffer> Buffer::create(const Device& device, uint64_t num_bytes, MemoryKind kind) {
  const Api& api = device.api;
  ET_CHECK_OK_OR_RETURN_ERROR(check_size(device, num_bytes));
  Buffer buffer;
  buffer.num_bytes_ = std::max<uint64_t>(num_bytes, 16);
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = buffer.num_bytes_;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(device.handle, info, api.vkCreateBuffer,
                                             api.vkDestroyBuffer, "creating a buffer",
                                             buffer.buffer_));
  VkMemoryRequirements needed{};
  api.vkGetBufferMemoryRequirements(device.handle, buffer.handle(), &needed);
  buffer.memory_ = ET_UNWRAP(Memory::allocate(device, needed, kind));
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkBindBufferMemory(device.handle, buffer.handle(), buffer.memory_.handle(), 0),
            "binding memory"));
  return buffer;
}

}  // namespace executorch::backends::vulkan
