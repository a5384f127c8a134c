// SPDX-License-Identifier: BSD-3-Clause
// Runs a graph on the memory of the tensors: nothing is copied here.
#include <executorch/backends/qualcomm/runtime/delegate.h>
#include <executorch/backends/qualcomm/runtime/shared_memory.h>
#include <executorch/runtime/backend/delegate_event.h>
#include <executorch/runtime/backend/tensor_arguments.h>

#include <limits>

namespace executorch::backends::qualcomm {

using executorch::aten::ScalarType;
using runtime::Error;
using runtime::EValue;
using runtime::OperatorEvents;
using runtime::Result;
using runtime::Span;
using runtime::TensorView;

namespace {

constexpr char kName[] = "QnnBackend";

/// Quantized values have the integers that hold them.
Result<ScalarType> dtype_of(const GraphTensor& tensor) {
  switch (tensor.dtype) {
    case QNN_DATATYPE_FLOAT_32:
      return ScalarType::Float;
    case QNN_DATATYPE_FLOAT_16:
      return ScalarType::Half;
    case QNN_DATATYPE_BOOL_8:
      return ScalarType::Bool;
    case QNN_DATATYPE_UINT_8:
    case QNN_DATATYPE_UFIXED_POINT_8:
      return ScalarType::Byte;
    case QNN_DATATYPE_INT_8:
    case QNN_DATATYPE_SFIXED_POINT_8:
      return ScalarType::Char;
    case QNN_DATATYPE_INT_16:
    case QNN_DATATYPE_SFIXED_POINT_16:
      return ScalarType::Short;
    case QNN_DATATYPE_UINT_16:
    case QNN_DATATYPE_UFIXED_POINT_16:
      return ScalarType::UInt16;
    case QNN_DATATYPE_INT_32:
    case QNN_DATATYPE_SFIXED_POINT_32:
      return ScalarType::Int;
    case QNN_DATATYPE_INT_64:
      return ScalarType::Long;
    default:
      ET_LOG(Error, "%s: tensor %s has data type %d, which programs do not have", kName,
             tensor.name.c_str(), static_cast<int>(tensor.dtype));
      return Error::NotSupported;
  }
}

std::string text_of(const std::vector<uint32_t>& dims) {
  std::string text = "[";
  for (size_t d = 0; d < dims.size(); ++d) {
    text += (d > 0 ? ", " : "") + std::to_string(dims[d]);
  }
  return text + "]";
}

/// In the order of memory: a tensor that lies channels last is NHWC for QNN. One without dimensions
/// has one of size 1.
bool has_dims(const TensorView& view, const std::vector<uint32_t>& dims) {
  if (view.rank() == 0) {
    return dims.size() == 1 && dims[0] == 1;
  }
  bool is_same = view.rank() == dims.size();
  for (size_t d = 0; d < dims.size() && is_same; ++d) {
    is_same = view.sizes()[view.dim_in_memory(d)] == static_cast<int64_t>(dims[d]);
  }
  return is_same;
}

}  // namespace

Result<std::unique_ptr<Delegate>> Delegate::create(std::shared_ptr<Context> context,
                                                   const LoadedGraph& graph,
                                                   const Options& options) {
  std::unique_ptr<Delegate> made(new Delegate(std::move(context), graph, options));
  ET_CHECK_OK_OR_RETURN_ERROR(made->open());
  return made;
}

/// What programs change themselves (mutbuf_) is no argument.
Error Delegate::open() {
  for (const GraphTensor& tensor : graph_.inputs) {
    if (tensor.name.find("mutbuf_") == std::string::npos) {
      inputs_.push_back(ET_UNWRAP(port_of(tensor)));
    }
  }
  for (const GraphTensor& tensor : graph_.outputs) {
    if (tensor.name.rfind("output_", 0) == 0 && tensor.name.find("mutbuf_") == std::string::npos) {
      outputs_.push_back(ET_UNWRAP(port_of(tensor)));
    }
  }
  power_ = ET_UNWRAP(PowerVote::create(context_->session(), options_));
  return Error::Ok;
}

Result<Delegate::Port> Delegate::port_of(const GraphTensor& of) const {
  Port port {
    &of, ET_UNWRAP(dtype_of(of))
    , {}, 0
  };
  port.tensor.version = QNN_TENSOR_VERSION_1;
  port.tensor.v1.name = of.name.c_str();
  port.tensor.v1.id = of.id;
  port.tensor.v1.type = of.type;
  port.tensor.v1.dataType = of.dtype;
  port.tensor.v1.rank = static_cast<uint32_t>(of.dims.size());
  port.tensor.v1.dimensions = const_cast<uint32_t*>(of.dims.data());
  port.tensor.v1.quantizeParams.encodingDefinition = QNN_DEFINITION_UNDEFINED;
  port.tensor.v1.quantizeParams.quantizationEncoding = QNN_QUANTIZATION_ENCODING_UNDEFINED;
  return port;
}

Delegate::~Delegate() {
  for (const auto& [data, handle] : registered_) {
    context_->session()->functions().memDeRegister(&handle, 1);
  }
}

Error Delegate::execute(Span<EValue*> args, runtime::EventTracer* tracer) {
  ET_CHECK_OK_OR_RETURN_ERROR(
      runtime::TensorArguments::of(kName, args, inputs_.size(), outputs_.size()).error());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(bind(inputs_[i], true, i, *args[i]));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(bind(outputs_[i], false, i, *args[inputs_.size() + i]));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(power_->raise());
  const Error error = run(tracer);
  const Error released = power_->release();
  return error != Error::Ok ? error : released;
}

Error Delegate::bind(Port& port, bool is_input, size_t index, const EValue& value) {
  const runtime::ArgumentName name{kName, is_input ? "input" : "output", index,
                                   port.of->name.c_str()};
  const TensorView view =
      ET_UNWRAP(TensorView::of(name, value, {port.dtype, runtime::kAnyRank, false}));
  ET_CHECK_OK_OR_RETURN_ERROR(view.check_memory());
  ET_CHECK_OR_RETURN_ERROR(
      has_dims(view, port.of->dims), InvalidArgument,
      "%s: expected sizes %s in the order of memory, found %s", name.text().data(),
      text_of(port.of->dims).c_str(),
      runtime::tensor_shape_to_c_string(
          Span<const executorch::aten::SizesType>(view.sizes().data(), view.sizes().size()))
          .data());
  ET_CHECK_OR_RETURN_ERROR(view.nbytes() <= std::numeric_limits<uint32_t>::max(), NotSupported,
                           "%s: expected less than 4 GiB", name.text().data());
  port.nbytes = view.nbytes();
  void* data = const_cast<void*>(view.data<void>());
  if (options_.shared_buffer) {
    if (const std::optional<int> fd = shared_memory_at(data, port.nbytes)) {
      port.tensor.v1.memType = QNN_TENSORMEMTYPE_MEMHANDLE;
      port.tensor.v1.memHandle = ET_UNWRAP(registered(port, data, *fd));
      return Error::Ok;
    }
  }
  port.tensor.v1.memType = QNN_TENSORMEMTYPE_RAW;
  port.tensor.v1.clientBuf.data = data;
  port.tensor.v1.clientBuf.dataSize = static_cast<uint32_t>(port.nbytes);
  return Error::Ok;
}

/// Once for each address, when it is first used.
Result<Qnn_MemHandle_t> Delegate::registered(const Port& port, const void* data, int fd) {
  const auto found = registered_.find(data);
  if (found != registered_.end()) {
    return found->second;
  }
  Qnn_MemDescriptor_t descriptor{};
  descriptor.memShape.numDim = port.tensor.v1.rank;
  descriptor.memShape.dimSize = port.tensor.v1.dimensions;
  descriptor.dataType = port.of->dtype;
  descriptor.memType = QNN_MEM_TYPE_ION;
  descriptor.ionInfo.fd = fd;
  Qnn_MemHandle_t handle = nullptr;
  const Session& session = *context_->session();
  ET_CHECK_OK_OR_RETURN_ERROR(
      session.check(session.functions().memRegister(context_->handle(), &descriptor, 1, &handle),
                    "QnnMem_register"));
  registered_[data] = handle;
  return handle;
}

/// With a profile where someone reads it.
Error Delegate::run(runtime::EventTracer* tracer) {
  const Session& session = *context_->session();
  Qnn_ProfileHandle_t profile = nullptr;
  if (options_.profile_level > 0 && OperatorEvents::are_wanted(tracer)) {
    const auto level =
        options_.profile_level > 1 ? QNN_PROFILE_LEVEL_DETAILED : QNN_PROFILE_LEVEL_BASIC;
    ET_CHECK_OK_OR_RETURN_ERROR(
        session.check(session.functions().profileCreate(session.backend(), level, &profile),
                      "QnnProfile_create"));
  }
  std::vector<Qnn_Tensor_t> inputs, outputs;
  for (const Port& port : inputs_) {
    inputs.push_back(port.tensor);
  }
  for (const Port& port : outputs_) {
    outputs.push_back(port.tensor);
  }
  const uint64_t start = et_pal_current_ticks();
  Error error = Error::Ok;
  {
    const runtime::DelegateEvent event(tracer, "QNN_EXECUTE");
    error =
        session.check(session.functions().graphExecute(
                          graph_.handle, inputs.data(), static_cast<uint32_t>(inputs.size()),
                          outputs.data(), static_cast<uint32_t>(outputs.size()), profile, nullptr),
                      "QnnGraph_execute", "graph " + graph_.name);
  }
  if (profile != nullptr) {
    error = error == Error::Ok ? report(profile, tracer, start) : error;
    session.functions().profileFree(profile);
  }
  return error;
}

/// The run's events by QNN's clock, and its operators'; those in cycles count as microseconds.
Error Delegate::report(Qnn_ProfileHandle_t profile, runtime::EventTracer* tracer,
                       uint64_t start) const {
  const Session& session = *context_->session();
  const Functions& functions = session.functions();
  const auto add = [&](OperatorEvents& events, QnnProfile_EventId_t id) {
    QnnProfile_EventData_t data{};
    ET_CHECK_OK_OR_RETURN_ERROR(
        session.check(functions.profileGetEventData(id, &data), "QnnProfile_getEventData"));
    if (data.unit == QNN_PROFILE_EVENTUNIT_MICROSEC || data.unit == QNN_PROFILE_EVENTUNIT_CYCLES) {
      events.add(data.identifier, static_cast<double>(data.value));
    }
    return Error::Ok;
  };
  const double ticks = 1000 * OperatorEvents::ticks_of_ns();
  OperatorEvents whole(tracer, start, ticks), operators(tracer, start, ticks);
  const QnnProfile_EventId_t* events = nullptr;
  uint32_t count = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      session.check(functions.profileGetEvents(profile, &events, &count), "QnnProfile_getEvents"));
  for (uint32_t i = 0; i < count; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(add(whole, events[i]));
    const QnnProfile_EventId_t* parts = nullptr;
    uint32_t num_parts = 0;
    ET_CHECK_OK_OR_RETURN_ERROR(session.check(
        functions.profileGetSubEvents(events[i], &parts, &num_parts), "QnnProfile_getSubEvents"));
    for (uint32_t k = 0; k < num_parts; ++k) {
      ET_CHECK_OK_OR_RETURN_ERROR(add(operators, parts[k]));
    }
  }
  return Error::Ok;
}

}  // namespace executorch::backends::qualcomm
