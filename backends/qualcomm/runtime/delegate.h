// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a graph of a context, and the memory that it was last run with.
#pragma once

#include <executorch/backends/qualcomm/runtime/context.h>
#include <executorch/backends/qualcomm/runtime/power.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>

#include <map>
#include <memory>
#include <vector>

namespace executorch::backends::qualcomm {

/// Any thread may run it, one at a time.
class Delegate final {
 public:
  /// `graph` is the context's. NotSupported for tensors of types that programs do not have.
  static runtime::Result<std::unique_ptr<Delegate>> create(std::shared_ptr<Context> context,
                                                           const LoadedGraph& graph,
                                                           const Options& options);
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  /// `args`: inputs, then outputs, in the order of the graph's. InvalidArgument when they are not
  /// what was compiled for, Internal when QNN fails.
  runtime::Error execute(runtime::Span<runtime::EValue*> args, runtime::EventTracer* tracer);

 private:
  /// An argument: its tensor of the graph, and what programs have for it.
  struct Port {
    const GraphTensor* of;
    executorch::aten::ScalarType dtype;
    Qnn_Tensor_t tensor;
    size_t nbytes = 0;
  };

  Delegate(std::shared_ptr<Context> context, const LoadedGraph& graph, const Options& options)
      : context_(std::move(context)), graph_(graph), options_(options) {}
  runtime::Error open();
  runtime::Result<Port> port_of(const GraphTensor& of) const;
  runtime::Error bind(Port& port, bool is_input, size_t index, const runtime::EValue& value);
  runtime::Result<Qnn_MemHandle_t> registered(const Port& port, const void* data, int fd);
  runtime::Error run(runtime::EventTracer* tracer);
  runtime::Error report(Qnn_ProfileHandle_t profile, runtime::EventTracer* tracer,
                        uint64_t start) const;

  std::shared_ptr<Context> context_;
  const LoadedGraph& graph_;
  Options options_;
  std::vector<Port> inputs_, outputs_;
  std::unique_ptr<PowerVote> power_;
  std::map<const void*, Qnn_MemHandle_t> registered_;  // shared memory, by address
};

}  // namespace executorch::backends::qualcomm
