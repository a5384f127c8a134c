// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/cuda/runtime/cuda_stream.h>

#include <map>
#include <mutex>
#include <new>

namespace executorch::backends::cuda {

using runtime::Error;
using runtime::Result;

namespace {

thread_local std::optional<cudaStream_t> stream_of_scope;

}  // namespace

Result<std::shared_ptr<Stream>> Stream::create(const CudaApi& api, int device) {
  const DeviceScope scope = ET_UNWRAP(DeviceScope::enter(api, device));
  std::shared_ptr<Stream> made(new (std::nothrow) Stream(api, device));
  ET_CHECK_OR_RETURN_ERROR(made != nullptr, MemoryAllocationFailed, "no memory for a stream");
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_cuda(api, api.cudaStreamCreateWithFlags(&made->handle_, kCudaStreamNonBlocking),
                 "cudaStreamCreateWithFlags"));
  return made;
}

Result<std::shared_ptr<Stream>> Stream::shared(const CudaApi& api, int device) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Stream>> by_device;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Stream> found = by_device[device].lock();
  if (found == nullptr) {
    found = ET_UNWRAP(create(api, device));
    by_device[device] = found;
  }
  return found;
}

Stream::~Stream() {
  if (handle_ != nullptr) {
    const auto scope = DeviceScope::enter(api_, device_);
    (void)wait();
    (void)check_cuda(api_, api_.cudaStreamDestroy(handle_), "cudaStreamDestroy");
  }
}

Error Stream::wait() const {
  return check_cuda(api_, api_.cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
}

std::optional<cudaStream_t> current_stream() {
  return stream_of_scope.has_value() ? stream_of_scope : extension::cuda::getCallerStream();
}

StreamScope::StreamScope(cudaStream_t stream) : previous_(stream_of_scope) {
  stream_of_scope = stream;
}

StreamScope::~StreamScope() {
  stream_of_scope = previous_;
}

}  // namespace executorch::backends::cuda
