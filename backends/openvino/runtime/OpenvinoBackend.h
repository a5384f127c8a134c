// SPDX-License-Identifier: BSD-3-Clause
// OpenvinoBackend: what OpenVINO compiled for a device, or compiles when a method is loaded.
//
// Options, given when a method is loaded (LoadBackendOptionsMap) or as defaults (set_option()):
// `device` ("CPU", "GPU", "NPU", "AUTO", ...), and any property of OpenVINO, such as NUM_STREAMS,
// INFERENCE_NUM_THREADS, INFERENCE_PRECISION_HINT or CACHE_DIR. They win over compile specs of the
// file; a default that is set to "" is none again. Computing is as precise as the model unless one
// of them says otherwise.
#pragma once

#include <executorch/runtime/backend/default_options.h>
#include <executorch/runtime/backend/interface.h>

namespace executorch::backends::openvino {

/// Threads: any; nothing is locked while a model runs.
class OpenvinoBackend final : public runtime::BackendInterface {
 public:
  /// Whether OpenVINO's library is found, and finds a device.
  bool is_available() const override;

  /// Errors: NotFound without the library; what open_payload(), load_model() and
  /// ExecutionHandle::create() say.
  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> compile_specs) const override;
  runtime::Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                         runtime::Span<runtime::EValue*> args) const override;
  runtime::Error set_option(runtime::BackendOptionContext& context,
                            const runtime::Span<runtime::BackendOption>& options) override;
  runtime::Error get_option(runtime::BackendOptionContext& context,
                            runtime::Span<runtime::BackendOption>& options) override;
  void destroy(runtime::DelegateHandle* handle) const override;

 private:
  runtime::DefaultOptions defaults_;
};

/// Registers "OpenvinoBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_openvino_backend();

}  // namespace executorch::backends::openvino
