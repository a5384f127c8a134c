// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/cuda/runtime/cuda_allocator.h>
#include <executorch/backends/cuda/runtime/cuda_stream.h>

#include <string>

namespace executorch::backends::cuda {

using runtime::Error;
using runtime::Result;

namespace {

std::string bytes_text(size_t nbytes, int device) {
  return std::to_string(nbytes) + " bytes on cuda:" + std::to_string(device);
}

cudaStream_t stream_or_default() {
  return current_stream().value_or(nullptr);
}

Error copy(void* dst, const void* src, size_t nbytes, int kind, int device, bool waits) {
  if (nbytes == 0) {
    return Error::Ok;
  }
  const CudaApi& api = *ET_UNWRAP(cuda_library());
  const DeviceScope scope = ET_UNWRAP(DeviceScope::enter(api, device));
  const cudaStream_t stream = stream_or_default();
  ET_CHECK_OK_OR_RETURN_ERROR(check_cuda(api, api.cudaMemcpyAsync(dst, src, nbytes, kind, stream),
                                         "cudaMemcpyAsync", bytes_text(nbytes, device)));
  return waits ? check_cuda(api, api.cudaStreamSynchronize(stream), "cudaStreamSynchronize")
               : Error::Ok;
}

/// cudaMalloc gives null for no bytes, which is no error.
constexpr size_t at_least_one(size_t nbytes) {
  return nbytes == 0 ? 1 : nbytes;
}

}  // namespace

CudaAllocator& CudaAllocator::instance() {
  static CudaAllocator allocator;
  return allocator;
}

Result<void*> CudaAllocator::allocate(size_t nbytes, DeviceIndex index, size_t alignment) {
  // CUDA aligns to 256 bytes.
  ET_CHECK_OR_RETURN_ERROR(alignment <= 256, NotSupported,
                           "CudaBackend: memory aligned to %zu bytes: CUDA aligns to 256",
                           alignment);
  const CudaApi& api = *ET_UNWRAP(cuda_library());
  const DeviceScope scope = ET_UNWRAP(DeviceScope::enter(api, index));
  void* made = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check_cuda(api, api.cudaMalloc(&made, at_least_one(nbytes)),
                                         "cudaMalloc", bytes_text(nbytes, index)));
  return made;
}

void CudaAllocator::deallocate(void* ptr, DeviceIndex index) {
  if (ptr == nullptr) {
    return;
  }
  const auto api = cuda_library();
  if (api.ok()) {
    const auto scope = DeviceScope::enter(**api, index);
    (void)check_cuda(**api, (*api)->cudaFree(ptr), "cudaFree");
  }
}

Error CudaAllocator::copy_host_to_device(void* dst, const void* src, size_t nbytes,
                                         DeviceIndex index) {
  return copy(dst, src, nbytes, kCudaCopyToDevice, index, /*waits=*/true);
}

Error CudaAllocator::copy_device_to_host(void* dst, const void* src, size_t nbytes,
                                         DeviceIndex index) {
  return copy(dst, src, nbytes, kCudaCopyToHost, index, /*waits=*/true);
}

Error CudaAllocator::copy_within(void* dst, const void* src, size_t nbytes, DeviceIndex index) {
  return copy(dst, src, nbytes, kCudaCopyWithin, index, /*waits=*/false);
}

Result<void*> CudaAllocator::allocate_queued(size_t nbytes, DeviceIndex index) {
  if (!current_stream().has_value()) {
    return allocate(nbytes, index);
  }
  const CudaApi& api = *ET_UNWRAP(cuda_library());
  const DeviceScope scope = ET_UNWRAP(DeviceScope::enter(api, index));
  void* made = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_cuda(api, api.cudaMallocAsync(&made, at_least_one(nbytes), *current_stream()),
                 "cudaMallocAsync", bytes_text(nbytes, index)));
  return made;
}

void CudaAllocator::deallocate_queued(void* ptr, DeviceIndex index) {
  // cudaFree takes memory of either kind, and waits for all that may use it; cudaFreeAsync takes
  // that of cudaMallocAsync alone. What outlives its method's call is given back outside of any.
  if (!current_stream().has_value()) {
    return deallocate(ptr, index);
  }
  const auto api = cuda_library();
  if (ptr != nullptr && api.ok()) {
    const auto scope = DeviceScope::enter(**api, index);
    (void)check_cuda(**api, (*api)->cudaFreeAsync(ptr, *current_stream()), "cudaFreeAsync");
  }
}

Error CudaAllocator::check_memory(const void* ptr, DeviceIndex index) {
  const CudaApi& api = *ET_UNWRAP(cuda_library());
  CudaPointer found;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_cuda(api, api.cudaPointerGetAttributes(&found, ptr), "cudaPointerGetAttributes"));
  ET_CHECK_OR_RETURN_ERROR(
      found.type == kCudaMemoryManaged ||
          (found.type == kCudaMemoryDevice && found.device == index),
      InvalidArgument,
      "CudaBackend: expected memory of cuda:%d, found %s: give tensors of the host to methods "
      "whose program copies them (PropagateDeviceConfig), or copy them (clone_tensor_ptr_to)",
      index, found.type == kCudaMemoryDevice ? "another GPU's" : "the host's");
  return Error::Ok;
}

}  // namespace executorch::backends::cuda
