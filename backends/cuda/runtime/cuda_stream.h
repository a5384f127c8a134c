// SPDX-License-Identifier: BSD-3-Clause
// Streams: those of methods, and the one on which the calling thread's work is queued.
#pragma once

#include <executorch/backends/cuda/runtime/cuda_library.h>

#include <memory>
#include <optional>

namespace executorch::backends::cuda {

/// One of our own, without waiting for the stream that CUDA calls default.
class Stream final {
 public:
  static runtime::Result<std::shared_ptr<Stream>> create(const CudaApi& api, int device);
  /// One for all methods of a device that ask for it, made with the first and gone with the last.
  static runtime::Result<std::shared_ptr<Stream>> shared(const CudaApi& api, int device);
  /// Waits for what is queued.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t handle() const { return handle_; }
  runtime::Error wait() const;

 private:
  Stream(const CudaApi& api, int device) : api_(api), device_(device) {}

  const CudaApi& api_;
  int device_;
  cudaStream_t handle_ = nullptr;
};

/// What the calling thread runs on now: the stream of the innermost scope, else the caller's; none
/// outside of methods.
std::optional<cudaStream_t> current_stream();

/// Has the calling thread's work queued on `stream`, and behind it on the one before.
class StreamScope final {
 public:
  explicit StreamScope(cudaStream_t stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  std::optional<cudaStream_t> previous_;
};

}  // namespace executorch::backends::cuda
