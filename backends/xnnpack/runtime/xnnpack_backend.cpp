// SPDX-License-Identifier: BSD-3-Clause
// XnnpackBackend: the interface of backends over Delegate.
#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/backends/xnnpack/runtime/payload.h>
#include <executorch/backends/xnnpack/runtime/xnnpack_backend.h>
#include <executorch/extension/threadpool/threadpool.h>

namespace executorch::backends::xnnpack {

using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

class XnnpackBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return initialize() == Error::Ok; }

  /// The payload stays in use: it is small, weights are named data. The handle is a Delegate on the
  /// heap, deleted by destroy().
  Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
                                        runtime::FreeableBuffer* processed,
                                        runtime::ArrayRef<runtime::CompileSpec>) const override {
    ET_CHECK_OK_OR_RETURN_ERROR(initialize());
    const Payload payload = ET_UNWRAP(open_payload(processed->data(), processed->size()));
    auto delegate = Delegate::create(payload, context.get_named_data_map(),
                                     extension::threadpool::get_pthreadpool());
    ET_CHECK_OK_OR_RETURN_ERROR(delegate.error());
    return static_cast<runtime::DelegateHandle*>(delegate.get().release());
  }

  Error execute(runtime::BackendExecutionContext&, runtime::DelegateHandle* handle,
                Span<EValue*> args) const override {
    return static_cast<Delegate*>(handle)->execute(args);
  }

  void destroy(runtime::DelegateHandle* handle) const override {
    delete static_cast<Delegate*>(handle);
  }

 private:
  /// Once per process; the first call looks at the processor.
  static Error initialize() {
    static const xnn_status status = xnn_initialize(nullptr);
    ET_CHECK_OR_RETURN_ERROR(status == xnn_status_success, NotSupported,
                             "XNNPACK does not run on this processor: status %d",
                             static_cast<int>(status));
    return Error::Ok;
  }
};

}  // namespace

Error register_xnnpack_backend() {
  static XnnpackBackend backend;
  return runtime::register_backend({kBackendName, &backend});
}

namespace {
[[maybe_unused]] const Error registered = register_xnnpack_backend();
}  // namespace

}  // namespace executorch::backends::xnnpack
