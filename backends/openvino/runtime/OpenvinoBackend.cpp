// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/openvino/runtime/OpenvinoBackend.h>
#include <executorch/backends/openvino/runtime/compiled_model.h>
#include <executorch/backends/openvino/runtime/delegate.h>
#include <executorch/backends/openvino/runtime/library.h>
#include <executorch/backends/openvino/runtime/payload.h>

namespace executorch::backends::openvino {

using runtime::Error;
using runtime::Result;
using runtime::Span;

bool OpenvinoBackend::is_available() const {
  const auto api = library();
  return api.ok() && has_device(**api);
}

Result<runtime::DelegateHandle*> OpenvinoBackend::init(
    runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
    runtime::ArrayRef<runtime::CompileSpec> compile_specs) const {
  const Api& api = *ET_UNWRAP(library());
  Settings settings;
  ET_CHECK_OK_OR_RETURN_ERROR(
      defaults_.read(kOptions, compile_specs, context.runtime_specs(), settings));
#ifdef ET_EVENT_TRACER_ENABLED
  if (context.event_tracer() != nullptr) {
    settings.properties.emplace("PERF_COUNT", "YES");
  }
#endif
  const Payload payload = ET_UNWRAP(open_payload(processed->data(), processed->size(), settings));
  auto handle = ExecutionHandle::create(api, ET_UNWRAP(load_model(api, payload, settings)));
  ET_CHECK_OK_OR_RETURN_ERROR(handle.error());
  // The payload stays: OpenVINO reads constants where they are.
  return static_cast<runtime::DelegateHandle*>(handle->release());
}

Error OpenvinoBackend::execute(runtime::BackendExecutionContext& context,
                               runtime::DelegateHandle* handle, Span<runtime::EValue*> args) const {
  return static_cast<ExecutionHandle*>(handle)->execute(args, context.event_tracer());
}

Error OpenvinoBackend::set_option(runtime::BackendOptionContext&,
                                  const Span<runtime::BackendOption>& options) {
  return defaults_.set({options.data(), options.size()}, kOptions);
}

Error OpenvinoBackend::get_option(runtime::BackendOptionContext&,
                                  Span<runtime::BackendOption>& options) {
  defaults_.get(options);
  return Error::Ok;
}

void OpenvinoBackend::destroy(runtime::DelegateHandle* handle) const {
  delete static_cast<ExecutionHandle*>(handle);
}

Error register_openvino_backend() {
  static OpenvinoBackend backend;
  return runtime::register_backend({"OpenvinoBackend", &backend});
}

}  // namespace executorch::backends::openvino

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_openvino_backend =
    executorch::backends::openvino::register_openvino_backend();
}
