// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/arguments.h>
#include <executorch/backends/vulkan/runtime/delegate.h>
#include <executorch/runtime/backend/delegate_event.h>
#include <executorch/runtime/platform/platform.h>

#include <new>

namespace executorch::backends::vulkan {

using executorch::aten::ScalarType;
using runtime::DelegateEvent;
using runtime::Error;
using runtime::EValue;
using runtime::OperatorEvents;
using runtime::Result;
using runtime::Span;

namespace {

/// A number that comes as a tensor of one element, or as an int.
Result<int64_t> symint_of(size_t index, const EValue& value) {
  if (value.isInt()) {
    return value.toInt();
  }
  ET_CHECK_OR_RETURN_ERROR(value.isTensor(), InvalidArgument,
                           "VulkanBackend: input %zu: expected an int, or a tensor of one", index);
  const executorch::aten::Tensor& tensor = value.toTensor();
  const ScalarType dtype = tensor.scalar_type();
  ET_CHECK_OR_RETURN_ERROR(
      tensor.numel() == 1 && tensor.const_data_ptr() != nullptr &&
          (dtype == ScalarType::Int || dtype == ScalarType::Long),
      InvalidArgument,
      "VulkanBackend: input %zu: expected one Int or Long, found %zu elements of dtype %s", index,
      static_cast<size_t>(tensor.numel()), runtime::toString(dtype));
  return dtype == ScalarType::Int ? int64_t{*tensor.const_data_ptr<int32_t>()}
                                  : *tensor.const_data_ptr<int64_t>();
}

}  // namespace

Delegate::Delegate() : ports_("VulkanBackend", {converts}) {}

Result<std::unique_ptr<Delegate>> Delegate::create(const void* data, size_t size,
                                                   const runtime::NamedDataMap* named_data,
                                                   const Settings& settings) {
  Payload payload = ET_UNWRAP(open_payload(data, size, named_data));
  Device& device = *ET_UNWRAP(Device::shared());
  std::unique_ptr<Delegate> delegate(new (std::nothrow) Delegate());
  ET_CHECK_OR_RETURN_ERROR(delegate != nullptr, MemoryAllocationFailed, "Vulkan: no memory");
  Pipelines& pipelines = *ET_UNWRAP(Pipelines::shared(device));
  if (!settings.pipeline_cache_path.empty()) {
    pipelines.load(settings.pipeline_cache_path);
  }
  delegate->graph_ = ET_UNWRAP(Graph::create(std::move(payload), device));
  delegate->runner_ = ET_UNWRAP(Runner::create(device, *delegate->graph_, settings.runner));
  delegate->graph_->drop_constants();
  delegate->make_ports();
  if (settings.warms_up && !delegate->graph_->has_symints()) {
    ET_CHECK_OK_OR_RETURN_ERROR(delegate->plan(false));
    ET_CHECK_OK_OR_RETURN_ERROR(delegate->runner_->run());
  }
  if (!settings.pipeline_cache_path.empty()) {
    // A cache that cannot be written makes the next start slower, and nothing wrong.
    static_cast<void>(pipelines.save(settings.pipeline_cache_path));
  }
  return delegate;
}

void Delegate::make_ports() {
  const auto make = [&](const std::vector<uint32_t>& ids, std::vector<runtime::Port>& out) {
    for (const uint32_t id : ids) {
      const bool is_tensor = graph_->payload().values[id].kind != GraphTypes::SymInt;
      out.push_back(is_tensor ? port_of(graph_->tensor(id)) : runtime::Port());
    }
  };
  make(graph_->payload().inputs, ports_.inputs);
  make(graph_->payload().outputs, ports_.outputs);
}

/// Files may have results of mutations as outputs that the method does not ask for.
Error Delegate::fit_outputs(size_t num_args) {
  const size_t num_inputs = graph_->payload().inputs.size();
  const size_t num_outputs = graph_->payload().outputs.size();
  const size_t expected = num_inputs + num_outputs;
  ET_CHECK_OR_RETURN_ERROR(
      num_args == expected || (num_args < expected && num_args >= num_inputs && !has_run_),
      InvalidArgument, "VulkanBackend: expected %zu inputs and %zu outputs, found %zu arguments",
      num_inputs, num_outputs, num_args);
  if (num_args < expected) {
    const size_t num_kept = expected - num_args;
    ET_CHECK_OK_OR_RETURN_ERROR(graph_->keep_outputs(num_kept));
    ports_.outputs.erase(ports_.outputs.begin(),
                         ports_.outputs.begin() + static_cast<std::ptrdiff_t>(num_kept));
    is_changed_ = true;
  }
  has_run_ = true;
  return Error::Ok;
}

Error Delegate::give(size_t index, const EValue& value) {
  const size_t id = graph_->payload().inputs[index];
  if (graph_->payload().values[id].kind == GraphTypes::SymInt) {
    const int64_t number = ET_UNWRAP(symint_of(index, value));
    is_changed_ = is_changed_ || number != graph_->symint(id);
    graph_->set_symint(id, number);
    return Error::Ok;
  }
  const runtime::Elements found = ET_UNWRAP(ports_.check_input(index, value));
  Tensor& tensor = graph_->tensor(id);
  Shape shape;
  for (size_t i = 0; i < found.rank; ++i) {
    shape.push(found.sizes[i]);
  }
  is_changed_ = is_changed_ || shape != tensor.shape;
  tensor.shape = shape;
  if (!tensor.has_readers) {
    return Error::Ok;  // its elements need not fit in what the device has
  }
  const Storage& storage = graph_->storages()[static_cast<size_t>(tensor.storage)];
  return ports_.copy_input(index, found, elements_of(tensor, runner_->host() + storage.offset));
}

Error Delegate::plan(bool is_timed) {
  ET_CHECK_OK_OR_RETURN_ERROR(graph_->plan(runner_->host()));
  ET_CHECK_OK_OR_RETURN_ERROR(runner_->record(is_timed));
  is_changed_ = false;
  return Error::Ok;
}

Error Delegate::take(size_t index, EValue& value) {
  const size_t id = graph_->payload().outputs[index];
  if (graph_->payload().values[id].kind == GraphTypes::SymInt) {
    value = EValue(graph_->symint(id));
    return Error::Ok;
  }
  const Storage& storage = graph_->storages()[static_cast<size_t>(graph_->output_storage(index))];
  return ports_.store_output(
      index, elements_of(graph_->tensor(id), runner_->host() + storage.offset), value);
}

Error Delegate::execute(Span<EValue*> args, runtime::EventTracer* tracer) {
  const bool is_first = !has_run_;  // there is nothing to resize: events are those of later runs
  ET_CHECK_OK_OR_RETURN_ERROR(fit_outputs(args.size()));
  uint64_t num_bytes = 0;
  DelegateEvent whole(tracer, "ETVK_EXECUTE");
  whole.set_metadata(&num_bytes, sizeof(num_bytes));
  const size_t num_inputs = ports_.inputs.size();
  {
    const DelegateEvent inputs(tracer, "ETVK_COPY_INPUTS");
    for (size_t i = 0; i < num_inputs; ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(give(i, *args[i]));
    }
  }
  bool is_timed = false;
#ifdef ET_EVENT_TRACER_ENABLED
  is_timed = tracer != nullptr;
#endif
  if (is_changed_ || graph_->is_outdated(runner_->host()) || is_timed != runner_->is_timed()) {
    is_changed_ = true;  // stays so if this fails
    const DelegateEvent resize(is_first ? nullptr : tracer, "ETVK_RESIZE");
    ET_CHECK_OK_OR_RETURN_ERROR(plan(is_timed));
  }
  et_timestamp_t start = 0;
  {
    const DelegateEvent compute(tracer, "ETVK_COMPUTE_GRAPH_EXECUTE");
    start = is_timed ? et_pal_current_ticks() : 0;
    ET_CHECK_OK_OR_RETURN_ERROR(runner_->run());
  }
  if (is_timed) {
    report(*tracer, start);
  }
  const DelegateEvent outputs(tracer, "ETVK_COPY_OUTPUTS");
  for (size_t i = num_inputs; i < args.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(take(i - num_inputs, *args[i]));
  }
  num_bytes = runner_->num_bytes();
  return Error::Ok;
}

/// What an event says of a dispatch: whose it is, its pipeline, and the bytes of its tensors.
std::string Delegate::describe(size_t index) const {
  const Dispatch& dispatch = graph_->dispatches()[index];
  const PayloadCall& call = graph_->payload().calls[dispatch.call];
  uint64_t num_bytes = 0;
  for (const Binding& binding : dispatch.bindings) {
    num_bytes += graph_->storages()[static_cast<size_t>(binding.storage)].num_bytes;
  }
  std::string constants;
  for (const int32_t constant : dispatch.key.constants) {
    constants += (constants.empty() ? "" : ", ") + std::to_string(constant);
  }
  return "{\"operator\": {\"name\": \"" + call.name + "\"}, \"kernel_name\": \"" +
         dispatch.key.shader + "\", \"constants\": [" + constants +
         "], \"bytes\": " + std::to_string(num_bytes) +
         ", \"operator_id\": " + std::to_string(call.node_id) +
         ", \"dispatch_id\": " + std::to_string(index) + "}";
}

/// One event for each dispatch, the device's times from where the run began.
void Delegate::report(runtime::EventTracer& tracer, uint64_t start) const {
  const auto times = runner_->times();
  if (!times.ok() || times->empty()) {
    return;
  }
  const float period = graph_->device().properties.limits.timestampPeriod;
  const double to_ns = period > 0 ? static_cast<double>(period) : 52;
  const OperatorEvents events(&tracer, start, to_ns * OperatorEvents::ticks_of_ns());
  const uint64_t first = times->front().begin;
  for (size_t i = 0; i < times->size(); ++i) {
    const std::string name = describe(i);
    const uint64_t raw[] = {(*times)[i].begin, (*times)[i].end};
    events.log(name.c_str(), static_cast<double>(raw[0] - first),
               static_cast<double>(raw[1] - first), raw, sizeof(raw));
  }
}

}  // namespace executorch::backends::vulkan
