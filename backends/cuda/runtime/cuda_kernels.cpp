// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/cuda/runtime/cuda_kernels.h>
#include <executorch/backends/cuda/runtime/cuda_stream.h>
#include <executorch/runtime/backend/dynamic_library.h>

#include <cstdlib>
#include <map>
#include <mutex>

#ifdef EXECUTORCH_CUDA_KERNELS
// The file that nvcc made.
__asm__(
    ".section .rodata\n"
    ".global executorch_cuda_kernels\n"
    ".balign 64\n"
    "executorch_cuda_kernels:\n"
    ".incbin \"" EXECUTORCH_CUDA_KERNELS
    "\"\n"
    ".global executorch_cuda_kernels_end\n"
    "executorch_cuda_kernels_end:\n"
    ".previous\n");
extern "C" const uint8_t executorch_cuda_kernels[], executorch_cuda_kernels_end[];
#endif

namespace executorch::backends::cuda {

using runtime::DynamicLibrary;
using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

Result<DriverApi> load_default() {
  const char* given = std::getenv("EXECUTORCH_CUDA_DRIVER");
  return load_cuda_driver({given != nullptr && *given != '\0' ? given : "libcuda.so.1"});
}

Error check(const DriverApi& api, int status, const std::string& what) {
  if (status == 0) {
    return Error::Ok;
  }
  const char* name = nullptr;
  (void)api.cuGetErrorName(status, &name);
  ET_LOG(Error, "CudaBackend: %s: %s (%d): NVIDIA's documentation of CUresult says more",
         what.c_str(), name == nullptr ? "an unknown error" : name, status);
  return Error::Internal;
}

Span<const uint8_t>& image() {
#ifdef EXECUTORCH_CUDA_KERNELS
  static Span<const uint8_t> bytes(
      executorch_cuda_kernels,
      static_cast<size_t>(executorch_cuda_kernels_end - executorch_cuda_kernels));
#else
  static Span<const uint8_t> bytes;
#endif
  return bytes;
}

/// Of one device, for the rest of the process.
struct Module {
  CUmod_st* handle = nullptr;
  std::map<std::string, CUfunc_st*> functions;
};

Result<CUfunc_st*> find(const DriverApi& api, int device, const char* kernel) {
  static std::mutex mutex;
  static std::map<int, Module> by_device;
  const std::lock_guard<std::mutex> lock(mutex);
  Module& module = by_device[device];
  if (module.handle == nullptr) {
    ET_CHECK_OK_OR_RETURN_ERROR(check(
        api, api.cuModuleLoadData(&module.handle, kernels_image().data()), "cuModuleLoadData"));
  }
  CUfunc_st*& function = module.functions[kernel];
  if (function == nullptr) {
    ET_CHECK_OK_OR_RETURN_ERROR(check(api,
                                      api.cuModuleGetFunction(&function, module.handle, kernel),
                                      std::string("cuModuleGetFunction of ") + kernel));
  }
  return function;
}

}  // namespace

Result<DriverApi> load_cuda_driver(const std::vector<std::string>& names) {
  const auto loaded = ET_UNWRAP(DynamicLibrary::open(
      names, "NVIDIA's driver", "install it (nvidia-smi prints its version when it is there)"));
  DriverApi api;
  auto functions = loaded.functions();
  functions.find("cuModuleLoadData", api.cuModuleLoadData);
  functions.find("cuModuleGetFunction", api.cuModuleGetFunction);
  functions.find("cuLaunchKernel", api.cuLaunchKernel);
  functions.find("cuGetErrorName", api.cuGetErrorName);
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotFound, "expected NVIDIA's driver"));
  return api;
}

Result<const DriverApi*> cuda_driver() {
  return runtime::load_once(load_default);
}

Span<const uint8_t> kernels_image() {
  return image();
}

void use_kernels_image(Span<const uint8_t> bytes) {
  image() = bytes;
}

Error launch(const char* kernel, const Grid& grid, void* arguments) {
  ET_CHECK_OR_RETURN_ERROR(!kernels_image().empty(), NotSupported,
                           "CudaBackend: this build has no %s: build it where nvcc is "
                           "(CMAKE_CUDA_COMPILER)",
                           kernel);
  const CudaApi& api = *ET_UNWRAP(cuda_library());
  const DriverApi& driver = *ET_UNWRAP(cuda_driver());
  const int device = ET_UNWRAP(device_of(api, -1));
  CUfunc_st* function = ET_UNWRAP(find(driver, device, kernel));
  void* all[] = {arguments};
  return check(driver,
               driver.cuLaunchKernel(function, grid.x, grid.y, 1, grid.threads_x, grid.threads_y, 1,
                                     0, current_stream().value_or(nullptr), all, nullptr),
               std::string("cuLaunchKernel of ") + kernel);
}

}  // namespace executorch::backends::cuda
