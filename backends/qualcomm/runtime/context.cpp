// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/runtime/context.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

namespace executorch::backends::qualcomm {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

/// A version such as v2.37.0 among the first bytes, of binaries that the system library cannot
/// read; else "unknown".
std::string version_in(Span<const uint8_t> binary) {
  const size_t end = std::min<size_t>(binary.size(), 4096);
  for (size_t i = 0; i + 5 < end; ++i) {
    if (binary[i] != 'v' || std::isdigit(binary[i + 1]) == 0) {
      continue;
    }
    std::string found;
    for (size_t k = i;
         k < end && (std::isalnum(binary[k]) != 0 || binary[k] == '.' || binary[k] == '-'); ++k) {
      found += static_cast<char>(binary[k]);
    }
    if (std::count(found.begin(), found.end(), '.') >= 2) {
      return found;
    }
  }
  return "unknown";
}

GraphTensor tensor_of(const Qnn_Tensor_t& given) {
  return with_tensor(given, [](const auto& tensor) {
    GraphTensor made{
        tensor.name == nullptr ? "" : tensor.name, tensor.id, tensor.type, tensor.dataType, {}};
    made.dims.assign(tensor.dimensions, tensor.dimensions + tensor.rank);
    return made;
  });
}

template <typename Info>
LoadedGraph graph_of(const Info& info) {
  LoadedGraph made;
  made.name = info.graphName;
  for (uint32_t i = 0; i < info.numGraphInputs; ++i) {
    made.inputs.push_back(tensor_of(info.graphInputs[i]));
  }
  for (uint32_t i = 0; i < info.numGraphOutputs; ++i) {
    made.outputs.push_back(tensor_of(info.graphOutputs[i]));
  }
  return made;
}

LoadedGraph graph_of_any(const QnnSystemContext_GraphInfo_t& info) {
  switch (info.version) {
    case QNN_SYSTEM_CONTEXT_GRAPH_INFO_VERSION_1:
      return graph_of(info.graphInfoV1);
    case QNN_SYSTEM_CONTEXT_GRAPH_INFO_VERSION_2:
      return graph_of(info.graphInfoV2);
    default:
      return graph_of(info.graphInfoV3);
  }
}

/// `use(members)` of what is told of a binary. False for a version that this build does not know.
template <typename Use>
bool with_info(const QnnSystemContext_BinaryInfo_t& info, Use use) {
  switch (info.version) {
    case QNN_SYSTEM_CONTEXT_BINARY_INFO_VERSION_1:
      return use(info.contextBinaryInfoV1), true;
    case QNN_SYSTEM_CONTEXT_BINARY_INFO_VERSION_2:
      return use(info.contextBinaryInfoV2), true;
    case QNN_SYSTEM_CONTEXT_BINARY_INFO_VERSION_3:
      return use(info.contextBinaryInfoV3), true;
    default:
      return false;
  }
}

uint64_t checksum_of(Span<const uint8_t> bytes) {
  uint64_t sum = 0xcbf29ce484222325, next = 0;
  for (size_t i = 0; i < bytes.size(); i += sizeof(next)) {
    std::memcpy(&next, bytes.data() + i, std::min(sizeof(next), bytes.size() - i));
    sum = (sum ^ next) * 0x100000001b3 + (sum >> 32);
  }
  return sum;
}

}  // namespace

Result<std::shared_ptr<Context>> Context::create(std::shared_ptr<Session> session,
                                                 const SystemLibrary& system,
                                                 Span<const uint8_t> binary) {
  std::shared_ptr<Context> made(new Context(std::move(session)));
  ET_CHECK_OK_OR_RETURN_ERROR(made->read(system, binary));
  ET_CHECK_OK_OR_RETURN_ERROR(made->load(binary));
  return made;
}

Error Context::read(const SystemLibrary& system, Span<const uint8_t> binary) {
  binary_build_id_ = version_in(binary);
  QnnSystemContext_Handle_t handle = nullptr;
  const std::string versions =
      "the context binary is of version " + binary_build_id_ + ", read by " + system.name;
  ET_CHECK_OK_OR_RETURN_ERROR(session_->check(system.functions.systemContextCreate(&handle),
                                              "QnnSystemContext_create", versions));
  const QnnSystemContext_BinaryInfo_t* info = nullptr;
  Qnn_ContextBinarySize_t size = 0;
  Error error =
      session_->check(system.functions.systemContextGetBinaryInfo(
                          handle, const_cast<uint8_t*>(binary.data()), binary.size(), &info, &size),
                      "QnnSystemContext_getBinaryInfo", versions);
  if (error == Error::Ok && (info == nullptr || !with_info(*info, [&](const auto& found) {
                               binary_build_id_ =
                                   found.buildId == nullptr ? "unknown" : found.buildId;
                               for (uint32_t i = 0; i < found.numGraphs; ++i) {
                                 graphs_.push_back(graph_of_any(found.graphs[i]));
                               }
                             }))) {
    ET_LOG(Error,
           "QnnBackend: %s tells of a context binary in a form that this build does not know; %s",
           system.name.c_str(), versions.c_str());
    error = Error::Internal;
  }
  system.functions.systemContextFree(handle);
  return error;
}

Error Context::load(Span<const uint8_t> binary) {
  const Functions& functions = session_->functions();
  ET_CHECK_OK_OR_RETURN_ERROR(session_->check(
      functions.contextCreateFromBinary(session_->backend(), session_->device(), nullptr,
                                        binary.data(), binary.size(), &context_, nullptr),
      "QnnContext_createFromBinary", "the context binary is of version " + binary_build_id_));
  for (LoadedGraph& graph : graphs_) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        session_->check(functions.graphRetrieve(context_, graph.name.c_str(), &graph.handle),
                        "QnnGraph_retrieve", "graph " + graph.name));
  }
  return Error::Ok;
}

Context::~Context() {
  if (context_ != nullptr) {
    session_->functions().contextFree(context_, nullptr);
  }
}

Result<const LoadedGraph*> Context::graph_for(const char* method) const {
  std::string names;
  for (const LoadedGraph& graph : graphs_) {
    if (graphs_.size() == 1 || graph.name == (method == nullptr ? "" : method)) {
      return &graph;
    }
    names += (names.empty() ? "" : ", ") + graph.name;
  }
  ET_LOG(Error, "QnnBackend: the context binary has the graphs %s, none for method %s",
         names.empty() ? "(none)" : names.c_str(), method == nullptr ? "(unknown)" : method);
  return Error::Internal;
}

Result<std::shared_ptr<Context>> shared_context(std::shared_ptr<Session> session,
                                                const SystemLibrary& system, uint64_t signature,
                                                Span<const uint8_t> binary) {
  // Signatures come from files: bytes decide, too.
  using Key = std::tuple<const Session*, uint64_t, size_t, uint64_t>;
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<Context>> all;
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto each = all.begin(); each != all.end();) {
    each = each->second.expired() ? all.erase(each) : std::next(each);
  }
  std::weak_ptr<Context>& place =
      all[{session.get(), signature, binary.size(), checksum_of(binary)}];
  std::shared_ptr<Context> context = place.lock();
  if (context == nullptr) {
    context = ET_UNWRAP(Context::create(std::move(session), system, binary));
    place = context;
  }
  return context;
}

}  // namespace executorch::backends::qualcomm
