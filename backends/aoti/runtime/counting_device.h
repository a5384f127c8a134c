// SPDX-License-Identifier: BSD-3-Clause
// For tests: a device whose memory is the host's, and which counts.
#pragma once

#include <executorch/backends/aoti/runtime/device.h>

#include <cstdlib>
#include <cstring>

namespace executorch::backends::aoti {

/// In the place of a GPU.
class CountingDevice final : public Device {
 public:
  /// The one of the process, which has one per kind of device.
  static CountingDevice& registered() {
    static CountingDevice device;
    register_device(&device);
    return device;
  }

  const char* name() const override { return "cuda"; }
  DeviceType device_type() const override { return DeviceType::CUDA; }

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
    return copied(to, from, nbytes, to_host_or_back);
  }
  runtime::Error copy_device_to_host(void* to, const void* from, size_t nbytes,
                                     DeviceIndex) override {
    return copied(to, from, nbytes, to_host_or_back);
  }
  runtime::Error copy_within(void* to, const void* from, size_t nbytes, DeviceIndex) override {
    return copied(to, from, nbytes, within);
  }

  int live = 0, to_host_or_back = 0, within = 0;

 private:
  static runtime::Error copied(void* to, const void* from, size_t nbytes, int& count) {
    ++count;
    std::memcpy(to, from, nbytes);
    return runtime::Error::Ok;
  }
};

}  // namespace executorch::backends::aoti
