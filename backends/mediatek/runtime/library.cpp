// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/mediatek/runtime/library.h>
#include <executorch/runtime/backend/dynamic_library.h>

namespace executorch::backends::neuron {

using runtime::DynamicLibrary;
using runtime::Error;
using runtime::Result;

namespace {

constexpr char kHowToGet[] =
    "LD_LIBRARY_PATH must have its folder, of the device or of NeuroPilot Express SDK";

std::string version_of(const DynamicLibrary& library) {
  decltype(&::Neuron_getVersion) get = nullptr;
  NeuronRuntimeVersion version = {};
  if (!library.functions().find_optional("Neuron_getVersion", get) ||
      get(&version) != NEURON_NO_ERROR) {
    return "";
  }
  return " " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

Result<Api> load_default() {
  return load_library(
      {"libneuronusdk_adapter.mtk.so", "libneuron_adapter_mgvi.so", "libneuron_adapter.so"});
}

}  // namespace

Result<Api> load_library(const std::vector<std::string>& names) {
  const auto loaded =
      ET_UNWRAP(DynamicLibrary::open(names, "MediaTek's Neuron adapter", kHowToGet));
  Api api;
  auto functions = loaded.functions();
#define NEURON_FIND(function) functions.find(#function, api.function);
  NEURON_FUNCTIONS(NEURON_FIND)
#undef NEURON_FIND
  ET_CHECK_OK_OR_RETURN_ERROR(
      functions.check(Error::NotFound, "expected MediaTek's Neuron adapter"));
  int (*marker)() = nullptr;
  const bool is_stand_in = functions.find_optional("executorch_neuron_stand_in", marker);
  ET_CHECK_OR_RETURN_ERROR(is_stand_in == kIsStandIn, NotSupported,
                           "NeuropilotBackend: %s is %s, this build is for %s: build it with "
                           "NeuronAdapter.h in backends/mediatek/runtime/include/api",
                           loaded.name().c_str(), is_stand_in ? "a stand-in" : "MediaTek's",
                           kIsStandIn ? "a stand-in" : "MediaTek's");
  api.library = loaded.name() + version_of(loaded);
  return api;
}

Result<const Api*> find_library() {
  return runtime::load_once(load_default);
}

Error check_status(const Api& api, int status, const char* function, Error error) {
  if (status != NEURON_NO_ERROR) {
    ET_LOG(Error, "NeuropilotBackend: %s of %s failed with error %d", function, api.library.c_str(),
           status);
    return error;
  }
  return Error::Ok;
}

}  // namespace executorch::backends::neuron
