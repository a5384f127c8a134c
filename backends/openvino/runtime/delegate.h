// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a compiled model, a request of its own, and the tensors that it
// was last run with.
#pragma once

#include <executorch/backends/openvino/runtime/OpenvinoApi.h>
#include <executorch/runtime/backend/interface.h>

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
  /// An input or output of the model, and the memory that the request has for it.
  struct Port {
    ov_element_type_e type = UNDEFINED;
    std::vector<int64_t> sizes;  // -1 where they vary
    bool has_rank = true;
    bool is_static = true;

    const void* bound = nullptr;
    std::vector<int64_t> bound_sizes;
    std::vector<uint8_t> copy;  // in row-major order, where the tensor is not
    bool is_copied = false;     // of an output
    int64_t number = 0;         // of an int
  };

  ExecutionHandle(const Api& api, ov_compiled_model_t* model) : api_(api), model_(model) {}
  runtime::Error read_ports();
  runtime::Error read_port(const ov_output_const_port_t* port, Port& out) const;
  runtime::Error give_input(size_t index, const runtime::EValue& value);
  runtime::Error give_output(size_t index, const runtime::EValue& value);
  runtime::Error take_output(size_t index, const executorch::aten::Tensor& out);
  runtime::Error bind(Port& port, size_t index, bool is_input, void* data,
                      const std::vector<int64_t>& sizes);
  void report(runtime::EventTracer& tracer, et_timestamp_t start) const;

  const Api& api_;
  ov_compiled_model_t* model_;
  ov_infer_request_t* request_ = nullptr;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
};

}  // namespace executorch::backends::openvino
