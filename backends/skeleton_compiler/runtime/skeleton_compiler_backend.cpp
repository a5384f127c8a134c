// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/skeleton_compiler/runtime/delegate.h>
#include <executorch/backends/skeleton_compiler/runtime/skeleton_compiler_backend.h>
#include <executorch/runtime/backend/delegate_backend.h>

namespace executorch::backends::skeleton_compiler {

using runtime::Error;
using runtime::Result;

namespace {

class SkeletonCompilerBackend final : public runtime::DelegateBackend<Delegate> {
 public:
  bool is_available() const override { return library().ok(); }

  Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override {
    const Api& api = *ET_UNWRAP(library());
    const auto options = ET_UNWRAP(
        runtime::read_compile_options("SkeletonCompilerBackend", specs, kSkeletonCompilerOptions));
    auto delegate = ET_UNWRAP(
        Delegate::create(api, {static_cast<const uint8_t*>(processed->data()), processed->size()},
                         context.get_named_data_map(), options));
    processed->Free();
    return handle_of(std::move(delegate));
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
