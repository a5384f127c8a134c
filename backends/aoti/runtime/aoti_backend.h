// SPDX-License-Identifier: BSD-3-Clause
// A backend of AOTInductor while programs run: what it reads options by and makes delegates with.
//
//   static AotiBackend<Delegate, AotiOptions> backend({kAotiTable, create});
//   return backend.register_once();
#pragma once

#include <executorch/runtime/backend/default_options.h>
#include <executorch/runtime/backend/delegate_backend.h>
#include <executorch/runtime/core/named_data_map.h>

#include <memory>
#include <utility>

namespace executorch::backends::aoti {

template <typename Delegate, typename Options>
struct BackendRow {
  /// Has the backend's name.
  const runtime::OptionTable<Options>& options;
  /// The payload is read before it returns; named data may be null.
  runtime::Result<std::unique_ptr<Delegate>> (*create)(runtime::Span<const uint8_t> payload,
                                                       const runtime::NamedDataMap* named_data,
                                                       const Options& options);
  bool (*is_available)() = [] { return true; };
};

/// Delegates have execute(Span<EValue*>).
template <typename Delegate, typename Options>
class AotiBackend final : public runtime::DelegateBackend<Delegate> {
 public:
  explicit AotiBackend(const BackendRow<Delegate, Options>& row) : row_(row) {}

  /// Calling it again has no effect.
  ET_NODISCARD runtime::Error register_once() {
    return runtime::register_backend({row_.options.backend, this});
  }

  bool is_available() const override { return row_.is_available(); }

  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override {
    Options options;
    common_of(options).method_name =
        context.get_method_name() == nullptr ? "" : context.get_method_name();
    ET_CHECK_OK_OR_RETURN_ERROR(
        defaults_.read(row_.options, specs, context.runtime_specs(), options));
    auto made = row_.create({static_cast<const uint8_t*>(processed->data()), processed->size()},
                            context.get_named_data_map(), options);
    processed->Free();
    return this->handle_of(std::move(made));
  }

  runtime::Error set_option(runtime::BackendOptionContext&,
                            const runtime::Span<runtime::BackendOption>& options) override {
    return defaults_.set({options.data(), options.size()}, row_.options);
  }
  runtime::Error get_option(runtime::BackendOptionContext&,
                            runtime::Span<runtime::BackendOption>& options) override {
    defaults_.get(options);
    return runtime::Error::Ok;
  }

 private:
  BackendRow<Delegate, Options> row_;
  runtime::DefaultOptions defaults_;
};

}  // namespace executorch::backends::aoti
