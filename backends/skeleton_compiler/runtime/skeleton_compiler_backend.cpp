// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/skeleton_compiler/runtime/delegate.h>
#include <executorch/backends/skeleton_compiler/runtime/skeleton_compiler_backend.h>
#include <executorch/runtime/backend/interface.h>

namespace executorch::backends::skeleton_compiler {

using runtime::Error;
using runtime::Result;

namespace {

class SkeletonCompilerBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return library().ok(); }

  Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override {
    const Api& api = *ET_UNWRAP(library());
    const auto options = ET_UNWRAP(
        runtime::read_compile_options("SkeletonCompilerBackend", specs, kSkeletonCompilerOptions));
    auto delegate =
        Delegate::create(api, {static_cast<const uint8_t*>(processed->data()), processed->size()},
                         context.get_named_data_map(), options);
    ET_CHECK_OK_OR_RETURN_ERROR(delegate.error());
    processed->Free();
    return delegate->release();
  }

  Error execute(runtime::BackendExecutionContext&, runtime::DelegateHandle* handle,
                runtime::Span<runtime::EValue*> args) const override {
    return static_cast<Delegate*>(handle)->execute(args);
  }

  void destroy(runtime::DelegateHandle* handle) const override {
    delete static_cast<Delegate*>(handle);
  }
};

}  // namespace

Error register_skeleton_compiler_backend() {
  static SkeletonCompilerBackend backend;
  return runtime::register_backend({"SkeletonCompilerBackend", &backend});
}

}  // namespace executorch::backends::skeleton_compiler

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_skeleton_compiler_backend =
    executorch::backends::skeleton_compiler::register_skeleton_compiler_backend();
}
