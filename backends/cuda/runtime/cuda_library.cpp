// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/cuda/runtime/cuda_library.h>
#include <executorch/runtime/backend/dynamic_library.h>

#include <cstdlib>
#include <utility>

namespace executorch::backends::cuda {

using runtime::DynamicLibrary;
using runtime::Error;
using runtime::Result;

namespace {

constexpr char kVariable[] = "EXECUTORCH_CUDA_RUNTIME";

Result<CudaApi> load_default() {
  const char* given = std::getenv(kVariable);
  if (given != nullptr && *given != '\0') {
    return load_cuda_library({given});
  }
  return load_cuda_library({"libcudart.so.13", "libcudart.so.12", "libcudart.so"});
}

struct Advice {
  int status;
  Error error;
  const char* text;
};
constexpr Advice kAdvice[] = {
    {kCudaNoMemory, Error::MemoryAllocationFailed,
     "free memory of the GPU (nvidia-smi lists who has it), or export a smaller model"},
    {kCudaDriverTooOld, Error::NotFound,
     "install NVIDIA's driver, one that is as new as the CUDA runtime (nvidia-smi prints up to "
     "which CUDA it runs)"},
    {kCudaNoDevice, Error::NotFound,
     "run where nvidia-smi lists a GPU, and CUDA_VISIBLE_DEVICES does not hide it"},
    {kCudaInvalidDevice, Error::NotFound,
     "export with a target_device that is here (nvidia-smi -L lists them from cuda:0 on)"},
    {kCudaNoKernelImage, Error::NotSupported,
     "export again on a GPU of this kind: the program has no code for this one"},
    {kCudaIllegalAddress, Error::Internal,
     "start the process again: nothing runs on its GPU after this"},
    {kCudaNotInGraph, Error::NotSupported,
     "leave the method out of enable_cuda_graph_for_method: it waits for the GPU, or copies to or "
     "from the host"},
};
constexpr Advice kOther = {0, Error::Internal, "CUDA's documentation of cudaError_t says more"};

const Advice& advice_of(int status) {
  for (const Advice& each : kAdvice) {
    if (each.status == status) {
      return each;
    }
  }
  return kOther;
}

}  // namespace

Result<CudaApi> load_cuda_library(const std::vector<std::string>& names) {
  const auto loaded = ET_UNWRAP(DynamicLibrary::open(
      names, "NVIDIA's CUDA runtime",
      "install CUDA 12 or 13 (pip install nvidia-cuda-runtime has the library) and have its folder "
      "in LD_LIBRARY_PATH, or its file in EXECUTORCH_CUDA_RUNTIME"));
  CudaApi api;
  auto functions = loaded.functions();
#define CUDA_FIND(name, arguments) functions.find(#name, api.name);
  CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
  functions.find("cudaGetErrorName", api.cudaGetErrorName);
  functions.find("cudaGetErrorString", api.cudaGetErrorString);
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotFound, "expected CUDA 11.4 or later"));
  api.library = loaded.file_of("cudaMalloc");
  return api;
}

Result<const CudaApi*> cuda_library() {
  return runtime::load_once(load_default);
}

Error check_cuda(const CudaApi& api, int status, const char* function, const std::string& what) {
  if (status == kCudaSuccess) {
    return Error::Ok;
  }
  // Compiled code asks for it behind its kernels, and would take this one for its own.
  (void)api.cudaGetLastError();
  const Advice& advice = advice_of(status);
  ET_LOG(Error, "CudaBackend: %s%s%s: %s (%d): %s: %s", function, what.empty() ? "" : " of ",
         what.c_str(), api.cudaGetErrorName(status), status, api.cudaGetErrorString(status),
         advice.text);
  return advice.error;
}

Result<int> device_of(const CudaApi& api, int index) {
  if (index < 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_cuda(api, api.cudaGetDevice(&index), "cudaGetDevice"));
  }
  return index;
}

Result<DeviceScope> DeviceScope::enter(const CudaApi& api, int device) {
  DeviceScope made(api, ET_UNWRAP(device_of(api, -1)));
  ET_CHECK_OK_OR_RETURN_ERROR(made.move_to(device));
  return made;
}

DeviceScope::DeviceScope(DeviceScope&& other) noexcept
    : api_(std::exchange(other.api_, nullptr)),
      previous_(other.previous_),
      current_(other.current_) {}

DeviceScope::~DeviceScope() {
  if (api_ != nullptr) {
    (void)move_to(previous_);
  }
}

Error DeviceScope::move_to(int device) {
  if (device == current_) {
    return Error::Ok;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(check_cuda(*api_, api_->cudaSetDevice(device), "cudaSetDevice",
                                         "cuda:" + std::to_string(device)));
  current_ = device;
  return Error::Ok;
}

}  // namespace executorch::backends::cuda
