// SPDX-License-Identifier: BSD-3-Clause
// A library in the place of libQnnHtp.so: it takes graphs as that does, gives them back as context
// binaries, and evaluates them. Here: its log, backend and device; htp_graphs.cpp and
// htp_profiles.cpp have the rest.
#include <executorch/backends/qualcomm/stand_in/htp.h>
#include <executorch/backends/qualcomm/stand_in/operators.h>
#include <executorch/backends/qualcomm/stand_in/tensors.h>

namespace executorch::backends::qualcomm::stand_in {

namespace {

void print(const Backend* backend, const char* format, ...) {
  if (backend == nullptr || backend->log == nullptr || backend->log->callback == nullptr) {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  backend->log->callback(format, QNN_LOG_LEVEL_ERROR, 0, arguments);
  va_end(arguments);
}

}  // namespace

Qnn_ErrorHandle_t fail(const Backend* backend, Qnn_ErrorHandle_t error, const std::string& why) {
  print(backend, "%s", why.c_str());
  return error;
}

std::string why_not_taken(const Qnn_OpConfigV1_t& config) {
  const Row* row = find_row(config.typeName);
  if (row == nullptr || std::string(config.packageName) != "qti.aisw") {
    return std::string("operator ") + config.typeName + " of " + config.packageName +
           " is not in the stand-in";
  }
  if (config.numOfInputs < row->min_inputs || config.numOfInputs > row->max_inputs) {
    return std::string(config.typeName) + " does not take " + std::to_string(config.numOfInputs) +
           " inputs";
  }
  for (uint32_t i = 0; i < config.numOfInputs + config.numOfOutputs; ++i) {
    const Qnn_Tensor_t& tensor = i < config.numOfInputs
                                     ? config.inputTensors[i]
                                     : config.outputTensors[i - config.numOfInputs];
    const std::string why = why_not(*spec_of(tensor));
    if (!why.empty()) {
      return std::string("tensor ") + tensor.v1.name + " of " + config.typeName + ": " + why;
    }
  }
  return "";
}

std::mutex& common_mutex() {
  static std::mutex mutex;
  return mutex;
}

namespace {

Qnn_ErrorHandle_t log_create(QnnLog_Callback_t callback, QnnLog_Level_t level,
                             Qnn_LogHandle_t* out) {
  *out = new Log{callback, level};
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t log_set_level(Qnn_LogHandle_t log, QnnLog_Level_t level) {
  static_cast<Log*>(log)->level = level;
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t log_free(Qnn_LogHandle_t log) {
  delete static_cast<Log*>(log);
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t backend_create(Qnn_LogHandle_t log, const QnnBackend_Config_t**,
                                 Qnn_BackendHandle_t* out) {
  *out = new Backend{static_cast<Log*>(log)};
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t backend_free(Qnn_BackendHandle_t backend) {
  delete static_cast<Backend*>(backend);
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t backend_api_version(Qnn_ApiVersion_t* out) {
  out->coreApiVersion = {2, 28, 0};
  out->backendApiVersion = {5, 37, 0};
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t backend_build_id(const char** out) {
  *out = kBuildId;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t validate(Qnn_BackendHandle_t backend, Qnn_OpConfig_t config) {
  const std::string why = why_not_taken(config.v1);
  return why.empty() ? QNN_SUCCESS : fail(static_cast<Backend*>(backend), kNotSupported, why);
}
Qnn_ErrorHandle_t register_package(Qnn_BackendHandle_t backend, const char* path, const char*,
                                   const char*) {
  const bool is_named = path != nullptr && *path != '\0';
  return is_named
             ? QNN_SUCCESS
             : fail(static_cast<Backend*>(backend), kInvalidArgument, "a package without a path");
}
Qnn_ErrorHandle_t device_create(Qnn_LogHandle_t, const QnnDevice_Config_t** configs,
                                Qnn_DeviceHandle_t* out) {
  auto* device = new Device;
  for (; configs != nullptr && *configs != nullptr; ++configs) {
    const auto& custom = *static_cast<const QnnHtpDevice_CustomConfig_t*>((*configs)->customConfig);
    if (custom.option == QNN_HTP_DEVICE_CONFIG_OPTION_SOC) {
      device->soc_model = custom.socModel;
    } else {
      device->arch = custom.arch.arch;
    }
  }
  *out = device;
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t device_free(Qnn_DeviceHandle_t device) {
  delete static_cast<Device*>(device);
  return QNN_SUCCESS;
}

// The votes for power that are in force.
std::map<uint32_t, QnnHtpPerfInfrastructure_DcvsV3_t>& power_votes() {
  static std::map<uint32_t, QnnHtpPerfInfrastructure_DcvsV3_t> votes;
  return votes;
}
Qnn_ErrorHandle_t power_create(uint32_t, uint32_t, uint32_t* out) {
  const std::lock_guard<std::mutex> lock(common_mutex());
  static uint32_t last = 0;
  *out = ++last;
  power_votes()[*out] = {};
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t power_set(uint32_t id, const QnnHtpPerfInfrastructure_PowerConfig_t** configs) {
  const std::lock_guard<std::mutex> lock(common_mutex());
  const auto found = power_votes().find(id);
  if (found == power_votes().end() || configs == nullptr || *configs == nullptr) {
    return kInvalidArgument;
  }
  found->second = (*configs)->dcvsV3Config;
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t power_destroy(uint32_t id) {
  const std::lock_guard<std::mutex> lock(common_mutex());
  return power_votes().erase(id) == 1 ? QNN_SUCCESS : kInvalidArgument;
}
Qnn_ErrorHandle_t device_infrastructure(const QnnDevice_Infrastructure_t* out) {
  static QnnHtpDevice_Infrastructure_t infrastructure{{power_create, power_set, power_destroy}};
  *const_cast<QnnDevice_Infrastructure_t*>(out) = &infrastructure;
  return QNN_SUCCESS;
}

}  // namespace

}  // namespace executorch::backends::qualcomm::stand_in

extern "C" {

Qnn_ErrorHandle_t QnnInterface_getProviders(const QnnInterface_t*** out, uint32_t* out_count) {
  using namespace executorch::backends::qualcomm::stand_in;
  static const QnnInterface_t provider = [] {
    QnnInterface_t made{};
    made.providerName = "stand-in";
    backend_api_version(&made.apiVersion);
    StandInInterface& f = made.QNN_INTERFACE_VER_NAME;
    f.logCreate = log_create;
    f.logSetLogLevel = log_set_level;
    f.logFree = log_free;
    f.backendCreate = backend_create;
    f.backendFree = backend_free;
    f.backendGetApiVersion = backend_api_version;
    f.backendGetBuildId = backend_build_id;
    f.backendValidateOpConfig = validate;
    f.backendRegisterOpPackage = register_package;
    f.deviceCreate = device_create;
    f.deviceFree = device_free;
    f.deviceGetInfrastructure = device_infrastructure;
    add_graphs(f);
    add_profiles(f);
    return made;
  }();
  static const QnnInterface_t* providers[] = {&provider};
  *out = providers;
  *out_count = 1;
  return QNN_SUCCESS;
}

/// What says that the library is none of the vendor's.
uint32_t executorch_qnn_stand_in() {
  return 1;
}

}  // extern "C"
