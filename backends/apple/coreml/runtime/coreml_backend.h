// SPDX-License-Identifier: BSD-3-Clause
// CoreMLBackend: runs Core ML models that coremltools made ahead of time. Options are those of
// coreml_backend_options.h.
#pragma once

#include <executorch/backends/apple/coreml/runtime/core_ml.h>
#include <executorch/runtime/backend/default_options.h>
#include <executorch/runtime/backend/files/disk_cache.h>
#include <executorch/runtime/backend/interface.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace executorch::backends::coreml {

/// Threads: any; nothing is locked while models are compiled, loaded or run.
class CoreMLBackendDelegate final : public runtime::BackendInterface {
 public:
  /// `core_ml` outlives it.
  explicit CoreMLBackendDelegate(const CoreML& core_ml) : core_ml_(core_ml) {}

  bool is_available() const override;

  /// Errors: what Settings::add(), open_payload() and Delegate::create() say. Frees `processed`.
  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> compile_specs) const override;
  runtime::Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                         runtime::Span<runtime::EValue*> args) const override;
  /// Options of all that is loaded from then on. A text of "" is none again.
  runtime::Error set_option(runtime::BackendOptionContext& context,
                            const runtime::Span<runtime::BackendOption>& options) override;
  runtime::Error get_option(runtime::BackendOptionContext& context,
                            runtime::Span<runtime::BackendOption>& options) override;
  void destroy(runtime::DelegateHandle* handle) const override;

  /// Null until the library that registers it is linked.
  static CoreMLBackendDelegate* get_registered_delegate() noexcept;
  /// Evicts all compiled models that nothing uses, of the default folder and of those that were
  /// given. False when some stay.
  bool purge_models_cache() const noexcept;

 private:
  runtime::Result<std::shared_ptr<runtime::DiskCache>> cache_in(const std::string& folder) const;

  const CoreML& core_ml_;
  runtime::DefaultOptions defaults_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<runtime::DiskCache>> caches_;  // by folder
};

/// Registers "CoreMLBackend". Calling it again with the same object has no effect.
ET_NODISCARD runtime::Error register_coreml_backend(CoreMLBackendDelegate* backend);

}  // namespace executorch::backends::coreml
