// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/device.h>

#include <cstdlib>
#include <cstring>

namespace executorch::backends::aoti {

using runtime::Error;
using runtime::Result;

namespace {

// What vector instructions of compiled code want.
constexpr size_t kAlignment = 64;

class Host final : public Device {
 public:
  const char* name() const override { return "cpu"; }
  DeviceType device_type() const override { return DeviceType::CPU; }

  Result<void*> allocate(size_t nbytes, DeviceIndex, size_t) override {
    const size_t rounded = (nbytes / kAlignment + 1) * kAlignment;
    void* data = rounded < nbytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
    ET_CHECK_OR_RETURN_ERROR(data != nullptr, MemoryAllocationFailed,
                             "AOTInductor: no memory for %zu bytes", nbytes);
    return data;
  }
  void deallocate(void* ptr, DeviceIndex) override { std::free(ptr); }
  Error copy_host_to_device(void* dst, const void* src, size_t nbytes, DeviceIndex) override {
    return move(dst, src, nbytes);
  }
  Error copy_device_to_host(void* dst, const void* src, size_t nbytes, DeviceIndex) override {
    return move(dst, src, nbytes);
  }
  Error copy_within(void* dst, const void* src, size_t nbytes, DeviceIndex) override {
    return move(dst, src, nbytes);
  }

 private:
  static Error move(void* dst, const void* src, size_t nbytes) {
    std::memmove(dst, src, nbytes);
    return Error::Ok;
  }
};

/// Filled before the first use, as the registry of allocators is.
Device** devices() {
  static Host host;
  static Device* all[runtime::etensor::kNumDeviceTypes] = {&host};
  return all;
}

}  // namespace

Result<Device*> find_device(DeviceType type) {
  const auto index = static_cast<size_t>(type);
  Device* found = index < runtime::etensor::kNumDeviceTypes ? devices()[index] : nullptr;
  ET_CHECK_OR_RETURN_ERROR(found != nullptr, NotFound,
                           "AOTInductor: no backend for device type %zu is here: link the one of "
                           "this device",
                           index);
  return found;
}

void register_device(Device* device) {
  runtime::register_device_allocator(device);
  devices()[static_cast<size_t>(device->device_type())] = device;
}

}  // namespace executorch::backends::aoti
