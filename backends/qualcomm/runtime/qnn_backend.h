// SPDX-License-Identifier: BSD-3-Clause
// QnnBackend: graphs that Qualcomm's AI Engine Direct compiled. Linking the library registers it.
#pragma once

#include <executorch/backends/qualcomm/runtime/options.h>
#include <executorch/runtime/backend/default_options.h>
#include <executorch/runtime/backend/interface.h>

namespace executorch::backends::qualcomm {

class QnnBackend final : public runtime::BackendInterface {
 public:
  /// Whether libQnnHtp.so loads; why not is logged, with the names that were tried.
  bool is_available() const override;
  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override;
  runtime::Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                         runtime::Span<runtime::EValue*> args) const override;
  /// Options of delegates that are loaded from then on.
  runtime::Error set_option(runtime::BackendOptionContext& context,
                            const runtime::Span<runtime::BackendOption>& options) override;
  runtime::Error get_option(runtime::BackendOptionContext& context,
                            runtime::Span<runtime::BackendOption>& options) override;
  void destroy(runtime::DelegateHandle* handle) const override;

 private:
  runtime::DefaultOptions defaults_;
};

/// Calling it again has no effect.
ET_NODISCARD runtime::Error register_qnn_backend();

}  // namespace executorch::backends::qualcomm
