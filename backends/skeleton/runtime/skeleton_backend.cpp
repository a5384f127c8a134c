// SPDX-License-Identifier: BSD-3-Clause
// SkeletonBackend: the interface of backends over Delegate.
#include <executorch/backends/skeleton/runtime/delegate.h>
#include <executorch/backends/skeleton/runtime/skeleton_backend.h>
#include <executorch/runtime/backend/interface.h>

namespace executorch::backends::skeleton {

using runtime::Error;
using runtime::Result;

namespace {

class SkeletonBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }

  /// The payload stays in use: `processed` is not freed.
  Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override {
    const auto options =
        ET_UNWRAP(runtime::read_compile_options("SkeletonBackend", specs, kSkeletonOptions));
    return ET_UNWRAP(Delegate::create(processed->data(), processed->size(),
                                      context.get_named_data_map(),
                                      *context.get_runtime_allocator(), options));
  }

  Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                runtime::Span<runtime::EValue*> args) const override {
    return static_cast<const Delegate*>(handle)->execute(context, args);
  }

  void destroy(runtime::DelegateHandle* handle) const override {
    static_cast<Delegate*>(handle)->~Delegate();
  }
};

}  // namespace

Error register_skeleton_backend() {
  static SkeletonBackend backend;
  return runtime::register_backend({"SkeletonBackend", &backend});
}

}  // namespace executorch::backends::skeleton

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_skeleton_backend =
    executorch::backends::skeleton::register_skeleton_backend();
}
