// SPDX-License-Identifier: BSD-3-Clause
// VulkanBackend: graphs (VK00) on a GPU.
//
// Options, given when a method is loaded (LoadBackendOptionsMap) or as defaults (set_option()):
// `pipeline_cache_path` (text): a file where the driver's compiled pipelines are kept from one
// process to the next; `warmup_execute_after_compile` (bool): one run while loading;
// `shares_memory` (bool, true): whether tensors that are not needed at the same time share memory.
#pragma once

#include <executorch/runtime/backend/default_options.h>
#include <executorch/runtime/backend/interface.h>

namespace executorch::backends::vulkan {

/// Threads: any.
class VulkanBackend final : public runtime::BackendInterface {
 public:
  /// Whether there is a loader, and a device of Vulkan 1.1 that computes.
  bool is_available() const override;

  /// Errors: NotFound without them; what open_payload(), Graph::create() and Runner::create() say.
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

/// Registers "VulkanBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_vulkan_backend();

}  // namespace executorch::backends::vulkan
