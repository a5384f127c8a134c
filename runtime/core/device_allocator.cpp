// SPDX-License-Identifier: BSD-3-Clause
// The registry of device allocators.
#include <executorch/runtime/core/device_allocator.h>

#include <executorch/runtime/platform/assert.h>

namespace executorch {
namespace runtime {

DeviceAllocatorRegistry& DeviceAllocatorRegistry::instance() {
  // Constant-initialized: no guard, usable from global constructors.
  static DeviceAllocatorRegistry registry;
  return registry;
}

void DeviceAllocatorRegistry::register_allocator(DeviceAllocator* alloc) {
  ET_CHECK_MSG(alloc != nullptr, "no allocator");
  const size_t index = static_cast<size_t>(alloc->device_type());
  ET_CHECK_MSG(index < etensor::kNumDeviceTypes, "device type %zu is unknown", index);
  ET_CHECK_MSG(allocators_[index] == nullptr || allocators_[index] == alloc,
               "device type %zu has another allocator already", index);
  allocators_[index] = alloc;
}

DeviceAllocator* DeviceAllocatorRegistry::get_allocator(etensor::DeviceType type) {
  const size_t index = static_cast<size_t>(type);
  return index < etensor::kNumDeviceTypes ? allocators_[index] : nullptr;
}

void register_device_allocator(DeviceAllocator* alloc) {
  DeviceAllocatorRegistry::instance().register_allocator(alloc);
}

DeviceAllocator* get_device_allocator(etensor::DeviceType type) {
  return DeviceAllocatorRegistry::instance().get_allocator(type);
}

}  // namespace runtime
}  // namespace executorch
