// SPDX-License-Identifier: BSD-3-Clause
// NVIDIA's CUDA runtime library, found and loaded when it is first used, so that programs link and
// start on computers without it. Declarations of what we call are ours.
#pragma once

#include <executorch/extension/cuda/caller_stream.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;

namespace executorch::backends::cuda {

/// cudaError_t's numbers that have advice of their own.
enum : int {
  kCudaSuccess = 0,
  kCudaNoMemory = 2,
  kCudaDriverTooOld = 35,
  kCudaNoDevice = 100,
  kCudaInvalidDevice = 101,
  kCudaNoKernelImage = 209,
  kCudaIllegalAddress = 700,
  kCudaNotInGraph = 900,
};
inline constexpr int kCudaCopyToDevice = 1, kCudaCopyToHost = 2, kCudaCopyWithin = 3;
inline constexpr uint32_t kCudaStreamNonBlocking = 1;
/// Of captures: calls that belong to no stream are allowed beside one.
inline constexpr int kCudaCaptureRelaxed = 2;
inline constexpr int kCudaMemoryDevice = 2, kCudaMemoryManaged = 3;

/// cudaPointerAttributes, with the room that newer versions fill.
struct CudaPointer {
  int type = 0, device = 0;
  void *on_device = nullptr, *on_host = nullptr;
  void* reserved[8] = {};
};

// clang-format off: it does not settle on lines here
// name, and what it takes; all give a cudaError_t
#define CUDA_FUNCTIONS(X)                                                           \
  X(cudaGetLastError, ())                                                           \
  X(cudaGetDeviceCount, (int*))                                                     \
  X(cudaGetDevice, (int*))                                                          \
  X(cudaSetDevice, (int))                                                           \
  X(cudaMalloc, (void**, size_t))                                                   \
  X(cudaFree, (void*))                                                              \
  X(cudaMallocAsync, (void**, size_t, cudaStream_t))                                \
  X(cudaFreeAsync, (void*, cudaStream_t))                                           \
  X(cudaMemcpyAsync, (void*, const void*, size_t, int, cudaStream_t))               \
  X(cudaStreamCreateWithFlags, (cudaStream_t*, uint32_t))                           \
  X(cudaStreamDestroy, (cudaStream_t))                                              \
  X(cudaStreamSynchronize, (cudaStream_t))                                          \
  X(cudaStreamBeginCapture, (cudaStream_t, int))                                    \
  X(cudaStreamEndCapture, (cudaStream_t, cudaGraph_t*))                             \
  X(cudaGraphInstantiateWithFlags, (cudaGraphExec_t*, cudaGraph_t, uint64_t)) \
  X(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t))                               \
  X(cudaGraphDestroy, (cudaGraph_t))                                                \
  X(cudaGraphExecDestroy, (cudaGraphExec_t))                                        \
  X(cudaPointerGetAttributes, (CudaPointer*, const void*))
// clang-format on

/// `library`: its file, for messages.
struct CudaApi {
#define CUDA_MEMBER(name, arguments) int(*name) arguments = nullptr;
  CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
  const char* (*cudaGetErrorName)(int) = nullptr;
  const char* (*cudaGetErrorString)(int) = nullptr;
  std::string library;
};

/// The first of `names` that loads. NotFound, with all that was looked for in the log, when none
/// does, or one lacks functions.
runtime::Result<CudaApi> load_cuda_library(const std::vector<std::string>& names);

/// The file that EXECUTORCH_CUDA_RUNTIME names, or that of the system, loaded once; after an error
/// it is looked for again. Threads: any.
runtime::Result<const CudaApi*> cuda_library();

/// Ok for 0. Else, in the log, the function, CUDA's name of the error and what to do about it:
/// MemoryAllocationFailed, NotFound without a driver or device, else Internal. `what`: more of the
/// call, such as its bytes.
runtime::Error check_cuda(const CudaApi& api, int status, const char* function,
                          const std::string& what = "");

/// The calling thread's, for -1; else `index`.
runtime::Result<int> device_of(const CudaApi& api, int index);

/// Makes `device` the calling thread's, and the one before behind it.
class DeviceScope final {
 public:
  static runtime::Result<DeviceScope> enter(const CudaApi& api, int device);
  DeviceScope(DeviceScope&& other) noexcept;
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  DeviceScope& operator=(DeviceScope&&) = delete;

  /// Another one in its place; the one before it all stays as it was.
  runtime::Error move_to(int device);

 private:
  DeviceScope(const CudaApi& api, int previous) : api_(&api), previous_(previous) {}

  const CudaApi* api_;
  int previous_, current_ = previous_;
};

}  // namespace executorch::backends::cuda
