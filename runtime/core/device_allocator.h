// SPDX-License-Identifier: BSD-3-Clause
// DeviceAllocator: memory of a device other than the CPU, one allocator per kind of device.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Thread-safe, by contract of every implementation.
class DeviceAllocator {
 public:
  static constexpr size_t kDefaultAlignment = alignof(void*);

  virtual ~DeviceAllocator() = default;

  /// `nbytes` bytes of device `index`, to be given back by deallocate(). MemoryAllocationFailed
  /// when there are not.
  virtual Result<void*> allocate(size_t nbytes, etensor::DeviceIndex index,
                                 size_t alignment = kDefaultAlignment) = 0;
  virtual void deallocate(void* ptr, etensor::DeviceIndex index) = 0;

  virtual Error copy_host_to_device(void* dst, const void* src, size_t nbytes,
                                    etensor::DeviceIndex index) = 0;
  virtual Error copy_device_to_host(void* dst, const void* src, size_t nbytes,
                                    etensor::DeviceIndex index) = 0;

  virtual etensor::DeviceType device_type() const = 0;
};

/// The allocators of the program. Register before the first use; not thread-safe against
/// registration.
class DeviceAllocatorRegistry {
 public:
  static DeviceAllocatorRegistry& instance();

  /// Not owned. At most one per kind of device: another one is a programmer error.
  void register_allocator(DeviceAllocator* alloc);
  /// Null when there is none.
  DeviceAllocator* get_allocator(etensor::DeviceType type);

 private:
  constexpr DeviceAllocatorRegistry() = default;

  DeviceAllocator* allocators_[etensor::kNumDeviceTypes] = {};
};

/// The same on the one registry.
void register_device_allocator(DeviceAllocator* alloc);
DeviceAllocator* get_device_allocator(etensor::DeviceType type);

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::DeviceAllocator;
using ::executorch::runtime::DeviceAllocatorRegistry;
using ::executorch::runtime::get_device_allocator;
using ::executorch::runtime::register_device_allocator;
}  // namespace torch::executor
