// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/arm/runtime/VgfBackend.h>
#include <executorch/backends/arm/runtime/vgf/model.h>
#include <executorch/runtime/backend/delegate_backend.h>
#include <executorch/runtime/backend/delegate_event.h>

namespace executorch::backends::arm {

using runtime::DelegateEvent;
using runtime::Error;
using runtime::EventTracer;
using runtime::Result;
using runtime::Span;
using vulkan::Device;

namespace {

constexpr char kName[] = "VgfBackend";

/// The device, if it runs data graphs.
Result<Device*> device_with_graphs() {
  const Result<Device*> device = Device::shared();
  ET_CHECK_OR_RETURN_ERROR(device.ok(), NotSupported, "%s: there is no Vulkan device to run on",
                           kName);
  const Device& found = **device;
  ET_CHECK_OR_RETURN_ERROR(found.missing_for_graphs.empty(), NotSupported,
                           "%s: %s lacks %s; on devices without them Arm's ML emulation layer has "
                           "them (VK_INSTANCE_LAYERS)",
                           kName, found.properties.deviceName, found.missing_for_graphs.c_str());
  return *device;
}

class VgfBackend final : public runtime::DelegateBackend<vgf::Model> {
 public:
  bool is_available() const override { return device_with_graphs().ok(); }

  Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
                                        runtime::FreeableBuffer* processed,
                                        runtime::ArrayRef<runtime::CompileSpec>) const override {
    EventTracer* tracer = context.event_tracer();
    const DelegateEvent whole(tracer, "VGF_INIT_TOTAL");
    vgf::Payload payload = ET_UNWRAP(open(*processed, tracer));
    Device& device = *ET_UNWRAP(open_device(tracer));
    auto model = ET_UNWRAP(create(device, std::move(payload), tracer));
    processed->Free();
    return handle_of(std::move(model));
  }

 private:
  static Result<vgf::Payload> open(const runtime::FreeableBuffer& bytes, EventTracer* tracer) {
    const DelegateEvent event(tracer, "VGF_INIT_DECODE_TABLES");
    return vgf::open_payload({static_cast<const uint8_t*>(bytes.data()), bytes.size()});
  }
  static Result<std::unique_ptr<vgf::Model>> create(Device& device, vgf::Payload payload,
                                                    EventTracer* tracer) {
    const DelegateEvent event(tracer, "VGF_INIT_PROCESS_VGF_BACKEND");
    return vgf::Model::create(device, std::move(payload), vgf::Settings::of_environment(), tracer);
  }
  static Result<Device*> open_device(EventTracer* tracer) {
    const DelegateEvent event(tracer, "VGF_INIT_ENSURE_INITIALIZED");
    return device_with_graphs();
  }
};

}  // namespace

Error register_vgf_backend() {
  static VgfBackend backend;
  return runtime::register_backend({kName, &backend});
}

}  // namespace executorch::backends::arm

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_vgf_backend =
    executorch::backends::arm::register_vgf_backend();
}
