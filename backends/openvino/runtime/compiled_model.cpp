// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/openvino/runtime/compiled_model.h>
#include <executorch/backends/openvino/runtime/library.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace executorch::backends::openvino {

using runtime::Error;
using runtime::Result;

namespace {

std::string name_of_device(const std::string& device) {
  return device.substr(0, device.find_first_of(":."));
}

/// Those that are here, without their numbers.
std::vector<std::string> available_devices(const Api& api, ov_core_t* core) {
  ov_available_devices_t devices{};
  if (api.ov_core_get_available_devices(core, &devices) != kOk) {
    return {};
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < devices.size; ++i) {
    names.push_back(name_of_device(devices.devices[i]));
  }
  api.ov_available_devices_free(&devices);
  return names;
}

/// Whether 8-bit products, two of which are added, saturate at 16 bits: x86 without VNNI. OpenVINO
/// uses them all the same; without its low precision transformations it computes in floats.
bool products_saturate() {
#if defined(__x86_64__) && defined(__GNUC__)
  constexpr uint32_t kExtendedFeatures = 7, kAvx512Vnni = 1U << 11, kAvxVnni = 1U << 4;
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(kExtendedFeatures, 0, &eax, &ebx, &ecx, &edx) && (ecx & kAvx512Vnni)) {
    return false;
  }
  return !(__get_cpuid_count(kExtendedFeatures, 1, &eax, &ebx, &ecx, &edx) && (eax & kAvxVnni));
#else
  return false;
#endif
}

/// Float32 stays float32 where devices would compute in fewer bits. A device that chooses among
/// others knows no such property, or does not hand it on: each of them gets it. An NPU has no
/// choice.
void keep_precision(const Api& api, ov_core_t* core, const std::string& device) {
  std::vector<std::string> names = {device};
  if (device != "CPU" && device != "GPU" && device != "NPU") {
    const std::vector<std::string> others = available_devices(api, core);
    names.insert(names.end(), others.begin(), others.end());
  }
  for (const std::string& name : names) {
    if (name != "NPU") {
      static_cast<void>(
          api.ov_core_set_property(core, name.c_str(), "EXECUTION_MODE_HINT", "ACCURACY"));
    }
  }
}

Result<ov_core_t*> make_core(const Api& api, const Settings& settings) {
  ov_core_t* core = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(api, api.ov_core_create(&core), Error::Internal, "creating a core"));
  const std::string device = name_of_device(settings.device);
  if (products_saturate()) {  // also where the CPU is one of several devices, or fewer bits will do
    static_cast<void>(api.ov_core_set_property(core, "CPU", "LP_TRANSFORMS_MODE", "NO"));
  }
  if (!settings.has_precision()) {
    keep_precision(api, core, device);
  }
  for (const auto& [name, value] : settings.properties) {
    const std::string what = "property " + name + "=" + value + " of device " + device;
    const Error error = check_status(
        api, api.ov_core_set_property(core, device.c_str(), name.c_str(), value.c_str()),
        Error::InvalidArgument, what.c_str());
    if (error != Error::Ok) {
      api.ov_core_free(core);
      return error;
    }
  }
  return core;
}

/// Kept for good: to make one takes longer than to load a model.
Result<ov_core_t*> core_for(const Api& api, const Settings& settings) {
  static std::mutex mutex;
  static auto& cores = *new std::unordered_map<std::string, ov_core_t*>();
  const std::lock_guard<std::mutex> lock(mutex);
  ov_core_t*& core = cores[settings.key()];
  if (core == nullptr) {
    core = ET_UNWRAP(make_core(api, settings));
  }
  return core;
}

Result<ov_compiled_model_t*> import_compiled(const Api& api, ov_core_t* core,
                                             const Payload& payload, const std::string& device) {
  const std::string found = version_of(api);
  ET_CHECK_OR_RETURN_ERROR(
      payload.version.empty() || payload.version == found, DelegateInvalidCompatibility,
      "payload made by OpenVINO %s, this is OpenVINO %s: export again with this version, install "
      "openvino==%s, or export with the compile spec payload=ir, which any version runs",
      payload.version.c_str(), found.c_str(), payload.version.c_str());
  ov_compiled_model_t* model = nullptr;
  const std::string what = "importing a payload for device " + device +
                           (payload.version.empty() ? " (of a version that it does not say)" : "") +
                           (payload.isa.empty() ? "" : ", compiled for " + payload.isa);
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(api,
                   api.ov_core_import_model(core, payload.bytes.data(), payload.bytes.size(),
                                            device.c_str(), &model),
                   Error::DelegateInvalidCompatibility, what.c_str()));
  return model;
}

Result<ov_compiled_model_t*> compile(const Api& api, ov_core_t* core, const Payload& payload,
                                     const std::string& device) {
  ov_tensor_t* weights = nullptr;
  int64_t size = static_cast<int64_t>(payload.weights.size());
  if (size > 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_status(api,
                     api.ov_tensor_create_from_host_ptr(
                         U8, {1, &size}, const_cast<char*>(payload.weights.data()), &weights),
                     Error::Internal, "a tensor of the model's weights"));
  }
  ov_model_t* read = nullptr;
  ov_compiled_model_t* model = nullptr;
  Error error = check_status(api,
                             api.ov_core_read_model_from_memory_buffer(
                                 core, payload.model.data(), payload.model.size(), weights, &read),
                             Error::DelegateInvalidCompatibility, "reading a portable payload");
  if (error == Error::Ok) {
    const std::string what = "compiling a portable payload for device " + device;
    error = check_status(api, api.ov_core_compile_model(core, read, device.c_str(), 0, &model),
                         Error::DelegateInvalidCompatibility, what.c_str());
    api.ov_model_free(read);
  }
  if (weights != nullptr) {
    api.ov_tensor_free(weights);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(error);
  return model;
}

}  // namespace

bool has_device(const Api& api) {
  ov_core_t* core = nullptr;
  if (api.ov_core_create(&core) != kOk) {
    return false;
  }
  const bool has = !available_devices(api, core).empty();
  api.ov_core_free(core);
  return has;
}

Result<ov_compiled_model_t*> load_model(const Api& api, const Payload& payload,
                                        const Settings& settings) {
  ov_core_t* core = ET_UNWRAP(core_for(api, settings));
  return payload.is_portable ? compile(api, core, payload, settings.device)
                             : import_compiled(api, core, payload, settings.device);
}

}  // namespace executorch::backends::openvino
