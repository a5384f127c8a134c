// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/runtime/qnn_backend.h>

#include <executorch/backends/qualcomm/runtime/delegate.h>
#include <executorch/runtime/backend/payload_formats.h>

namespace executorch::backends::qualcomm {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr runtime::NumberField kSignature{4, 8};

/// The payload is verified here, once.
Result<std::shared_ptr<Context>> open_context(Span<const uint8_t> payload, const Options& options) {
  ET_CHECK_OR_RETURN_ERROR(
      runtime::has_magic(payload, runtime::kQualcommHeader), NotSupported,
      "QnnBackend: a payload of %zu bytes without the magic 0x5678abcd is a graph to be compiled "
      "on the "
      "device (DLC), which is not supported: compile it ahead (online_prepare=False)",
      payload.size());
  const auto found = runtime::read_regions(payload, runtime::kQualcommHeader);
  ET_CHECK_OR_RETURN_ERROR(found.ok(), Internal, "QnnBackend: a payload that is cut or not whole");
  const Library& library = *ET_UNWRAP(find_library(options.library_name(), options.library_path));
  const SystemLibrary& system = *ET_UNWRAP(find_system_library(library));
  auto session = ET_UNWRAP(shared_session(library, options));
  return shared_context(std::move(session), system, runtime::number_at(payload, kSignature),
                        found->regions[0]);
}

}  // namespace

bool QnnBackend::is_available() const {
  return find_library("libQnnHtp.so").ok();
}

Result<runtime::DelegateHandle*> QnnBackend::init(
    runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
    runtime::ArrayRef<runtime::CompileSpec> specs) const {
  Options options;
  ET_CHECK_OK_OR_RETURN_ERROR(
      defaults_.read(kOptionTable, specs, context.runtime_specs(), options));
  auto loaded = ET_UNWRAP(
      open_context({static_cast<const uint8_t*>(processed->data()), processed->size()}, options));
  const LoadedGraph& graph = *ET_UNWRAP(loaded->graph_for(context.get_method_name()));
  auto delegate = Delegate::create(std::move(loaded), graph, options);
  ET_CHECK_OK_OR_RETURN_ERROR(delegate.error());
  processed->Free();
  return static_cast<runtime::DelegateHandle*>(delegate->release());
}

Error QnnBackend::execute(runtime::BackendExecutionContext& context,
                          runtime::DelegateHandle* handle, Span<runtime::EValue*> args) const {
  return static_cast<Delegate*>(handle)->execute(args, context.event_tracer());
}

Error QnnBackend::set_option(runtime::BackendOptionContext&,
                             const Span<runtime::BackendOption>& options) {
  return defaults_.set({options.data(), options.size()}, kOptionTable);
}

Error QnnBackend::get_option(runtime::BackendOptionContext&,
                             Span<runtime::BackendOption>& options) {
  defaults_.get(options);
  return Error::Ok;
}

void QnnBackend::destroy(runtime::DelegateHandle* handle) const {
  delete static_cast<Delegate*>(handle);
}

Error register_qnn_backend() {
  static QnnBackend backend;
  return runtime::register_backend({"QnnBackend", &backend});
}

}  // namespace executorch::backends::qualcomm

extern "C" {

// What links the library asks for this name, and so for this file.
executorch::runtime::Error executorch_qnn_executorch_backend =
    executorch::backends::qualcomm::register_qnn_backend();

/// The documented name, for programs that load the library themselves.
executorch::runtime::Error QnnExecuTorchBackendRegister() {
  return executorch::backends::qualcomm::register_qnn_backend();
}
}
