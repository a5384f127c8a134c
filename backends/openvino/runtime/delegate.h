// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a compiled model, a request of its own, and the tensors that it
// was last run with.
#pragma once

#include <executorch/backends/openvino/runtime/OpenvinoApi.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/ports/ports.h>

#include <memory>
#include <vector>

namespace executorch::backends::openvino {

/// What init() returns. Different handles run in parallel, each on one thread at a time.
class ExecutionHandle final {
 public:
  /// Takes the model, which is freed with the handle, or here if something fails.
  static runtime::Result<std::unique_ptr<ExecutionHandle>> create(const Api& api,
                                                                  ov_compiled_model_t* model);
  ~ExecutionHandle();
  ExecutionHandle(const ExecutionHandle&) = delete;
  ExecutionHandle& operator=(const ExecutionHandle&) = delete;

  /// `args`: inputs, then outputs, which take the sizes that the model gives them. Tensors of any
  /// order of dimensions; an int is a tensor of one int64. InvalidArgument for others than were
  /// compiled for.
  runtime::Error execute(runtime::Span<runtime::EValue*> args, runtime::EventTracer* tracer);

 private:
  ExecutionHandle(const Api& api, ov_compiled_model_t* model);
  runtime::Error check(ov_status_e status, const char* what) const;
  runtime::Error read_ports();
  runtime::Result<runtime::Port> read_port(const ov_output_const_port_t* port) const;
  runtime::Result<runtime::Elements> prepare_input(size_t index, const runtime::EValue& value);
  runtime::Error take_output(size_t index, const runtime::EValue& value) const;
  runtime::Error read_output(const ov_tensor_t* tensor, runtime::Elements& out) const;
  runtime::Error bind(bool is_input, size_t index, const runtime::Elements& elements);
  void report(runtime::EventTracer* tracer, et_timestamp_t start) const;

  const Api& api_;
  ov_compiled_model_t* model_;
  ov_infer_request_t* request_ = nullptr;
  runtime::Ports ports_;
  std::vector<int64_t> numbers_;  // by input: of an int
};

}  // namespace executorch::backends::openvino
