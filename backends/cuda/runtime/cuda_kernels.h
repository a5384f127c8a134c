// SPDX-License-Identifier: BSD-3-Clause
// Kernels of ours (kernels/), which NVIDIA's driver loads from an image in the program.
#pragma once

#include <executorch/backends/cuda/runtime/cuda_library.h>
#include <executorch/runtime/core/span.h>

#include <string>
#include <vector>

struct CUmod_st;
struct CUfunc_st;

namespace executorch::backends::cuda {

/// What we call of the driver, which has the CUDA runtime's streams and memory for its own. All
/// give a CUresult.
struct DriverApi {
  int (*cuModuleLoadData)(CUmod_st** out, const void* image) = nullptr;
  int (*cuModuleGetFunction)(CUfunc_st** out, CUmod_st*, const char* name) = nullptr;
  int (*cuLaunchKernel)(CUfunc_st*, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                        uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t shared_bytes,
                        cudaStream_t, void** arguments, void** extra) = nullptr;
  int (*cuGetErrorName)(int, const char** out) = nullptr;
};

runtime::Result<DriverApi> load_cuda_driver(const std::vector<std::string>& names);

/// The file that EXECUTORCH_CUDA_DRIVER names, or that of the system, loaded once. Threads: any.
runtime::Result<const DriverApi*> cuda_driver();

/// Machine code for the kinds of GPUs that the build names; empty in a build without nvcc.
runtime::Span<const uint8_t> kernels_image();
/// For tests: another one, before the first launch.
void use_kernels_image(runtime::Span<const uint8_t> image);

struct Grid {
  uint32_t x, y, threads_x, threads_y;
};

/// Queues a kernel, which takes one struct, on the thread's current stream and device. Loads the
/// image where it is the first of its device. NotSupported in a build without nvcc; NotFound
/// without a driver; Internal, with the driver's name of the error, when it refuses.
runtime::Error launch(const char* kernel, const Grid& grid, void* arguments);

}  // namespace executorch::backends::cuda
