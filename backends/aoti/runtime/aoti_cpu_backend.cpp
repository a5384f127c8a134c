// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/aoti_cpu_backend.h>
#include <executorch/backends/aoti/runtime/delegate.h>
#include <executorch/runtime/backend/delegate_backend.h>

namespace executorch::backends::aoti {

using runtime::Error;
using runtime::Result;

namespace {

const DeviceRow& cpu_row() {
  static const DeviceRow row{"AotiCpuBackend", "aoti_cpu_blob.ptd", {tensor_shims(), cpu_shims()}};
  return row;
}

class AotiCpuBackend final : public runtime::DelegateBackend<Delegate> {
 public:
  bool is_available() const override { return true; }

  Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override {
    AotiOptions options;
    ET_CHECK_OK_OR_RETURN_ERROR(
        defaults_.read(kAotiTable, specs, context.runtime_specs(), options));
    auto made = Delegate::create(
        cpu_row(), {static_cast<const uint8_t*>(processed->data()), processed->size()},
        context.get_named_data_map(), options);
    processed->Free();
    return handle_of(std::move(made));
  }

  Error set_option(runtime::BackendOptionContext&,
                   const runtime::Span<runtime::BackendOption>& options) override {
    return defaults_.set({options.data(), options.size()}, kAotiTable);
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

Error register_aoti_cpu_backend() {
  static AotiCpuBackend backend;
  return runtime::register_backend({"AotiCpuBackend", &backend});
}

}  // namespace executorch::backends::aoti

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_aoti_cpu_backend =
    executorch::backends::aoti::register_aoti_cpu_backend();
}
