// SPDX-License-Identifier: BSD-3-Clause
// XnnpackBackend: the interface of backends over Delegate.
#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/backends/xnnpack/runtime/memory.h>
#include <executorch/backends/xnnpack/runtime/payload.h>
#include <executorch/backends/xnnpack/runtime/profile.h>
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>
#include <executorch/backends/xnnpack/runtime/xnnpack_backend.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/runtime/backend/compile_options.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace executorch::backends::xnnpack {

using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

/// Payloads up to this size, in bytes, are copied: files are mapped in pages of 4 KiB and more, one
/// mapping for each payload, which has its first and its last page in common with others.
constexpr size_t kCopied = size_t{1} << 15;

/// What init() returns: a delegate, and its payload's bytes when those of the file are not used.
struct Handle {
  std::vector<uint64_t> copy;
  std::unique_ptr<Delegate> delegate;
};

/// The bytes at an address for flatbuffers. Files of programs align them; what is not so, and what
/// is small, is copied, and the original freed.
const void* settle(runtime::FreeableBuffer& processed, std::vector<uint64_t>& copy) {
  static_assert(alignof(uint64_t) == kPayloadAlignment);
  const bool is_aligned = reinterpret_cast<uintptr_t>(processed.data()) % kPayloadAlignment == 0;
  if (is_aligned && processed.size() > kCopied) {
    return processed.data();
  }
  copy.resize(processed.size() / sizeof(uint64_t) + 1);
  std::copy_n(static_cast<const uint8_t*>(processed.data()), processed.size(),
              reinterpret_cast<uint8_t*>(copy.data()));
  processed.Free();
  return copy.data();
}

/// What users set, see XNNPACKBackend.h; the build says with what it starts.
struct Settings {
  bool share_weights = EXECUTORCH_XNNPACK_WEIGHT_CACHE != 0;
  int workspaces =
      static_cast<int>(EXECUTORCH_XNNPACK_SHARED_WORKSPACE ? WorkspaceSharingMode::PerModel
                                                           : WorkspaceSharingMode::Disabled);
  bool pack_at_load = false;
  std::string precision = "float32";
  bool own_kernels = true;
  bool winograd = true;
  std::string packed_path;  // empty: none
  int segment_nodes = 0;
  bool saves = false;  // for set_option() alone
};

template <auto Member>
constexpr runtime::Option<Settings> option(const char* key) {
  return {key, runtime::read_option<Member>, runtime::OptionSource::kRuntime,
          runtime::write_option<Member>};
}

constexpr runtime::Option<Settings> kRows[] = {
    option<&Settings::workspaces>(workspace_sharing_mode_option_key),
    option<&Settings::share_weights>(weight_cache_option_key),
    option<&Settings::pack_at_load>(pack_at_load_option_key),
    option<&Settings::own_kernels>(own_kernels_option_key),
    option<&Settings::winograd>(winograd_option_key),
    option<&Settings::packed_path>(packed_cache_path_option_key),
    option<&Settings::precision>(compute_precision_option_key),
    option<&Settings::segment_nodes>(segment_nodes_option_key),
    {save_weight_cache_on_disk_option_key, runtime::read_option<&Settings::saves>,
     runtime::OptionSource::kRuntime},
};

constexpr runtime::OptionTable<Settings> kOptions{"XNNPACK", kRows, nullptr, runtime::skip_option};

/// By their numbers.
constexpr const char* kPrecisions[] = {"float32", "bfloat16", "float16"};

const char* const* find_precision(const std::string& name) {
  return std::find(std::begin(kPrecisions), std::end(kPrecisions), name);
}

/// Changes `settings` by those of the options that are known; InvalidArgument, and no change, for a
/// value that makes no sense.
Error read_settings(Span<const runtime::BackendOption> options, Settings& settings) {
  Settings read = settings;
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::read_runtime_options(kOptions, options, read));
  ET_CHECK_OR_RETURN_ERROR(
      find_precision(read.precision) != std::end(kPrecisions), InvalidArgument,
      "XNNPACK: expected %s of \"float32\", \"bfloat16\" or \"float16\", found \"%s\"",
      compute_precision_option_key, read.precision.c_str());
  ET_CHECK_OR_RETURN_ERROR(
      read.workspaces >= 0 && read.workspaces < static_cast<int>(WorkspaceSharingMode::Count),
      InvalidArgument, "XNNPACK: expected %s of 0 to 2, found %d",
      workspace_sharing_mode_option_key, read.workspaces);
  ET_CHECK_OR_RETURN_ERROR(read.segment_nodes >= 0, InvalidArgument,
                           "XNNPACK: expected %s of 0 or more, found %d", segment_nodes_option_key,
                           read.segment_nodes);
  ET_CHECK_OR_RETURN_ERROR(read.packed_path.empty() || read.share_weights, InvalidArgument,
                           "XNNPACK: %s needs %s, found it false", packed_cache_path_option_key,
                           weight_cache_option_key);
  settings = read;
  return Error::Ok;
}

class XnnpackBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return initialize() == Error::Ok; }

  /// The payload stays in use, or a copy of it: weights are named data. The handle is on the heap,
  /// deleted by destroy().
  Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
                                        runtime::FreeableBuffer* processed,
                                        runtime::ArrayRef<runtime::CompileSpec>) const override {
    ET_CHECK_OK_OR_RETURN_ERROR(initialize());
    auto handle = std::unique_ptr<Handle>(new (std::nothrow) Handle());
    ET_CHECK_OR_RETURN_ERROR(handle != nullptr, MemoryAllocationFailed, "no memory for a delegate");
    const size_t size = processed->size();
    const Payload payload = ET_UNWRAP(open_payload(settle(*processed, handle->copy), size));
    auto delegate =
        Delegate::create(payload, context.get_named_data_map(), ET_UNWRAP(options_of(context)));
    ET_CHECK_OK_OR_RETURN_ERROR(delegate.error());
    handle->delegate = std::move(delegate.get());
    return static_cast<runtime::DelegateHandle*>(handle.release());
  }

  Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                Span<EValue*> args) const override {
    return static_cast<Handle*>(handle)->delegate->execute(args, context.event_tracer());
  }

  Error set_option(runtime::BackendOptionContext&,
                   const Span<runtime::BackendOption>& options) override {
    bool saves = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ET_CHECK_OK_OR_RETURN_ERROR(read_settings({options.data(), options.size()}, defaults_));
      std::swap(saves, defaults_.saves);
    }
    return saves ? PackedWeights::save() : Error::Ok;
  }

  Error get_option(runtime::BackendOptionContext&, Span<runtime::BackendOption>& options) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    runtime::write_options(kOptions, defaults_, options);
    return Error::Ok;
  }

  void destroy(runtime::DelegateHandle* handle) const override {
    delete static_cast<Handle*>(handle);
  }

 private:
  Result<DelegateOptions> options_of(runtime::BackendInitContext& context) const {
    Settings settings;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      settings = defaults_;
    }
    ET_CHECK_OK_OR_RETURN_ERROR(read_settings(context.runtime_specs(), settings));
    DelegateOptions options;
    options.pool = extension::threadpool::get_pthreadpool();
    options.share_weights = settings.share_weights;
    options.pack_at_load = settings.pack_at_load;
    options.precision =
        static_cast<ComputePrecision>(find_precision(settings.precision) - kPrecisions);
    options.own = {settings.own_kernels, settings.winograd};
    options.segment_nodes = static_cast<size_t>(settings.segment_nodes);
    if (!settings.packed_path.empty()) {
      options.packed_file = ET_UNWRAP(PackedFile::open(settings.packed_path));
    }
    options.workspaces = static_cast<WorkspaceSharingMode>(settings.workspaces);
    options.model = context.get_runtime_allocator();  // every method has one
    options.profile = is_profiling_built() && context.event_tracer() != nullptr;
    return options;
  }

  /// Once per process; the first call looks at the processor.
  static Error initialize() {
    static const xnn_status status = xnn_initialize(block_allocator());
    ET_CHECK_OR_RETURN_ERROR(status == xnn_status_success, NotSupported,
                             "XNNPACK does not run on this processor: status %d",
                             static_cast<int>(status));
    return Error::Ok;
  }

  mutable std::mutex mutex_;
  Settings defaults_;  // of what is loaded from now on
};

}  // namespace

Error register_xnnpack_backend() {
  static XnnpackBackend backend;
  return runtime::register_backend({xnnpack_backend_key, &backend});
}

}  // namespace executorch::backends::xnnpack

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_xnnpack_backend =
    executorch::backends::xnnpack::register_xnnpack_backend();
}
