// SPDX-License-Identifier: BSD-3-Clause
// For tests: memory of a device that is the host's.
#pragma once

#include <executorch/backends/aoti/runtime/slim_tensor.h>
#include <executorch/runtime/core/device_allocator.h>

#include <cstdlib>
#include <cstring>

namespace executorch::backends::aoti {

/// Memory of "CUDA" on the host, which counts.
class HostAllocator final : public runtime::DeviceAllocator {
 public:
  /// The one of the process, which has one per kind of device.
  static HostAllocator& registered() {
    static HostAllocator allocator;
    runtime::register_device_allocator(&allocator);
    return allocator;
  }

  runtime::Result<void*> allocate(size_t nbytes, DeviceIndex, size_t) override {
    if (nbytes > 1024) {
      return runtime::Error::MemoryAllocationFailed;
    }
    ++live;
    return std::malloc(nbytes);
  }
  void deallocate(void* data, DeviceIndex) override {
    --live;
    std::free(data);
  }
  runtime::Error copy_host_to_device(void* to, const void* from, size_t nbytes,
                                     DeviceIndex) override {
    ++copies;
    std::memcpy(to, from, nbytes);
    return runtime::Error::Ok;
  }
  runtime::Error copy_device_to_host(void* to, const void* from, size_t nbytes,
                                     DeviceIndex) override {
    ++copies;
    std::memcpy(to, from, nbytes);
    return runtime::Error::Ok;
  }
  DeviceType device_type() const override { return DeviceType::CUDA; }

  int live = 0, copies = 0;
};

}  // namespace executorch::backends::aoti
