// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/graph/call.h>
#include <executorch/backends/vulkan/runtime/graph/graph.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cinttypes>
#include <new>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

constexpr char kPrepack[] = "et_vk.prepack.default";
/// Not in files: copies its argument's bytes into its output, a constant.
constexpr char kWriteBack[] = "write_back";

/// Storages begin and end at words that any element fits.
constexpr uint64_t kWordBytes = 16;

int64_t number_at(const uint8_t* bytes, Element element, int64_t index) {
  switch (element) {
    case Element::kInt: {
      int32_t value = 0;
      std::memcpy(&value, bytes + index * 4, sizeof(value));
      return value;
    }
    case Element::kChar:
      return static_cast<int8_t>(bytes[index]);
    case Element::kByte:
      return bytes[index];
    default:
      return 0;
  }
}

}  // namespace

size_t size_of(Element element) {
  switch (element) {
    case Element::kHalf:
      return 2;
    case Element::kChar:
    case Element::kByte:
      return 1;
    default:
      return 4;
  }
}

uint64_t Tensor::max_bytes() const {
  return static_cast<uint64_t>(bound.numel()) * size_of(element);
}

Result<std::unique_ptr<Graph>> Graph::create(Payload payload, const Device& device) {
  std::unique_ptr<Graph> graph(new (std::nothrow) Graph(std::move(payload), device));
  ET_CHECK_OR_RETURN_ERROR(graph != nullptr, MemoryAllocationFailed, "Vulkan: no memory");
  graph->split_writes_in_place();
  ET_CHECK_OK_OR_RETURN_ERROR(graph->find_operators());
  ET_CHECK_OK_OR_RETURN_ERROR(graph->make_tensors());
  ET_CHECK_OK_OR_RETURN_ERROR(graph->plan(nullptr));
  ET_CHECK_OK_OR_RETURN_ERROR(graph->make_outputs());
  ET_CHECK_OK_OR_RETURN_ERROR(graph->check_memory());
  graph->is_loading_ = false;
  return graph;
}

Element Graph::element_of(VkDataType dtype) const {
  switch (dtype) {
    case VkDataType::FLOAT16:
      return device_.has_small_elements ? Element::kHalf : Element::kFloat;
    case VkDataType::FLOAT32:
    case VkDataType::FLOAT64:
      return Element::kFloat;
    case VkDataType::INT8:
      return device_.has_small_elements ? Element::kChar : Element::kInt;
    case VkDataType::BOOL:
    case VkDataType::UINT8:
      return device_.has_small_elements ? Element::kByte : Element::kInt;
    default:
      return Element::kInt;
  }
}

int32_t Graph::add_storage(Storage::Place place, uint64_t num_bytes) {
  Storage storage;
  storage.place = place;
  storage.num_bytes = std::max<uint64_t>(1, (num_bytes + kWordBytes - 1) / kWordBytes) * kWordBytes;
  storages_.push_back(storage);
  return static_cast<int32_t>(storages_.size() - 1);
}

/// A call may write what a constant holds: it writes a tensor of its own instead, which is copied
/// when it is whole.
void Graph::split_writes_in_place() {
  std::vector<bool> is_written(payload_.values.size(), false);
  std::vector<PayloadCall> calls;
  for (PayloadCall& call : payload_.calls) {
    const auto out = static_cast<size_t>(call.args.back());
    const PayloadValue& value = payload_.values[out];
    if (value.kind != GraphTypes::VkTensor || (value.tensor.constant < 0 && !is_written[out])) {
      is_written[out] = true;
      calls.push_back(std::move(call));
      continue;
    }
    PayloadValue fresh = value;
    fresh.tensor.constant = -1;
    const auto id = static_cast<int32_t>(payload_.values.size());
    payload_.values.push_back(std::move(fresh));
    is_written.push_back(true);
    call.args.back() = id;
    const uint32_t node_id = call.node_id;
    calls.push_back(std::move(call));
    calls.push_back({node_id, kWriteBack, {id, static_cast<int32_t>(out)}});
  }
  payload_.calls = std::move(calls);
}

Error Graph::find_operators() {
  operators_.clear();
  for (const PayloadCall& call : payload_.calls) {
    const Operator* found = find_operator(call.name);
    ET_CHECK_OR_RETURN_ERROR(found != nullptr, OperatorMissing,
                             "Vulkan: operator %s (call %" PRIu32 ") is not in this runtime",
                             call.name.c_str(), call.node_id);
    operators_.push_back(found);
  }
  return Error::Ok;
}

Error Graph::make_tensors() {
  tensors_.resize(payload_.values.size());
  symints_.resize(payload_.values.size(), 0);
  for (size_t id = 0; id < payload_.values.size(); ++id) {
    const PayloadValue& value = payload_.values[id];
    has_symints_ = has_symints_ || value.kind == GraphTypes::SymInt;
    if (value.kind != GraphTypes::VkTensor) {
      continue;
    }
    Tensor& tensor = tensors_[id];
    tensor.dtype = value.tensor.dtype;
    tensor.staging = value.tensor.staging;
    tensor.element = element_of(tensor.dtype);
    tensor.bound = value.tensor.bound;
    tensor.shape = tensor.bound;
    tensor.constant = value.tensor.constant;
    if (tensor.constant >= 0) {
      tensor.storage = add_storage(Storage::Place::kConstant, tensor.max_bytes());
    }
  }
  for (const uint32_t id : payload_.inputs) {
    if (payload_.values[id].kind == GraphTypes::VkTensor) {
      tensors_[id].storage = add_storage(Storage::Place::kHost, tensors_[id].max_bytes());
    }
  }
  for (const uint32_t id : payload_.outputs) {
    tensors_[id].is_output = true;
  }
  return Error::Ok;
}

/// Outputs that are constants have a copy for the host; SymInts are there already.
Error Graph::make_outputs() {
  for (const uint32_t id : payload_.outputs) {
    if (payload_.values[id].kind == GraphTypes::SymInt) {
      output_storages_.push_back(-1);
      continue;
    }
    const Tensor& tensor = tensors_[id];
    ET_CHECK_OR_RETURN_ERROR(tensor.storage >= 0, InvalidProgram,
                             "Vulkan output %" PRIu32 " is not computed", id);
    int32_t storage = tensor.storage;
    if (storages_[static_cast<size_t>(storage)].place != Storage::Place::kHost) {
      storage = add_storage(Storage::Place::kHost, tensor.max_bytes());
    }
    output_storages_.push_back(storage);
  }
  return Error::Ok;
}

Error Graph::check_memory() const {
  const uint64_t range = device_.properties.limits.maxStorageBufferRange;
  for (const Storage& storage : storages_) {
    ET_CHECK_OR_RETURN_ERROR(storage.num_bytes <= range, NotSupported,
                             "Vulkan: a tensor of %" PRIu64 " bytes, %s takes at most %" PRIu64,
                             storage.num_bytes, device_.properties.deviceName, range);
  }
  return Error::Ok;
}

Error Graph::plan(const uint8_t* host) {
  dispatches_.clear();
  numbers_.clear();
  num_scratch_used_ = 0;
  for (size_t i = 0; i < payload_.calls.size(); ++i) {
    Call call(*this, i);
    call.host_ = host;
    const Error error = operators_[i]->run(call);
    ET_CHECK_OR_RETURN_ERROR(num_scratch_used_ <= scratch_.size(), Internal, "Vulkan: %s",
                             call.name());
    if (error != Error::Ok) {
      ET_LOG(Error, "Vulkan: call %" PRIu32 " (%s) cannot run: %s", payload_.calls[i].node_id,
             call.name(), runtime::to_string(error));
      return error;
    }
  }
  return Error::Ok;
}

bool Graph::is_outdated(const uint8_t* host) const {
  for (const NumberRead& read : numbers_) {
    const Storage& storage = storages_[static_cast<size_t>(read.storage)];
    if (number_at(host + storage.offset, read.element, read.index) != read.value) {
      return true;
    }
  }
  return false;
}

Error Graph::keep_outputs(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t output = payload_.outputs[i];
    const Tensor& tensor = tensors_[output];
    ET_CHECK_OR_RETURN_ERROR(
        payload_.values[output].kind == GraphTypes::VkTensor, InvalidProgram,
        "Vulkan output %" PRIu32 ": the method has no argument for this SymInt", output);
    int32_t target = -1;
    for (const PayloadCall& call : payload_.calls) {
      if (call.name != kPrepack) {
        continue;
      }
      const Tensor& constant = tensors_[static_cast<size_t>(call.args[0])];
      if (constant.dtype == tensor.dtype && constant.bound == tensor.bound) {
        ET_CHECK_OR_RETURN_ERROR(
            target < 0, InvalidProgram,
            "Vulkan output %" PRIu32
            ": expected one buffer that it is the new content of, found several",
            output);
        target = call.args[0];
      }
    }
    ET_CHECK_OR_RETURN_ERROR(target >= 0, InvalidProgram,
                             "Vulkan output %" PRIu32
                             ": the method has no argument for it, nor a buffer of its sizes %s",
                             output, tensor.bound.text().c_str());
    payload_.calls.push_back({0, kWriteBack, {static_cast<int32_t>(output), target}});
  }
  payload_.outputs.erase(payload_.outputs.begin(),
                         payload_.outputs.begin() + static_cast<std::ptrdiff_t>(count));
  output_storages_.erase(output_storages_.begin(),
                         output_storages_.begin() + static_cast<std::ptrdiff_t>(count));
  return find_operators();
}

Result<int64_t> Call::read_number(const Tensor& tensor, int64_t index) {
  ET_CHECK_OR_RETURN_ERROR(
      tensor.storage >= 0 && !is_real(tensor.element) &&
          graph_.storages_[static_cast<size_t>(tensor.storage)].place == Storage::Place::kHost &&
          !tensor.is_output,
      NotSupported, "Vulkan: %s: expected integers of an input of the delegate", name());
  ET_CHECK_OR_RETURN_ERROR(index >= 0 && index < tensor.numel(), InvalidArgument,
                           "Vulkan: %s: element %" PRId64 " of %" PRId64, name(), index,
                           tensor.numel());
  if (host_ == nullptr) {
    return 0;
  }
  const Storage& storage = graph_.storages_[static_cast<size_t>(tensor.storage)];
  const int64_t value = number_at(host_ + storage.offset, tensor.element, index);
  graph_.numbers_.push_back({tensor.storage, tensor.element, index, value});
  return value;
}

}  // namespace executorch::backends::vulkan
