// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/delegate.h>
#include <executorch/backends/vulkan/runtime/vulkan_backend.h>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;
using runtime::Span;

bool VulkanBackend::is_available() const {
  return Device::shared().ok();
}

Result<runtime::DelegateHandle*> VulkanBackend::init(
    runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
    runtime::ArrayRef<runtime::CompileSpec> compile_specs) const {
  Settings settings;
  ET_CHECK_OK_OR_RETURN_ERROR(settings.add(compile_specs));
  const auto defaults = defaults_.all();
  ET_CHECK_OK_OR_RETURN_ERROR(settings.add({defaults.data(), defaults.size()}));
  ET_CHECK_OK_OR_RETURN_ERROR(settings.add(context.runtime_specs()));
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
  Settings checked;
  ET_CHECK_OK_OR_RETURN_ERROR(checked.add({options.data(), options.size()}));
  for (const runtime::BackendOption& option : options) {
    defaults_.set(option);
  }
  return Error::Ok;
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
