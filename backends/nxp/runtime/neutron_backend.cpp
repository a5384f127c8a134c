// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/nxp/runtime/delegate.h>
#include <executorch/backends/nxp/runtime/neutron_backend.h>
#include <executorch/runtime/backend/interface.h>

#include <new>

namespace executorch::backends::neutron {

using runtime::Error;
using runtime::Result;

namespace {

class NeutronBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return find_driver().ok(); }

  /// The payload stays in use. Boards have no heap: the handle is in the method's memory.
  Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
                                        runtime::FreeableBuffer* processed,
                                        runtime::ArrayRef<runtime::CompileSpec>) const override {
    const Payload payload = ET_UNWRAP(
        Payload::read({static_cast<const uint8_t*>(processed->data()), processed->size()}));
    const Driver& driver = *ET_UNWRAP(find_driver());
    auto* place = context.get_runtime_allocator()->allocateInstance<Delegate>();
    ET_CHECK_OR_RETURN_ERROR(place != nullptr, MemoryAllocationFailed, "%s: no memory for a handle",
                             kBackend);
    auto* made = new (place) Delegate(driver, payload);
    ET_CHECK_OK_OR_RETURN_ERROR(made->prepare());
    return static_cast<runtime::DelegateHandle*>(made);
  }

  Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                runtime::Span<runtime::EValue*> args) const override {
    return static_cast<const Delegate*>(handle)->execute(context, args);
  }

  void destroy(runtime::DelegateHandle* handle) const override {
    static_cast<Delegate*>(handle)->~Delegate();
  }
};

}  // namespace

Error register_neutron_backend() {
  static NeutronBackend backend;
  return runtime::register_backend({kBackend, &backend});
}

}  // namespace executorch::backends::neutron

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_executorch_delegate_neutron =
    executorch::backends::neutron::register_neutron_backend();
}
