// SPDX-License-Identifier: BSD-3-Clause
// Contexts, graphs and shared memory of the stand-in's libQnnHtp.so.
#include <executorch/backends/qualcomm/stand_in/htp.h>
#include <executorch/backends/qualcomm/stand_in/tensors.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace executorch::backends::qualcomm::stand_in {

namespace {

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

void add_graphs(StandInInterface& out) {
  out.contextCreate = context_create;
  out.contextCreateFromBinary = context_from_binary;
  out.contextGetBinarySize = context_binary_size;
  out.contextGetBinary = context_binary;
  out.contextFree = context_free;
  out.graphCreate = graph_create;
  out.graphAddNode = graph_add_node;
  out.graphFinalize = graph_finalize;
  out.graphRetrieve = graph_retrieve;
  out.graphExecute = graph_execute;
  out.tensorCreateGraphTensor = tensor_create;
  out.memRegister = memory_register;
  out.memDeRegister = memory_deregister;
}

}  // namespace executorch::backends::qualcomm::stand_in
