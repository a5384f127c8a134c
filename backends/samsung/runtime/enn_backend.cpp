// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/samsung/runtime/delegate.h>
#include <executorch/backends/samsung/runtime/enn_backend.h>
#include <executorch/runtime/backend/delegate_backend.h>

namespace executorch::backends::enn {

using runtime::Error;
using runtime::Result;

namespace {

class EnnBackend final : public runtime::DelegateBackend<Delegate> {
 public:
  bool is_available() const override { return find_library().ok(); }

  /// The payload stays, as the library may refer to it.
  Result<runtime::DelegateHandle*> init(runtime::BackendInitContext&,
                                        runtime::FreeableBuffer* processed,
                                        runtime::ArrayRef<runtime::CompileSpec>) const override {
    const Api& api = *ET_UNWRAP(find_library());
    return handle_of(
        Delegate::create(api, {static_cast<const uint8_t*>(processed->data()), processed->size()}));
  }
};

}  // namespace

Error register_enn_backend() {
  static EnnBackend backend;
  return runtime::register_backend({"EnnBackend", &backend});
}

}  // namespace executorch::backends::enn

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_enn_backend =
    executorch::backends::enn::register_enn_backend();
}
