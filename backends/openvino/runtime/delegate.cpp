// SPDX-License-Identifier: BSD-3-Clause
// Tensors of the method are OpenVINO's where both have the elements in the same order; what is
// bound once stays bound as long as memory and sizes are the same.
#include <executorch/backends/openvino/runtime/delegate.h>
#include <executorch/backends/openvino/runtime/library.h>
#include <executorch/runtime/backend/delegate_event.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace executorch::backends::openvino {

using executorch::aten::ScalarType;
using runtime::Elements;
using runtime::Error;
using runtime::EValue;
using runtime::OperatorEvents;
using runtime::Port;
using runtime::Result;
using runtime::Span;

namespace {

constexpr struct {
  ScalarType dtype;
  ov_element_type_e type;
} kElementTypes[] = {{ScalarType::Bool, BOOLEAN}, {ScalarType::BFloat16, BF16},
                     {ScalarType::Half, F16},     {ScalarType::Float, F32},
                     {ScalarType::Double, F64},   {ScalarType::Char, I8},
                     {ScalarType::Short, I16},    {ScalarType::Int, I32},
                     {ScalarType::Long, I64},     {ScalarType::Byte, U8}};

Result<ScalarType> dtype_of(ov_element_type_e type) {
  for (const auto& each : kElementTypes) {
    if (each.type == type) {
      return each.dtype;
    }
  }
  ET_LOG(Error, "OpenVINO: no tensors of element type %" PRIu32, static_cast<uint32_t>(type));
  return Error::NotSupported;
}

/// Of a port's dtype, which has one.
ov_element_type_e element_type_of(ScalarType dtype) {
  return std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                      [&](const auto& each) { return each.dtype == dtype; })
      ->type;
}

/// Bounds of what varies are OpenVINO's to check.
runtime::PortSizes sizes_of(const ov_partial_shape_t& shape) {
  if (shape.rank.min != shape.rank.max || shape.rank.min < 0) {
    return {};
  }
  std::vector<runtime::PortSizes::Range> ranges;
  for (int64_t i = 0; i < shape.rank.min; ++i) {
    const auto [min, max] = shape.dims[i];
    ranges.push_back(min == max && min >= 0 ? runtime::PortSizes::Range{min, max}
                                            : runtime::PortSizes::Range{});
  }
  return runtime::PortSizes::ranges(std::move(ranges));
}

}  // namespace

ExecutionHandle::ExecutionHandle(const Api& api, ov_compiled_model_t* model)
    : api_(api), model_(model), ports_("OpenVINO") {}

Result<std::unique_ptr<ExecutionHandle>> ExecutionHandle::create(const Api& api,
                                                                 ov_compiled_model_t* model) {
  auto handle = std::unique_ptr<ExecutionHandle>(new (std::nothrow) ExecutionHandle(api, model));
  if (handle == nullptr) {
    api.ov_compiled_model_free(model);
    ET_LOG(Error, "no memory for a delegate");
    return Error::MemoryAllocationFailed;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(handle->read_ports());
  ET_CHECK_OK_OR_RETURN_ERROR(handle->check(
      api.ov_compiled_model_create_infer_request(model, &handle->request_), "creating a request"));
  return handle;
}

ExecutionHandle::~ExecutionHandle() {
  if (request_ != nullptr) {
    api_.ov_infer_request_free(request_);
  }
  api_.ov_compiled_model_free(model_);
}

Error ExecutionHandle::check(ov_status_e status, const char* what) const {
  return check_status(api_, status, Error::Internal, what);
}

Error ExecutionHandle::read_ports() {
  size_t num_inputs = 0;
  size_t num_outputs = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api_.ov_compiled_model_inputs_size(model_, &num_inputs), "counting the inputs"));
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api_.ov_compiled_model_outputs_size(model_, &num_outputs), "counting the outputs"));
  numbers_.resize(num_inputs);
  for (size_t i = 0; i < num_inputs + num_outputs; ++i) {
    const bool is_input = i < num_inputs;
    ov_output_const_port_t* port = nullptr;
    const ov_status_e status =
        is_input ? api_.ov_compiled_model_input_by_index(model_, i, &port)
                 : api_.ov_compiled_model_output_by_index(model_, i - num_inputs, &port);
    ET_CHECK_OK_OR_RETURN_ERROR(check(status, "asking for an input or output"));
    auto read = read_port(port);
    api_.ov_output_const_port_free(port);
    (is_input ? ports_.inputs : ports_.outputs).push_back(ET_UNWRAP(std::move(read)));
  }
  return Error::Ok;
}

Result<Port> ExecutionHandle::read_port(const ov_output_const_port_t* port) const {
  Port out;
  ov_element_type_e type = UNDEFINED;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api_.ov_port_get_element_type(port, &type), "asking for an element type"));
  out.dtype = ET_UNWRAP(dtype_of(type));
  ov_partial_shape_t shape{};
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api_.ov_port_get_partial_shape(port, &shape), "asking for a shape"));
  out.sizes = sizes_of(shape);
  api_.ov_partial_shape_free(&shape);
  return out;
}

Error ExecutionHandle::execute(Span<EValue*> args, runtime::EventTracer* tracer) {
  ET_CHECK_OK_OR_RETURN_ERROR(ports_.check_count(args));
  const Span<EValue*> results(args.data() + ports_.inputs.size(), ports_.outputs.size());
  for (size_t i = 0; i < ports_.inputs.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(bind(true, i, ET_UNWRAP(prepare_input(i, *args[i]))));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Elements memory = ET_UNWRAP(ports_.prepare_output(i, *results[i]));
    if (ports_.outputs[i].sizes.are_fixed()) {
      ET_CHECK_OK_OR_RETURN_ERROR(bind(false, i, memory));
    }
  }
  const et_timestamp_t start = tracer != nullptr ? et_pal_current_ticks() : 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check(api_.ov_infer_request_infer(request_), "running"));
  report(tracer, start);
  for (size_t i = 0; i < results.size(); ++i) {
    const Port& port = ports_.outputs[i];
    ET_CHECK_OK_OR_RETURN_ERROR(port.sizes.are_fixed()
                                    ? ports_.store_output(i, port.bound, *results[i])
                                    : take_output(i, *results[i]));
  }
  return Error::Ok;
}

/// An int is a tensor of one int64.
Result<Elements> ExecutionHandle::prepare_input(size_t index, const EValue& value) {
  if (value.isInt() && ports_.inputs[index].dtype == ScalarType::Long) {
    numbers_[index] = value.toInt();
    return Elements::row_major(&numbers_[index], ScalarType::Long, std::vector<int64_t>{1});
  }
  return ports_.prepare_input(index, value);
}

/// Of sizes that OpenVINO did not know before: it wrote into memory of its own.
Error ExecutionHandle::take_output(size_t index, const EValue& value) const {
  ov_tensor_t* tensor = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api_.ov_infer_request_get_output_tensor_by_index(request_, index, &tensor),
            "asking for an output"));
  Elements result;
  result.dtype = ports_.outputs[index].dtype;
  Error error = read_output(tensor, result);
  if (error == Error::Ok) {
    error = ports_.store_output(index, result, value);
  }
  api_.ov_tensor_free(tensor);
  return error;
}

Error ExecutionHandle::read_output(const ov_tensor_t* tensor, Elements& out) const {
  ov_shape_t shape{};
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api_.ov_tensor_get_shape(tensor, &shape), "asking for an output's shape"));
  out = Elements::row_major(nullptr, out.dtype,
                            Span<const int64_t>(shape.dims, static_cast<size_t>(shape.rank)));
  const bool has_all = out.rank == static_cast<size_t>(shape.rank);
  api_.ov_shape_free(&shape);
  size_t num_bytes = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api_.ov_tensor_get_byte_size(tensor, &num_bytes), "asking for an output's size"));
  ET_CHECK_OR_RETURN_ERROR(has_all && num_bytes == out.nbytes(), InvalidArgument,
                           "OpenVINO: an output of %zu bytes, found %zu", out.nbytes(), num_bytes);
  return num_bytes == 0
             ? Error::Ok
             : check(api_.ov_tensor_data(tensor, &out.data), "asking for an output's memory");
}

Error ExecutionHandle::bind(bool is_input, size_t index, const Elements& elements) {
  static uint64_t nothing = 0;  // the address of tensors without elements
  Port& port = is_input ? ports_.inputs[index] : ports_.outputs[index];
  return port.bind(elements, [&](Elements memory) {
    const ov_shape_t shape = {static_cast<int64_t>(memory.rank),
                              memory.rank == 0 ? nullptr : memory.sizes};
    void* data = memory.data == nullptr ? &nothing : memory.data;
    ov_tensor_t* tensor = nullptr;
    ET_CHECK_OK_OR_RETURN_ERROR(check(
        api_.ov_tensor_create_from_host_ptr(element_type_of(port.dtype), shape, data, &tensor),
        "a tensor over an argument's memory"));
    const ov_status_e status =
        is_input ? api_.ov_infer_request_set_input_tensor_by_index(request_, index, tensor)
                 : api_.ov_infer_request_set_output_tensor_by_index(request_, index, tensor);
    api_.ov_tensor_free(tensor);
    const std::string what =
        (is_input ? "giving input " : "giving output ") + std::to_string(index);
    return check(status, what.c_str());
  });
}

/// What each layer took, one after the other.
void ExecutionHandle::report(runtime::EventTracer* tracer, et_timestamp_t start) const {
  ov_profiling_info_list_t layers{};
  if (!OperatorEvents::are_wanted(tracer) ||
      api_.ov_infer_request_get_profiling_info(request_, &layers) != kOk) {
    return;
  }
  OperatorEvents events(tracer, start, 1000 * OperatorEvents::ticks_of_ns());
  for (size_t i = 0; i < layers.size; ++i) {
    const ov_profiling_info_t& layer = layers.profiling_infos[i];
    if (layer.status == ov_profiling_info_t::EXECUTED) {
      const std::string name = std::string(layer.node_type) + " " + layer.node_name;
      events.add(name.c_str(), static_cast<double>(layer.real_time));
    }
  }
  api_.ov_profiling_info_list_free(&layers);
}

}  // namespace executorch::backends::openvino
