// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/mediatek/runtime/delegate.h>
#include <executorch/backends/mediatek/runtime/neuron_backend.h>
#include <executorch/runtime/backend/delegate_backend.h>

namespace executorch::backends::neuron {

using runtime::Error;
using runtime::Result;

namespace {

class NeuropilotBackend final : public runtime::DelegateBackend<Delegate> {
 public:
  bool is_available() const override { return find_library().ok(); }

  /// The payload stays, as the library may refer to it.
  Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> specs) const override {
    const Api& api = *ET_UNWRAP(find_library());
    NeuronOptions options;
    ET_CHECK_OK_OR_RETURN_ERROR(runtime::read_compile_specs(kNeuronTable, specs, options));
    return handle_of(
        Delegate::create(api, {static_cast<const uint8_t*>(processed->data()), processed->size()},
                         context.get_named_data_map(), options));
  }
};

}  // namespace

Error register_neuron_backend() {
  static NeuropilotBackend backend;
  return runtime::register_backend({"NeuropilotBackend", &backend});
}

}  // namespace executorch::backends::neuron

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_neuron_backend =
    executorch::backends::neuron::register_neuron_backend();
}
