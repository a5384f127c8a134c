// SPDX-License-Identifier: BSD-3-Clause
// A library in the place of libQnnHtp.so: it takes graphs as that does, gives them back as context
// binaries, and evaluates them. Why something fails goes to the log.
#include <executorch/backends/qualcomm/stand_in/context.h>
#include <executorch/backends/qualcomm/stand_in/operators.h>
#include <executorch/backends/qualcomm/stand_in/tensors.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

namespace executorch::backends::qualcomm::stand_in {

namespace {

struct Log {
  QnnLog_Callback_t callback;
  QnnLog_Level_t level;
};
struct Backend {
  Log* log;
};
struct Device {
  uint32_t soc_model = 0, arch = 0;
};
struct Graph;
struct Context {
  Backend* backend;
  std::unique_ptr<qnn_stand_in::ContextT> stored;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::map<std::vector<uint8_t>, int32_t> constants;  // shared ones
};
struct Graph {
  Context* context;
  size_t place;
  bool is_finalized;

  qnn_stand_in::GraphT& stored() const { return *context->stored->graphs[place]; }
};
struct Memory {
  void* data;
  size_t size;
};
struct Profile {
  QnnProfile_Level_t level;
  std::vector<Timing> timings;
  std::vector<QnnProfile_EventId_t> whole, operators;
};

void print(const Backend* backend, const char* format, ...) {
  if (backend == nullptr || backend->log == nullptr || backend->log->callback == nullptr) {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  backend->log->callback(format, QNN_LOG_LEVEL_ERROR, 0, arguments);
  va_end(arguments);
}

Qnn_ErrorHandle_t fail(const Backend* backend, Qnn_ErrorHandle_t error, const std::string& why) {
  print(backend, "%s", why.c_str());
  return error;
}

// ---- Log, backend, device ----

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

/// Of what all handles have in common.
std::mutex mutex;

// The votes for power that are in force.
std::map<uint32_t, QnnHtpPerfInfrastructure_DcvsV3_t>& power_votes() {
  static std::map<uint32_t, QnnHtpPerfInfrastructure_DcvsV3_t> votes;
  return votes;
}
Qnn_ErrorHandle_t power_create(uint32_t, uint32_t, uint32_t* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  static uint32_t last = 0;
  *out = ++last;
  power_votes()[*out] = {};
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t power_set(uint32_t id, const QnnHtpPerfInfrastructure_PowerConfig_t** configs) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = power_votes().find(id);
  if (found == power_votes().end() || configs == nullptr || *configs == nullptr) {
    return kInvalidArgument;
  }
  found->second = (*configs)->dcvsV3Config;
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t power_destroy(uint32_t id) {
  const std::lock_guard<std::mutex> lock(mutex);
  return power_votes().erase(id) == 1 ? QNN_SUCCESS : kInvalidArgument;
}
Qnn_ErrorHandle_t device_infrastructure(const QnnDevice_Infrastructure_t* out) {
  static QnnHtpDevice_Infrastructure_t infrastructure{{power_create, power_set, power_destroy}};
  *const_cast<QnnDevice_Infrastructure_t*>(out) = &infrastructure;
  return QNN_SUCCESS;
}

// ---- Contexts and graphs ----

Qnn_ErrorHandle_t context_create(Qnn_BackendHandle_t backend, Qnn_DeviceHandle_t device,
                                 const QnnContext_Config_t** configs, Qnn_ContextHandle_t* out) {
  auto* context = new Context{
      static_cast<Backend*>(backend), std::make_unique<qnn_stand_in::ContextT>(), {}, {}};
  context->stored->build_id = kBuildId;
  if (device != nullptr) {
    context->stored->soc_model = static_cast<Device*>(device)->soc_model;
    context->stored->arch = static_cast<Device*>(device)->arch;
  }
  for (; configs != nullptr && *configs != nullptr; ++configs) {
    const auto& custom =
        *static_cast<const QnnHtpContext_CustomConfig_t*>((*configs)->customConfig);
    context->stored->shares_weights |= custom.weightSharingEnabled;
  }
  *out = context;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t context_from_binary(Qnn_BackendHandle_t backend, Qnn_DeviceHandle_t,
                                      const QnnContext_Config_t**, const void* bytes,
                                      Qnn_ContextBinarySize_t size, Qnn_ContextHandle_t* out,
                                      Qnn_ProfileHandle_t) {
  auto stored = unpack(bytes, size);
  if (stored == nullptr) {
    return fail(static_cast<Backend*>(backend), kInvalidBinary, "bytes that are no context binary");
  }
  auto* context = new Context{static_cast<Backend*>(backend), std::move(stored), {}, {}};
  for (size_t i = 0; i < context->stored->graphs.size(); ++i) {
    context->graphs.push_back(std::make_unique<Graph>(Graph{context, i, true}));
  }
  *out = context;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t context_binary_size(Qnn_ContextHandle_t context, Qnn_ContextBinarySize_t* out) {
  *out = pack(*static_cast<Context*>(context)->stored).size();
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t context_binary(Qnn_ContextHandle_t context, void* out,
                                 Qnn_ContextBinarySize_t size,
                                 Qnn_ContextBinarySize_t* out_written) {
  const auto* made = static_cast<Context*>(context);
  const bool are_finalized = std::all_of(made->graphs.begin(), made->graphs.end(),
                                         [](const auto& graph) { return graph->is_finalized; });
  const std::vector<uint8_t> bytes = pack(*made->stored);
  if (!are_finalized || size < bytes.size()) {
    return fail(made->backend, kFailed,
                "a graph that is not finalized, or too little memory for the binary");
  }
  std::memcpy(out, bytes.data(), bytes.size());
  *out_written = bytes.size();
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t context_free(Qnn_ContextHandle_t context, Qnn_ProfileHandle_t) {
  delete static_cast<Context*>(context);
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t graph_create(Qnn_ContextHandle_t handle, const char* name,
                               const QnnGraph_Config_t** configs, Qnn_GraphHandle_t* out) {
  auto* context = static_cast<Context*>(handle);
  auto made = std::make_unique<qnn_stand_in::GraphT>();
  made->name = name;
  for (; configs != nullptr && *configs != nullptr; ++configs) {
    const auto& custom = *static_cast<const QnnHtpGraph_CustomConfig_t*>((*configs)->customConfig);
    if (custom.option == QNN_HTP_GRAPH_CONFIG_OPTION_PRECISION) {
      made->precision = "float16";
    } else if (custom.option == QNN_HTP_GRAPH_CONFIG_OPTION_VTCM_SIZE) {
      made->vtcm_mb = custom.vtcmSizeInMB;
    }
  }
  context->graphs.push_back(std::make_unique<Graph>(Graph{context, context->graphs.size(), false}));
  context->stored->graphs.push_back(std::move(made));
  *out = context->graphs.back().get();
  return QNN_SUCCESS;
}

int32_t add_constant(Context& context, const Qnn_ClientBuffer_t& buffer) {
  const auto* data = static_cast<const uint8_t*>(buffer.data);
  std::vector<uint8_t> bytes(data, data + buffer.dataSize);
  const auto next = static_cast<int32_t>(context.stored->constants.size());
  if (context.stored->shares_weights) {
    const auto [found, is_new] = context.constants.emplace(bytes, next);
    if (!is_new) {
      return found->second;
    }
  }
  context.stored->constants.push_back(std::make_unique<qnn_stand_in::ConstantT>());
  context.stored->constants.back()->bytes = std::move(bytes);
  return next;
}

Qnn_ErrorHandle_t tensor_create(Qnn_GraphHandle_t handle, Qnn_Tensor_t* tensor) {
  auto& graph = *static_cast<Graph*>(handle);
  auto spec = spec_of(*tensor);
  std::string why = why_not(*spec);
  if (why.empty() && spec->type == QNN_TENSOR_TYPE_STATIC) {
    const size_t wanted = num_bytes(*spec);
    if (tensor->v1.clientBuf.data == nullptr || tensor->v1.clientBuf.dataSize != wanted) {
      why = "data of " + std::to_string(wanted) + " bytes are expected";
    } else {
      spec->constant = add_constant(*graph.context, tensor->v1.clientBuf);
    }
  }
  if (!why.empty()) {
    return fail(graph.context->backend, kInvalidArgument, "tensor " + spec->name + ": " + why);
  }
  tensor->v1.id = static_cast<uint32_t>(graph.stored().tensors.size());
  graph.stored().tensors.push_back(std::move(spec));
  return QNN_SUCCESS;
}

std::unique_ptr<qnn_stand_in::ParameterT> parameter_of(const Qnn_Param_t& given) {
  auto made = std::make_unique<qnn_stand_in::ParameterT>();
  made->name = given.name;
  if (given.paramType == QNN_PARAMTYPE_TENSOR) {
    made->tensor = static_cast<int32_t>(given.tensorParam.v1.id);
    return made;
  }
  made->dtype = given.scalarParam.dataType;
  std::memcpy(&made->bits, &given.scalarParam.uint64Value, num_bytes(made->dtype));
  return made;
}

Qnn_ErrorHandle_t graph_add_node(Qnn_GraphHandle_t handle, Qnn_OpConfig_t config) {
  auto& graph = *static_cast<Graph*>(handle);
  const Qnn_OpConfigV1_t& given = config.v1;
  const std::string why = why_not_taken(given);
  if (!why.empty()) {
    return fail(graph.context->backend, kNotSupported, why);
  }
  auto made = std::make_unique<qnn_stand_in::OperatorT>();
  made->name = given.name;
  made->package = given.packageName;
  made->type = given.typeName;
  for (uint32_t i = 0; i < given.numOfInputs; ++i) {
    made->inputs.push_back(given.inputTensors[i].v1.id);
  }
  for (uint32_t i = 0; i < given.numOfOutputs; ++i) {
    made->outputs.push_back(given.outputTensors[i].v1.id);
  }
  for (uint32_t i = 0; i < given.numOfParams; ++i) {
    made->parameters.push_back(parameter_of(given.params[i]));
  }
  graph.stored().operators.push_back(std::move(made));
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t graph_finalize(Qnn_GraphHandle_t handle, Qnn_ProfileHandle_t,
                                 Qnn_SignalHandle_t) {
  auto& graph = *static_cast<Graph*>(handle);
  if (graph.stored().operators.empty()) {
    return fail(graph.context->backend, kFailed,
                "graph " + graph.stored().name + " has no operators");
  }
  graph.is_finalized = true;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t graph_retrieve(Qnn_ContextHandle_t handle, const char* name,
                                 Qnn_GraphHandle_t* out) {
  const auto& context = *static_cast<Context*>(handle);
  for (const auto& graph : context.graphs) {
    if (graph->stored().name == name) {
      *out = graph.get();
      return QNN_SUCCESS;
    }
  }
  return fail(context.backend, kInvalidArgument, std::string("there is no graph ") + name);
}

/// The memory that the caller has for a tensor; null, with why, when it does not fit.
uint8_t* memory_of(const Qnn_Tensor_t& tensor, const TensorSpec& spec, std::string& out_why) {
  const bool is_shared = tensor.v1.memType == QNN_TENSORMEMTYPE_MEMHANDLE;
  const Memory* shared = is_shared ? static_cast<const Memory*>(tensor.v1.memHandle) : nullptr;
  void* data = is_shared ? (shared == nullptr ? nullptr : shared->data) : tensor.v1.clientBuf.data;
  const size_t size =
      is_shared ? (shared == nullptr ? 0 : shared->size) : tensor.v1.clientBuf.dataSize;
  if (data == nullptr || size < num_bytes(spec)) {
    out_why = "tensor " + spec.name + ": " + std::to_string(num_bytes(spec)) +
              " bytes are expected, found " + std::to_string(size);
  }
  return static_cast<uint8_t*>(data);
}

Qnn_ErrorHandle_t graph_execute(Qnn_GraphHandle_t handle, const Qnn_Tensor_t* inputs,
                                uint32_t num_inputs, Qnn_Tensor_t* outputs, uint32_t num_outputs,
                                Qnn_ProfileHandle_t profile, Qnn_SignalHandle_t) {
  const auto& graph = *static_cast<Graph*>(handle);
  const auto& tensors = graph.stored().tensors;
  std::vector<const uint8_t*> given(tensors.size(), nullptr);
  std::vector<uint8_t*> taken(tensors.size(), nullptr);
  std::string why = graph.is_finalized ? "" : "the graph is not finalized";
  for (uint32_t i = 0; i < num_inputs + num_outputs && why.empty(); ++i) {
    const Qnn_Tensor_t& tensor = i < num_inputs ? inputs[i] : outputs[i - num_inputs];
    const uint32_t id = tensor.v1.id;
    const auto wanted = i < num_inputs ? QNN_TENSOR_TYPE_APP_WRITE : QNN_TENSOR_TYPE_APP_READ;
    if (id >= tensors.size() || tensors[id]->type != static_cast<uint32_t>(wanted)) {
      why = "a tensor that is no input or output of the graph";
      break;
    }
    uint8_t* memory = memory_of(tensor, *tensors[id], why);
    if (i < num_inputs) {
      given[id] = memory;
    } else {
      taken[id] = memory;
    }
  }
  std::vector<Timing> timings;
  if (why.empty()) {
    why = run(*graph.context->stored, graph.stored(), given, taken,
              profile == nullptr ? nullptr : &timings);
  }
  if (!why.empty()) {
    return fail(graph.context->backend, kFailed, "graph " + graph.stored().name + ": " + why);
  }
  if (profile != nullptr) {
    static_cast<Profile*>(profile)->timings = std::move(timings);
  }
  return QNN_SUCCESS;
}

// ---- Profile ----

std::vector<Profile*>& profiles() {
  static std::vector<Profile*> all;
  return all;
}
Qnn_ErrorHandle_t profile_create(Qnn_BackendHandle_t, QnnProfile_Level_t level,
                                 Qnn_ProfileHandle_t* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  profiles().push_back(new Profile{level, {}, {}, {}});
  *out = profiles().back();
  return QNN_SUCCESS;
}
/// One event for the run; its parts, operators, are there in detail only. An event is the address
/// of its timing; that of the run is the profile's own.
Qnn_ErrorHandle_t profile_events(Qnn_ProfileHandle_t handle, const QnnProfile_EventId_t** out,
                                 uint32_t* out_count) {
  auto& profile = *static_cast<Profile*>(handle);
  profile.whole.assign(profile.timings.empty() ? 0 : 1,
                       reinterpret_cast<QnnProfile_EventId_t>(handle));
  *out = profile.whole.data();
  *out_count = static_cast<uint32_t>(profile.whole.size());
  return QNN_SUCCESS;
}
Profile* profile_of(QnnProfile_EventId_t event) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = std::find_if(profiles().begin(), profiles().end(), [&](Profile* each) {
    return reinterpret_cast<QnnProfile_EventId_t>(each) == event;
  });
  return found == profiles().end() ? nullptr : *found;
}
Qnn_ErrorHandle_t profile_sub_events(QnnProfile_EventId_t event, const QnnProfile_EventId_t** out,
                                     uint32_t* out_count) {
  Profile* profile = profile_of(event);
  *out_count = 0;
  if (profile != nullptr && profile->level == QNN_PROFILE_LEVEL_DETAILED) {
    profile->operators.clear();
    for (const Timing& timing : profile->timings) {
      profile->operators.push_back(reinterpret_cast<QnnProfile_EventId_t>(&timing));
    }
    *out = profile->operators.data();
    *out_count = static_cast<uint32_t>(profile->operators.size());
  }
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t profile_event_data(QnnProfile_EventId_t event, QnnProfile_EventData_t* out) {
  out->unit = QNN_PROFILE_EVENTUNIT_MICROSEC;
  out->type = 0;
  if (const Profile* profile = profile_of(event)) {
    out->identifier = "execute";
    out->value = 0;
    for (const Timing& timing : profile->timings) {
      out->value += timing.microseconds;
    }
    return QNN_SUCCESS;
  }
  const auto& timing = *reinterpret_cast<const Timing*>(event);
  out->identifier = timing.name.c_str();
  out->value = timing.microseconds;
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t profile_free(Qnn_ProfileHandle_t profile) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto& all = profiles();
  all.erase(std::remove(all.begin(), all.end(), static_cast<Profile*>(profile)), all.end());
  delete static_cast<Profile*>(profile);
  return QNN_SUCCESS;
}

// ---- Shared memory ----

Qnn_ErrorHandle_t memory_register(Qnn_ContextHandle_t context,
                                  const Qnn_MemDescriptor_t* descriptors, uint32_t count,
                                  Qnn_MemHandle_t* out) {
  for (uint32_t i = 0; i < count; ++i) {
    size_t size = num_bytes(descriptors[i].dataType);
    for (uint32_t d = 0; d < descriptors[i].memShape.numDim; ++d) {
      size *= descriptors[i].memShape.dimSize[d];
    }
    void* data =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[i].ionInfo.fd, 0);
    if (data == MAP_FAILED) {
      return fail(static_cast<Context*>(context)->backend, kInvalidArgument,
                  "memory that cannot be mapped");
    }
    out[i] = new Memory{data, size};
  }
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t memory_deregister(const Qnn_MemHandle_t* handles, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    auto* memory = static_cast<Memory*>(handles[i]);
    munmap(memory->data, memory->size);
    delete memory;
  }
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
    f.contextCreate = context_create;
    f.contextCreateFromBinary = context_from_binary;
    f.contextGetBinarySize = context_binary_size;
    f.contextGetBinary = context_binary;
    f.contextFree = context_free;
    f.graphCreate = graph_create;
    f.graphAddNode = graph_add_node;
    f.graphFinalize = graph_finalize;
    f.graphRetrieve = graph_retrieve;
    f.graphExecute = graph_execute;
    f.tensorCreateGraphTensor = tensor_create;
    f.profileCreate = profile_create;
    f.profileGetEvents = profile_events;
    f.profileGetSubEvents = profile_sub_events;
    f.profileGetEventData = profile_event_data;
    f.profileFree = profile_free;
    f.memRegister = memory_register;
    f.memDeRegister = memory_deregister;
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
