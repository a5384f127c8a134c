// SPDX-License-Identifier: BSD-3-Clause
// Tensors of the method are OpenVINO's where both have the elements in the same order; what is
// bound once stays bound as long as memory and sizes are the same.
#include <executorch/backends/openvino/runtime/delegate.h>
#include <executorch/backends/openvino/runtime/library.h>
#include <executorch/backends/openvino/runtime/tensors.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <string>

namespace executorch::backends::openvino {

using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

std::vector<int64_t> sizes_of(const Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end()};
}

std::string text_of(const std::vector<int64_t>& sizes) {
  std::string text = "[";
  for (const int64_t size : sizes) {
    text += (text.size() > 1 ? ", " : "") + (size < 0 ? std::string("?") : std::to_string(size));
  }
  return text + "]";
}

bool fits(const std::vector<int64_t>& expected, const std::vector<int64_t>& found) {
  return expected.size() == found.size() &&
         std::equal(expected.begin(), expected.end(), found.begin(),
                    [](int64_t one, int64_t other) { return one < 0 || one == other; });
}

}  // namespace

Result<std::unique_ptr<ExecutionHandle>> ExecutionHandle::create(const Api& api,
                                                                 ov_compiled_model_t* model) {
  auto handle = std::unique_ptr<ExecutionHandle>(new (std::nothrow) ExecutionHandle(api, model));
  if (handle == nullptr) {
    api.ov_compiled_model_free(model);
    ET_LOG(Error, "no memory for a delegate");
    return Error::MemoryAllocationFailed;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(handle->read_ports());
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(api, api.ov_compiled_model_create_infer_request(model, &handle->request_),
                   Error::Internal, "creating a request"));
  return handle;
}

ExecutionHandle::~ExecutionHandle() {
  if (request_ != nullptr) {
    api_.ov_infer_request_free(request_);
  }
  api_.ov_compiled_model_free(model_);
}

Error ExecutionHandle::read_ports() {
  size_t num_inputs = 0;
  size_t num_outputs = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(api_,
                                           api_.ov_compiled_model_inputs_size(model_, &num_inputs),
                                           Error::Internal, "counting the inputs"));
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(api_, api_.ov_compiled_model_outputs_size(model_, &num_outputs), Error::Internal,
                   "counting the outputs"));
  inputs_.resize(num_inputs);
  outputs_.resize(num_outputs);
  for (size_t i = 0; i < num_inputs + num_outputs; ++i) {
    const bool is_input = i < num_inputs;
    ov_output_const_port_t* port = nullptr;
    const ov_status_e status =
        is_input ? api_.ov_compiled_model_input_by_index(model_, i, &port)
                 : api_.ov_compiled_model_output_by_index(model_, i - num_inputs, &port);
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_status(api_, status, Error::Internal, "asking for an input or output"));
    const Error error = read_port(port, is_input ? inputs_[i] : outputs_[i - num_inputs]);
    api_.ov_output_const_port_free(port);
    ET_CHECK_OK_OR_RETURN_ERROR(error);
  }
  return Error::Ok;
}

Error ExecutionHandle::read_port(const ov_output_const_port_t* port, Port& out) const {
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(api_, api_.ov_port_get_element_type(port, &out.type),
                                           Error::Internal, "asking for an element type"));
  ov_partial_shape_t shape{};
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(api_, api_.ov_port_get_partial_shape(port, &shape),
                                           Error::Internal, "asking for a shape"));
  out.has_rank = shape.rank.min == shape.rank.max && shape.rank.min >= 0;
  out.is_static = out.has_rank;
  for (int64_t i = 0; out.has_rank && i < shape.rank.min; ++i) {
    const ov_dimension_t size = shape.dims[i];
    const bool is_static = size.min == size.max && size.min >= 0;
    out.sizes.push_back(is_static ? size.min : -1);
    out.is_static = out.is_static && is_static;
  }
  api_.ov_partial_shape_free(&shape);
  return Error::Ok;
}

Error ExecutionHandle::execute(Span<EValue*> args, runtime::EventTracer* tracer) {
  ET_CHECK_OR_RETURN_ERROR(args.size() == inputs_.size() + outputs_.size(), InvalidArgument,
                           "OpenVINO: %zu arguments, expected %zu inputs and %zu outputs",
                           args.size(), inputs_.size(), outputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(give_input(i, *args[i]));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(give_output(i, *args[inputs_.size() + i]));
  }
  const et_timestamp_t start = tracer != nullptr ? et_pal_current_ticks() : 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(api_, api_.ov_infer_request_infer(request_), Error::Internal, "running"));
  if (tracer != nullptr) {
    report(*tracer, start);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Tensor& out = args[inputs_.size() + i]->toTensor();
    if (!outputs_[i].is_static) {
      ET_CHECK_OK_OR_RETURN_ERROR(take_output(i, out));
    } else if (outputs_[i].is_copied) {
      ET_CHECK_OK_OR_RETURN_ERROR(from_row_major(outputs_[i].copy.data(), out));
    }
  }
  return Error::Ok;
}

Error ExecutionHandle::give_input(size_t index, const EValue& value) {
  Port& port = inputs_[index];
  if (value.isInt()) {
    port.number = value.toInt();
    ET_CHECK_OR_RETURN_ERROR(port.type == I64, InvalidArgument,
                             "OpenVINO input %zu: an int, expected a tensor", index);
    return bind(port, index, true, &port.number, {1});
  }
  ET_CHECK_OR_RETURN_ERROR(value.isTensor(), InvalidArgument,
                           "OpenVINO input %zu: expected a tensor or an int", index);
  const Tensor& tensor = value.toTensor();
  ET_CHECK_OR_RETURN_ERROR(ET_UNWRAP(element_type_of(tensor.scalar_type())) == port.type,
                           InvalidArgument,
                           "OpenVINO input %zu: dtype %s is not what it was compiled for", index,
                           runtime::toString(tensor.scalar_type()));
  const std::vector<int64_t> sizes = sizes_of(tensor);
  ET_CHECK_OR_RETURN_ERROR(!port.has_rank || fits(port.sizes, sizes), InvalidArgument,
                           "OpenVINO input %zu: expected sizes %s, found %s", index,
                           text_of(port.sizes).c_str(), text_of(sizes).c_str());
  ET_CHECK_OR_RETURN_ERROR(tensor.const_data_ptr() != nullptr || tensor.numel() == 0,
                           InvalidArgument, "OpenVINO input %zu has no data", index);
  if (is_row_major(tensor)) {
    return bind(port, index, true, const_cast<void*>(tensor.const_data_ptr()), sizes);
  }
  port.copy.resize(tensor.nbytes());
  ET_CHECK_OK_OR_RETURN_ERROR(to_row_major(tensor, port.copy.data()));
  return bind(port, index, true, port.copy.data(), sizes);
}

/// Where OpenVINO knows the sizes it writes into the tensor; elsewhere into memory of its own.
Error ExecutionHandle::give_output(size_t index, const EValue& value) {
  Port& port = outputs_[index];
  ET_CHECK_OR_RETURN_ERROR(value.isTensor(), InvalidArgument,
                           "OpenVINO output %zu: expected a tensor", index);
  const Tensor& tensor = value.toTensor();
  ET_CHECK_OR_RETURN_ERROR(ET_UNWRAP(element_type_of(tensor.scalar_type())) == port.type,
                           InvalidArgument,
                           "OpenVINO output %zu: dtype %s is not what it was compiled for", index,
                           runtime::toString(tensor.scalar_type()));
  if (!port.is_static) {
    return Error::Ok;
  }
  std::vector<executorch::aten::SizesType> sizes(port.sizes.begin(), port.sizes.end());
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::resize_tensor(tensor, {sizes.data(), sizes.size()}));
  ET_CHECK_OR_RETURN_ERROR(tensor.mutable_data_ptr() != nullptr || tensor.numel() == 0,
                           InvalidArgument, "OpenVINO output %zu has no memory", index);
  port.is_copied = !is_row_major(tensor);
  if (port.is_copied) {
    port.copy.resize(tensor.nbytes());
  }
  return bind(port, index, false, port.is_copied ? port.copy.data() : tensor.mutable_data_ptr(),
              port.sizes);
}

Error ExecutionHandle::take_output(size_t index, const Tensor& out) {
  ov_tensor_t* tensor = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(api_, api_.ov_infer_request_get_output_tensor_by_index(request_, index, &tensor),
                   Error::Internal, "asking for an output"));
  ov_shape_t shape{};
  void* data = nullptr;
  size_t num_bytes = 0;
  Error error = check_status(api_, api_.ov_tensor_get_shape(tensor, &shape), Error::Internal,
                             "asking for an output's shape");
  if (error == Error::Ok) {
    std::vector<executorch::aten::SizesType> sizes(shape.dims, shape.dims + shape.rank);
    api_.ov_shape_free(&shape);
    error = runtime::resize_tensor(out, {sizes.data(), sizes.size()});
  }
  if (error == Error::Ok && out.numel() > 0) {
    error = check_status(api_, api_.ov_tensor_data(tensor, &data), Error::Internal,
                         "asking for an output's memory");
    if (error == Error::Ok) {
      error = check_status(api_, api_.ov_tensor_get_byte_size(tensor, &num_bytes), Error::Internal,
                           "asking for an output's size");
    }
    if (error == Error::Ok && num_bytes == out.nbytes() && out.mutable_data_ptr() != nullptr) {
      error = from_row_major(data, out);
    } else if (error == Error::Ok) {
      ET_LOG(Error, "OpenVINO output %zu: expected %zu bytes, found %zu", index, out.nbytes(),
             num_bytes);
      error = Error::InvalidArgument;
    }
  }
  api_.ov_tensor_free(tensor);
  return error;
}

Error ExecutionHandle::bind(Port& port, size_t index, bool is_input, void* data,
                            const std::vector<int64_t>& sizes) {
  static uint64_t nothing = 0;  // the address of tensors without elements
  data = data == nullptr ? &nothing : data;
  if (port.bound == data && port.bound_sizes == sizes) {
    return Error::Ok;
  }
  std::vector<int64_t> dims = sizes;
  const ov_shape_t shape = {static_cast<int64_t>(dims.size()),
                            dims.empty() ? nullptr : dims.data()};
  ov_tensor_t* tensor = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(api_, api_.ov_tensor_create_from_host_ptr(port.type, shape, data, &tensor),
                   Error::Internal, "a tensor over an argument's memory"));
  const ov_status_e status =
      is_input ? api_.ov_infer_request_set_input_tensor_by_index(request_, index, tensor)
               : api_.ov_infer_request_set_output_tensor_by_index(request_, index, tensor);
  api_.ov_tensor_free(tensor);
  const std::string what = (is_input ? "giving input " : "giving output ") + std::to_string(index);
  port.bound = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(api_, status, Error::Internal, what.c_str()));
  port.bound = data;
  port.bound_sizes = sizes;
  return Error::Ok;
}

/// What each layer took, one after the other.
void ExecutionHandle::report(runtime::EventTracer& tracer, et_timestamp_t start) const {
  if (tracer.event_tracer_profiling_level() !=
      runtime::EventTracerProfilingLevel::kProfileAllEvents) {
    return;
  }
  ov_profiling_info_list_t layers{};
  if (api_.ov_infer_request_get_profiling_info(request_, &layers) != kOk) {
    return;
  }
  const et_tick_ratio_t ratio = et_pal_ticks_to_ns_multiplier();
  const double ticks = 1000.0 * static_cast<double>(ratio.denominator) /
                       static_cast<double>(ratio.numerator);  // of a microsecond
  double elapsed = 0;
  for (size_t i = 0; i < layers.size; ++i) {
    const ov_profiling_info_t& layer = layers.profiling_infos[i];
    if (layer.status != ov_profiling_info_t::EXECUTED) {
      continue;
    }
    const std::string name = std::string(layer.node_type) + " " + layer.node_name;
    const auto begin = start + static_cast<et_timestamp_t>(elapsed);
    elapsed += static_cast<double>(layer.real_time) * ticks;
    tracer.log_profiling_delegate(name.c_str(), runtime::kUnsetDelegateDebugIntId, begin,
                                  start + static_cast<et_timestamp_t>(elapsed));
  }
  api_.ov_profiling_info_list_free(&layers);
}

}  // namespace executorch::backends::openvino
