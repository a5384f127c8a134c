// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/apple/coreml/runtime/coreml_backend.h>
#include <executorch/backends/apple/coreml/runtime/delegate.h>
#include <executorch/backends/apple/coreml/runtime/payload.h>
#include <executorch/backends/apple/coreml/runtime/settings.h>

namespace executorch::backends::coreml {

using runtime::DiskCache;
using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr char kBackendId[] = "CoreMLBackend";

}  // namespace

bool CoreMLBackendDelegate::is_available() const {
  return core_ml_.is_available();
}

Result<runtime::DelegateHandle*> CoreMLBackendDelegate::init(
    runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
    runtime::ArrayRef<runtime::CompileSpec> compile_specs) const {
  const Defaults defaults = core_ml_.defaults();
  Settings settings;
  settings.cache_folder = defaults.cache_folder;
  ET_CHECK_OK_OR_RETURN_ERROR(
      defaults_.read(kOptions, compile_specs, context.runtime_specs(), settings));
  const Payload payload =
      ET_UNWRAP(open_payload(processed->data(), processed->size(), context.get_named_data_map(),
                             context.get_method_name()));
  auto delegate = Delegate::create(core_ml_, payload, settings, defaults.prewarms,
                                   ET_UNWRAP(cache_in(settings.cache_folder)));
  ET_CHECK_OK_OR_RETURN_ERROR(delegate.error());
  processed->Free();  // all of it is in the cache
  return static_cast<runtime::DelegateHandle*>(delegate->release());
}

Error CoreMLBackendDelegate::execute(runtime::BackendExecutionContext& context,
                                     runtime::DelegateHandle* handle,
                                     Span<runtime::EValue*> args) const {
  return static_cast<Delegate*>(handle)->execute(args, context.event_tracer());
}

Error CoreMLBackendDelegate::set_option(runtime::BackendOptionContext&,
                                        const Span<runtime::BackendOption>& options) {
  return defaults_.set({options.data(), options.size()}, kOptions);
}

Error CoreMLBackendDelegate::get_option(runtime::BackendOptionContext&,
                                        Span<runtime::BackendOption>& options) {
  defaults_.get(options);
  return Error::Ok;
}

void CoreMLBackendDelegate::destroy(runtime::DelegateHandle* handle) const {
  delete static_cast<Delegate*>(handle);
}

Result<std::shared_ptr<DiskCache>> CoreMLBackendDelegate::cache_in(
    const std::string& folder) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<DiskCache>& cache = caches_[folder];
  if (cache == nullptr) {
    DiskCache::Options options;
    options.folder = folder;
    options.suffix = ".mlmodelc";
    options.max_bytes = core_ml_.defaults().max_cache_bytes;
    cache = ET_UNWRAP(DiskCache::open(options));
    core_ml_.prepare_folder(folder);
  }
  return cache;
}

CoreMLBackendDelegate* CoreMLBackendDelegate::get_registered_delegate() noexcept {
  return static_cast<CoreMLBackendDelegate*>(runtime::get_backend_class(kBackendId));
}

bool CoreMLBackendDelegate::purge_models_cache() const noexcept {
  const auto cache = cache_in(core_ml_.defaults().cache_folder);
  const std::lock_guard<std::mutex> lock(mutex_);
  bool is_done = cache.ok();
  for (const auto& [folder, each] : caches_) {
    is_done = each != nullptr && each->purge() && is_done;
  }
  return is_done;
}

Error register_coreml_backend(CoreMLBackendDelegate* backend) {
  return runtime::register_backend({kBackendId, backend});
}

}  // namespace executorch::backends::coreml
