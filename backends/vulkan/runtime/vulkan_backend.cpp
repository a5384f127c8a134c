// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/delegate.h>
#include <executorch/backends/vulkan/runtime/vulkan_backend.h>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::OptionSource;
using runtime::Result;
using runtime::Span;

namespace {

constexpr runtime::Option<Settings> kRows[] = {
    {"storage_type_override", runtime::check_option<int32_t>},  // all tensors are in buffers
    {"memory_layout_override", runtime::check_option<int32_t>},
    {"require_dynamic_shapes", runtime::check_option<bool>},  // all sizes may change
    {"warmup_execute_after_compile", runtime::read_option<&Settings::warms_up>, OptionSource::kAny},
    {"pipeline_cache_path", runtime::read_option<&Settings::pipeline_cache_path>,
     OptionSource::kRuntime},
    {"shares_memory", runtime::read_option<&Settings::runner, &RunnerOptions::shares_memory>,
     OptionSource::kRuntime},
};

/// Other keys of a file are for the exporter.
constexpr runtime::OptionTable<Settings> kOptions{"VulkanBackend", kRows, runtime::skip_option,
                                                  nullptr, Error::InvalidArgument};

}  // namespace

bool VulkanBackend::is_available() const {
  return Device::shared().ok();
}

Result<runtime::DelegateHandle*> VulkanBackend::init(
    runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
    runtime::ArrayRef<runtime::CompileSpec> compile_specs) const {
  Settings settings;
  ET_CHECK_OK_OR_RETURN_ERROR(
      defaults_.read(kOptions, compile_specs, context.runtime_specs(), settings));
  auto delegate = ET_UNWRAP(Delegate::create(processed->data(), processed->size(),
                                             context.get_named_data_map(), settings));
  processed->Free();
  return static_cast<runtime::DelegateHandle*>(delegate.release());
}

Error VulkanBackend::execute(runtime::BackendExecutionContext& context,
                             runtime::DelegateHandle* handle, Span<runtime::EValue*> args) const {
  return static_cast<Delegate*>(handle)->execute(args, context.event_tracer());
}

Error VulkanBackend::set_option(runtime::BackendOptionContext&,
                                const Span<runtime::BackendOption>& options) {
  return defaults_.set({options.data(), options.size()}, kOptions);
}

Error VulkanBackend::get_option(runtime::BackendOptionContext&,
                                Span<runtime::BackendOption>& options) {
  defaults_.get(options);
  return Error::Ok;
}

void VulkanBackend::destroy(runtime::DelegateHandle* handle) const {
  delete static_cast<Delegate*>(handle);
}

Error register_vulkan_backend() {
  static VulkanBackend backend;
  return runtime::register_backend({"VulkanBackend", &backend});
}

}  // namespace executorch::backends::vulkan

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_vulkan_backend =
    executorch::backends::vulkan::register_vulkan_backend();
}
