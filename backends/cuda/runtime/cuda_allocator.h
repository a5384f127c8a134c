// SPDX-License-Identifier: BSD-3-Clause
// CudaAllocator: memory of NVIDIA's GPUs, for arenas and copies of the runtime and for tensors of
// compiled methods.
#pragma once

#include <executorch/backends/aoti/runtime/device.h>
#include <executorch/backends/cuda/runtime/cuda_library.h>

namespace executorch::backends::cuda {

/// Of the library that cuda_library() finds, at its first use. Copies are done when they return;
/// those within the device are queued. Work of a thread outside of methods goes to CUDA's default
/// stream. Any thread.
class CudaAllocator final : public aoti::Device {
 public:
  using DeviceIndex = aoti::DeviceIndex;

  /// The one of the process.
  static CudaAllocator& instance();

  const char* name() const override { return "cuda"; }
  aoti::DeviceType device_type() const override { return aoti::DeviceType::CUDA; }

  runtime::Result<void*> allocate(size_t nbytes, DeviceIndex index,
                                  size_t alignment = kDefaultAlignment) override;
  void deallocate(void* ptr, DeviceIndex index) override;
  runtime::Error copy_host_to_device(void* dst, const void* src, size_t nbytes,
                                     DeviceIndex index) override;
  runtime::Error copy_device_to_host(void* dst, const void* src, size_t nbytes,
                                     DeviceIndex index) override;

  runtime::Result<void*> allocate_queued(size_t nbytes, DeviceIndex index) override;
  void deallocate_queued(void* ptr, DeviceIndex index) override;
  runtime::Error copy_within(void* dst, const void* src, size_t nbytes, DeviceIndex index) override;
  runtime::Error check_memory(const void* ptr, DeviceIndex index) override;

 private:
  CudaAllocator() = default;
};

}  // namespace executorch::backends::cuda
