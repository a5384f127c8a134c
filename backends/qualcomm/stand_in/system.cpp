// SPDX-License-Identifier: BSD-3-Clause
// A library in the place of libQnnSystem.so: what a context binary has.
#include <executorch/backends/qualcomm/stand_in/context.h>
#include <executorch/backends/qualcomm/stand_in/tensors.h>

namespace executorch::backends::qualcomm::stand_in {

namespace {

/// What is told of a binary, as long as its context.
struct SystemContext {
  std::unique_ptr<qnn_stand_in::ContextT> stored;
  std::vector<std::vector<Qnn_Tensor_t>> tensors;  // of each graph inputs, then outputs
  std::vector<QnnSystemContext_GraphInfo_t> graphs;
  QnnSystemContext_BinaryInfo_t info;
};

Qnn_ErrorHandle_t create(QnnSystemContext_Handle_t* out) {
  *out = new SystemContext{};
  return QNN_SUCCESS;
}

std::vector<Qnn_Tensor_t> tensors_of(qnn_stand_in::GraphT& graph, uint32_t type) {
  std::vector<Qnn_Tensor_t> found;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i]->type == type) {
      found.push_back(tensor_of(*graph.tensors[i], static_cast<uint32_t>(i)));
    }
  }
  return found;
}

Qnn_ErrorHandle_t binary_info(QnnSystemContext_Handle_t handle, void* bytes, uint64_t size,
                              const QnnSystemContext_BinaryInfo_t** out,
                              Qnn_ContextBinarySize_t* out_size) {
  auto& context = *static_cast<SystemContext*>(handle);
  context.stored = unpack(bytes, size);
  if (context.stored == nullptr) {
    return kInvalidBinary;
  }
  context.graphs.clear();
  context.tensors.clear();
  context.tensors.reserve(2 *
                          context.stored->graphs.size());  // what is told of them stays where it is
  for (const auto& graph : context.stored->graphs) {
    QnnSystemContext_GraphInfo_t info{};
    info.version = QNN_SYSTEM_CONTEXT_GRAPH_INFO_VERSION_1;
    info.graphInfoV1.graphName = graph->name.c_str();
    context.tensors.push_back(tensors_of(*graph, QNN_TENSOR_TYPE_APP_WRITE));
    info.graphInfoV1.graphInputs = context.tensors.back().data();
    info.graphInfoV1.numGraphInputs = static_cast<uint32_t>(context.tensors.back().size());
    context.tensors.push_back(tensors_of(*graph, QNN_TENSOR_TYPE_APP_READ));
    info.graphInfoV1.graphOutputs = context.tensors.back().data();
    info.graphInfoV1.numGraphOutputs = static_cast<uint32_t>(context.tensors.back().size());
    context.graphs.push_back(info);
  }
  context.info.version = QNN_SYSTEM_CONTEXT_BINARY_INFO_VERSION_1;
  context.info.contextBinaryInfoV1 = {context.stored->build_id.c_str(), context.graphs.data(),
                                      static_cast<uint32_t>(context.graphs.size())};
  *out = &context.info;
  *out_size = sizeof(context.info);
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t destroy(QnnSystemContext_Handle_t context) {
  delete static_cast<SystemContext*>(context);
  return QNN_SUCCESS;
}

}  // namespace

}  // namespace executorch::backends::qualcomm::stand_in

extern "C" {

Qnn_ErrorHandle_t QnnSystemInterface_getProviders(const QnnSystemInterface_t*** out,
                                                  uint32_t* out_count) {
  using namespace executorch::backends::qualcomm::stand_in;
  static const QnnSystemInterface_t provider{"stand-in", {create, binary_info, destroy}};
  static const QnnSystemInterface_t* providers[] = {&provider};
  *out = providers;
  *out_count = 1;
  return QNN_SUCCESS;
}

uint32_t executorch_qnn_stand_in() {
  return 1;
}

}  // extern "C"
