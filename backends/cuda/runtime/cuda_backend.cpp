// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/aoti_backend.h>
#include <executorch/backends/cuda/runtime/cuda_allocator.h>
#include <executorch/backends/cuda/runtime/cuda_backend.h>
#include <executorch/backends/cuda/runtime/cuda_delegate.h>

namespace executorch::backends::cuda {

using runtime::Error;
using runtime::Result;

namespace {

void say_what_has_no_effect(const CudaOptions& options) {
  if (!options.skipped_copies.empty()) {
    ET_LOG(Info,
           "CudaBackend: skip_copy_output_to_cpu_for_method=%s has no effect: export with "
           "PropagateDeviceConfig(skip_d2h_for_method_outputs=True)",
           options.skipped_copies.c_str());
  }
}

Result<std::unique_ptr<CudaDelegate>> create(runtime::Span<const uint8_t> payload,
                                             const runtime::NamedDataMap* named_data,
                                             const CudaOptions& options) {
  say_what_has_no_effect(options);
  return CudaDelegate::create(payload, named_data, options);
}

/// With CUDA's runtime, a driver and a GPU.
bool is_available() {
  const auto api = cuda_library();
  int count = 0;
  return api.ok() &&
         check_cuda(**api, (*api)->cudaGetDeviceCount(&count), "cudaGetDeviceCount") == Error::Ok &&
         count > 0;
}

}  // namespace

Error register_cuda_backend() {
  static aoti::AotiBackend<CudaDelegate, CudaOptions> backend({kCudaTable, create, is_available});
  aoti::register_device(&CudaAllocator::instance());
  return backend.register_once();
}

}  // namespace executorch::backends::cuda

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_aoti_cuda_backend =
    executorch::backends::cuda::register_cuda_backend();
}
