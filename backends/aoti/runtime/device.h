// SPDX-License-Identifier: BSD-3-Clause
// Device: what tensors, shims and delegates ask of the device that their memory is of. The host is
// one; a backend brings another by register_device().
#pragma once

#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

#include <cstddef>

namespace executorch::backends::aoti {

using runtime::etensor::DeviceIndex;
using runtime::etensor::DeviceType;

struct Place {
  DeviceType type = DeviceType::CPU;
  DeviceIndex index = 0;
};

/// One object for each kind of device. Any thread.
class Device : public runtime::DeviceAllocator {
 public:
  /// As AOTInductor calls it: "cpu", "cuda".
  virtual const char* name() const = 0;

  /// Memory for what the calling thread queues next, and given back behind what it queued.
  virtual runtime::Result<void*> allocate_queued(size_t nbytes, DeviceIndex index) {
    return allocate(nbytes, index, kDefaultAlignment);
  }
  virtual void deallocate_queued(void* ptr, DeviceIndex index) { deallocate(ptr, index); }
  /// Between two pieces of its memory, behind what the calling thread queued.
  virtual runtime::Error copy_within(void* dst, const void* src, size_t nbytes,
                                     DeviceIndex index) = 0;
  /// InvalidArgument for a pointer that compiled code on this device cannot follow.
  virtual runtime::Error check_memory(const void*, DeviceIndex) { return runtime::Error::Ok; }
};

/// That of a kind. NotFound, with what to link in the log, where no backend brought one.
runtime::Result<Device*> find_device(DeviceType type);

/// Brings `device`, which lives to the end of the process, and its memory for all of the runtime.
/// Again without effect; another one of the same kind is a programmer error.
void register_device(Device* device);

}  // namespace executorch::backends::aoti
