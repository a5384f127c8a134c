// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/cuda/runtime/cuda_allocator.h>
#include <executorch/backends/cuda/runtime/cuda_backend.h>
#include <executorch/backends/cuda/runtime/cuda_delegate.h>
#include <executorch/runtime/backend/delegate_backend.h>

namespace executorch::backends::cuda {

using runtime::Error;
using runtime::Result;

namespace {

void say_what_has_no_effect(const CudaOptions& options) {
  if (!options.graph_methods.empty()) {
    ET_LOG(Info, "CudaBackend: enable_cuda_graph_for_method=%s: methods run without graphs",
           options.graph_methods.c_str());
  }
  if (!options.skipped_copies.empty()) {
    ET_LOG(Info,
           "CudaBackend: skip_copy_output_to_cpu_for_method=%s has no effect: export with "
           "PropagateDeviceConfig(skip_d2h_for_method_outputs=True)",
           options.skipped_copies.c_str());
  }
}

class CudaBackend final : public runtime::DelegateBackend<CudaDelegate> {
 public:
  /// With CUDA's runtime, a driver and a GPU.
  bool is_available() const override {
    const auto api = cuda_library();
    int count = 0;
    return api.ok() &&
           check_cuda(**api, (*api)->cudaGetDeviceCount(&count), "cudaGetDeviceCount") ==
               Error::Ok &&
           count > 0;
  }

  Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override {
    CudaOptions options;
    ET_CHECK_OK_OR_RETURN_ERROR(
        defaults_.read(kCudaTable, specs, context.runtime_specs(), options));
    say_what_has_no_effect(options);
    auto made =
        CudaDelegate::create({static_cast<const uint8_t*>(processed->data()), processed->size()},
                             context.get_named_data_map(), options);
    processed->Free();
    return handle_of(std::move(made));
  }

  Error set_option(runtime::BackendOptionContext&,
                   const runtime::Span<runtime::BackendOption>& options) override {
    return defaults_.set({options.data(), options.size()}, kCudaTable);
  }
  Error get_option(runtime::BackendOptionContext&,
                   runtime::Span<runtime::BackendOption>& options) override {
    defaults_.get(options);
    return Error::Ok;
  }

 private:
  runtime::DefaultOptions defaults_;
};

}  // namespace

Error register_cuda_backend() {
  static CudaBackend backend;
  aoti::register_device(&CudaAllocator::instance());
  return runtime::register_backend({"CudaBackend", &backend});
}

}  // namespace executorch::backends::cuda

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_aoti_cuda_backend =
    executorch::backends::cuda::register_cuda_backend();
}
