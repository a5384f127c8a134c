// SPDX-License-Identifier: BSD-3-Clause
// Graphs of one context binary, loaded by QNN, which delegates share.
#pragma once

#include <executorch/backends/qualcomm/runtime/session.h>
#include <executorch/runtime/core/span.h>

#include <memory>
#include <string>
#include <vector>

namespace executorch::backends::qualcomm {

/// An input or output of a graph.
struct GraphTensor {
  std::string name;
  uint32_t id = 0;
  Qnn_TensorType_t type = QNN_TENSOR_TYPE_APP_WRITE;
  Qnn_DataType_t dtype = QNN_DATATYPE_UNDEFINED;
  std::vector<uint32_t> dims;
};

struct LoadedGraph {
  std::string name;
  std::vector<GraphTensor> inputs, outputs;
  Qnn_GraphHandle_t handle = nullptr;
};

class Context final {
 public:
  /// `binary` may go afterwards. Internal when QNN does not take it, with the versions of the
  /// binary and of the library.
  static runtime::Result<std::shared_ptr<Context>> create(std::shared_ptr<Session> session,
                                                          const SystemLibrary& system,
                                                          runtime::Span<const uint8_t> binary);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::shared_ptr<Session>& session() const { return session_; }
  Qnn_ContextHandle_t handle() const { return context_; }
  const std::vector<LoadedGraph>& graphs() const { return graphs_; }

  /// That of a method; the only one there is whatever its name. Internal, with the names, when
  /// there is none.
  runtime::Result<const LoadedGraph*> graph_for(const char* method) const;

 private:
  explicit Context(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  runtime::Error read(const SystemLibrary& system, runtime::Span<const uint8_t> binary);
  runtime::Error load(runtime::Span<const uint8_t> binary);

  std::shared_ptr<Session> session_;
  std::string binary_build_id_;
  std::vector<LoadedGraph> graphs_;
  Qnn_ContextHandle_t context_ = nullptr;
};

/// One that another delegate has loaded from the same bytes in the session, else a new one.
/// `signature`: of the payload.
runtime::Result<std::shared_ptr<Context>> shared_context(std::shared_ptr<Session> session,
                                                         const SystemLibrary& system,
                                                         uint64_t signature,
                                                         runtime::Span<const uint8_t> binary);

}  // namespace executorch::backends::qualcomm
