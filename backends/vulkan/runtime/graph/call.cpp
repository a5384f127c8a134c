// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/graph/call.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <limits>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

constexpr int64_t kInvocations = 64;    // of a group, in all shaders
constexpr int64_t kMaxGroupsX = 65535;  // what every device gives

/// Sizes, places and steps have 32 bits: what says more means the most, as the end of a slice does.
/// So sums of them, and products of two, have no more than 64 bits.
int64_t bounded(int64_t number) {
  return std::clamp<int64_t>(number, std::numeric_limits<int32_t>::min(),
                             std::numeric_limits<int32_t>::max());
}

const char* name_of(GraphTypes kind) {
  constexpr const char* kNames[] = {"nothing",    "Null",        "an Int",     "a Double",
                                    "a Bool",     "a tensor",    "an IntList", "a DoubleList",
                                    "a BoolList", "a ValueList", "a String",   "a SymInt"};
  const auto index = static_cast<size_t>(kind);
  return index < sizeof(kNames) / sizeof(kNames[0]) ? kNames[index] : "?";
}

}  // namespace

Call::Call(Graph& graph, size_t index)
    : graph_(graph),
      index_(index),
      payload_(graph.payload_.calls[index]),
      operator_(graph.operators_[index]) {}

Error Call::refuse(const char* what) const {
  ET_LOG(Error, "Vulkan: %s: %s", name(), what);
  return Error::NotSupported;
}

Error Call::mismatch(const char* what) const {
  ET_LOG(Error, "Vulkan: %s: %s", name(), what);
  return is_loading() ? Error::InvalidProgram : Error::InvalidArgument;
}

GraphTypes Call::kind(size_t index) const {
  return index < payload_.args.size()
             ? graph_.payload_.values[static_cast<size_t>(payload_.args[index])].kind
             : GraphTypes::NONE;
}

Result<const PayloadValue*> Call::value(size_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < payload_.args.size(), InvalidProgram,
                           "Vulkan: %s: expected at least %zu arguments, found %zu", name(),
                           index + 1, payload_.args.size());
  return &graph_.payload_.values[static_cast<size_t>(payload_.args[index])];
}

Result<Tensor*> Call::tensor_of(size_t id) {
  const GraphTypes kind = graph_.payload_.values[id].kind;
  ET_CHECK_OR_RETURN_ERROR(kind == GraphTypes::VkTensor, InvalidProgram,
                           "Vulkan: %s: expected a tensor as value %zu, found %s", name(), id,
                           name_of(kind));
  Tensor& tensor = graph_.tensors_[id];
  if (tensor.storage >= 0) {
    Storage& storage = graph_.storages_[static_cast<size_t>(tensor.storage)];
    storage.last_use = std::max(storage.last_use, static_cast<int64_t>(index_));
  }
  return &tensor;
}

Result<Tensor*> Call::tensor(size_t index) {
  ET_CHECK_OK_OR_RETURN_ERROR(value(index).error());
  return tensor_of(static_cast<size_t>(payload_.args[index]));
}

Result<Tensor*> Call::optional_tensor(size_t index) {
  if (is_null(index)) {
    return static_cast<Tensor*>(nullptr);
  }
  return tensor(index);
}

Result<std::vector<Tensor*>> Call::tensors(size_t index) {
  const PayloadValue& list = *ET_UNWRAP(value(index));
  std::vector<Tensor*> out;
  if (list.kind != GraphTypes::ValueList) {
    out.push_back(ET_UNWRAP(tensor(index)));
    return out;
  }
  for (const int64_t id : list.items) {
    out.push_back(ET_UNWRAP(tensor_of(static_cast<size_t>(id))));
  }
  ET_CHECK_OR_RETURN_ERROR(!out.empty(), InvalidProgram, "Vulkan: %s: an empty list of tensors",
                           name());
  return out;
}

Result<int64_t> Call::integer_of(size_t id) const {
  const PayloadValue& value = graph_.payload_.values[id];
  switch (value.kind) {
    case GraphTypes::Int:
    case GraphTypes::Bool:
      return value.integer;
    case GraphTypes::SymInt:
      return graph_.symints_[id];
    case GraphTypes::Double:
      if (std::floor(value.number) == value.number && std::abs(value.number) < 9e15) {
        return static_cast<int64_t>(value.number);
      }
      [[fallthrough]];
    default:
      ET_LOG(Error, "Vulkan: %s: expected a whole number as value %zu, found %s", name(), id,
             name_of(value.kind));
      return Error::InvalidProgram;
  }
}

Result<int64_t> Call::integer(size_t index) {
  ET_CHECK_OK_OR_RETURN_ERROR(value(index).error());
  return bounded(ET_UNWRAP(integer_of(static_cast<size_t>(payload_.args[index]))));
}

Result<double> Call::number(size_t index) {
  const PayloadValue& found = *ET_UNWRAP(value(index));
  if (found.kind == GraphTypes::Double) {
    return found.number;
  }
  return static_cast<double>(ET_UNWRAP(integer_of(static_cast<size_t>(payload_.args[index]))));
}

Result<bool> Call::boolean(size_t index) {
  return ET_UNWRAP(integer(index))
  != 0;
}

Result<std::string_view> Call::text(size_t index) {
  const PayloadValue& found = *ET_UNWRAP(value(index));
  ET_CHECK_OR_RETURN_ERROR(found.kind == GraphTypes::String || found.kind == GraphTypes::Null,
                           InvalidProgram,
                           "Vulkan: %s: expected a String as argument %zu, found %s", name(), index,
                           name_of(found.kind));
  return std::string_view(found.text);
}

Result<std::vector<int64_t>> Call::integers(size_t index) {
  std::vector<int64_t> out = ET_UNWRAP(int64_values(index));
  std::transform(out.begin(), out.end(), out.begin(), bounded);
  return out;
}

Result<std::vector<int64_t>> Call::int64_values(size_t index) const {
  const PayloadValue& found = *ET_UNWRAP(value(index));
  switch (found.kind) {
    case GraphTypes::Null:
      return std::vector<int64_t>();
    case GraphTypes::IntList:
    case GraphTypes::BoolList:
      return found.items;
    case GraphTypes::DoubleList: {
      ET_CHECK_OR_RETURN_ERROR(found.numbers.empty(), InvalidProgram,
                               "Vulkan: %s: expected whole numbers as argument %zu", name(), index);
      return std::vector<int64_t>();
    }
    case GraphTypes::ValueList: {
      std::vector<int64_t> out;
      for (const int64_t id : found.items) {
        out.push_back(ET_UNWRAP(integer_of(static_cast<size_t>(id))));
      }
      return out;
    }
    default:
      return std::vector<int64_t> {
        ET_UNWRAP(integer_of(static_cast<size_t>(payload_.args[index])))
      };
  }
}

Result<std::vector<double>> Call::numbers(size_t index) {
  const PayloadValue& found = *ET_UNWRAP(value(index));
  if (found.kind == GraphTypes::DoubleList) {
    return found.numbers;
  }
  const auto whole = ET_UNWRAP(int64_values(index));
  return std::vector<double>(whole.begin(), whole.end());
}

Result<std::vector<Call::Place>> Call::present(size_t index) {
  const PayloadValue& list = *ET_UNWRAP(value(index));
  std::vector<Place> out;
  for (size_t i = 0; list.kind == GraphTypes::ValueList && i < list.items.size(); ++i) {
    const auto id = static_cast<size_t>(list.items[i]);
    if (graph_.payload_.values[id].kind != GraphTypes::Null) {
      out.push_back({ i, ET_UNWRAP(tensor_of(id)) });
    }
  }
  return out;
}

Result<int64_t> Call::integer_or(size_t index, int64_t otherwise) {
  return is_null(index) ? Result<int64_t>(otherwise) : integer(index);
}

Result<double> Call::number_or(size_t index, double otherwise) {
  return is_null(index) ? Result<double>(otherwise) : number(index);
}

Result<size_t> Call::wrap_dim(int64_t value, size_t rank) const {
  const auto count = static_cast<int64_t>(std::max<size_t>(rank, 1));
  ET_CHECK_OR_RETURN_ERROR(value >= -count && value < count, InvalidProgram,
                           "Vulkan: %s: dimension %" PRId64 " of %" PRId64, name(), value, count);
  return static_cast<size_t>(value < 0 ? value + count : value);
}

Result<size_t> Call::dim(size_t index, size_t rank) {
  return wrap_dim(ET_UNWRAP(integer(index)), rank);
}

Result<Tensor*> Call::output() {
  return ET_UNWRAP(outputs())
  .front();
}

Error Call::set_output(int64_t value) {
  const auto id = static_cast<size_t>(payload_.args.back());
  ET_CHECK_OR_RETURN_ERROR(graph_.payload_.values[id].kind == GraphTypes::SymInt, InvalidProgram,
                           "Vulkan: %s: expected a SymInt as its output, found %s", name(),
                           name_of(graph_.payload_.values[id].kind));
  graph_.symints_[id] = value;
  return Error::Ok;
}

Error Call::resize(Tensor& out, const Shape& shape) {
  ET_CHECK_OK_OR_RETURN_ERROR(set_shape(out, shape));
  add_memory(out);
  return Error::Ok;
}

Error Call::resize_view(Tensor& out, const Tensor& in, const Shape& shape) {
  ET_CHECK_OK_OR_RETURN_ERROR(set_shape(out, shape));
  if (out.storage < 0 && !alias(out, in)) {
    add_memory(out);
  }
  return Error::Ok;
}

Error Call::set_shape(Tensor& out, const Shape& shape) {
  if (is_loading() && graph_.has_symints_) {
    out.shape = out.bound;
  } else if (is_loading()) {
    ET_CHECK_OR_RETURN_ERROR(shape == out.bound, InvalidProgram,
                             "Vulkan: %s: its output has sizes %s, the file says %s", name(),
                             shape.text().c_str(), out.bound.text().c_str());
  } else {
    int64_t numel = 1;
    bool is_valid = shape.rank == out.bound.rank;
    for (size_t i = 0; i < shape.rank && is_valid; ++i) {
      is_valid = shape[i] >= 0 && shape[i] <= std::max(out.bound[i], int32_t{0});
      numel *= shape[i];
    }
    ET_CHECK_OR_RETURN_ERROR(
        is_valid && static_cast<uint64_t>(numel) * size_of(out.element) <= out.max_bytes(),
        InvalidArgument, "Vulkan: %s: its output has sizes %s, the file says at most %s", name(),
        shape.text().c_str(), out.bound.text().c_str());
    out.shape = shape;
  }
  return Error::Ok;
}

void Call::add_memory(Tensor& out) {
  if (out.storage < 0) {
    out.storage = graph_.add_storage(
        out.is_output ? Storage::Place::kHost : Storage::Place::kShared, out.max_bytes());
    graph_.storages_.back().first_use = static_cast<int64_t>(index_);
  }
  Storage& storage = graph_.storages_[static_cast<size_t>(out.storage)];
  storage.last_use = std::max(storage.last_use, static_cast<int64_t>(index_));
}

bool Call::alias(Tensor& out, const Tensor& in) {
  if (out.storage >= 0) {
    return out.storage == in.storage;
  }
  const Storage& storage = graph_.storages_[static_cast<size_t>(in.storage)];
  const bool is_prepack = payload_.name == "et_vk.prepack.default";
  if (out.element != in.element || out.max_bytes() > storage.num_bytes ||
      (!is_prepack && (out.is_output || storage.place == Storage::Place::kConstant))) {
    return false;
  }
  out.storage = in.storage;
  return true;
}

Result<Tensor> Call::scratch(Element element, const Shape& shape) {
  Tensor out;
  out.element = element;
  out.shape = shape;
  out.bound = shape;
  if (graph_.num_scratch_used_ == graph_.scratch_.size()) {
    ET_CHECK_OR_RETURN_ERROR(is_loading(), Internal, "Vulkan: %s asks for more memory than at load",
                             name());
    graph_.scratch_.push_back(graph_.add_storage(Storage::Place::kShared, out.max_bytes()));
    graph_.storages_.back().first_use = static_cast<int64_t>(index_);
    graph_.storages_.back().last_use = static_cast<int64_t>(index_);
  }
  out.storage = graph_.scratch_[graph_.num_scratch_used_++];
  const Storage& storage = graph_.storages_[static_cast<size_t>(out.storage)];
  ET_CHECK_OR_RETURN_ERROR(
      storage.num_bytes >= out.max_bytes() && storage.first_use == static_cast<int64_t>(index_),
      Internal, "Vulkan: %s asks for more memory than at load", name());
  return out;
}

DispatchBuilder::DispatchBuilder(Call& call, const char* shader) : call_(call) {
  dispatch_.key.shader = shader;
  dispatch_.call = call.index_;
}

DispatchBuilder& DispatchBuilder::bind(const Tensor& tensor, bool is_written) {
  dispatch_.bindings.push_back({tensor.storage, is_written});
  dispatch_.key.constants.push_back(static_cast<int32_t>(tensor.element));
  return *this;
}

DispatchBuilder& DispatchBuilder::param(int64_t value) {
  const auto word = static_cast<int32_t>(std::clamp<int64_t>(
      value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  const auto* bytes = reinterpret_cast<const uint8_t*>(&word);
  dispatch_.params.insert(dispatch_.params.end(), bytes, bytes + sizeof(word));
  return *this;
}

DispatchBuilder& DispatchBuilder::param(float value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  dispatch_.params.insert(dispatch_.params.end(), bytes, bytes + sizeof(value));
  return *this;
}

DispatchBuilder& DispatchBuilder::dims(const int32_t (&values)[kMaxRank]) {
  for (const int32_t value : values) {
    param(int64_t{value});
  }
  return *this;
}

/// As in iteration.glslh: sizes and strides from the innermost dimension, the number of elements
/// and of dimensions, where operands begin.
DispatchBuilder& DispatchBuilder::params(const Iteration& iteration) {
  const size_t rank = iteration.shape().rank;
  const auto add = [&](const int32_t(&values)[kMaxRank], int64_t filler) {
    for (size_t i = 0; i < kMaxRank; ++i) {
      param(i < rank ? int64_t{values[rank - 1 - i]} : filler);
    }
  };
  add(iteration.shape().sizes, 1);
  for (size_t i = 0; i < kMaxOperands; ++i) {
    add(iteration.strides(i), 0);
  }
  for (size_t i = 0; i < kMaxOperands; ++i) {
    param(iteration.offset(i));
  }
  return param(iteration.numel()).param(static_cast<int64_t>(rank));
}

Error DispatchBuilder::elements(int64_t count) {
  return groups((count + kInvocations - 1) / kInvocations);
}

Error DispatchBuilder::groups(int64_t count) {
  if (count == 0) {
    return Error::Ok;
  }
  Graph& graph = call_.graph_;
  dispatch_.key.num_buffers = dispatch_.bindings.size();
  dispatch_.key.constants.insert(dispatch_.key.constants.end(), constants_.begin(),
                                 constants_.end());
  ET_CHECK_OR_RETURN_ERROR(
      dispatch_.bindings.size() <= kMaxBuffers && dispatch_.params.size() <= kMaxParamBytes,
      Internal, "Vulkan: %s: %zu buffers, %zu bytes of parameters", call_.name(),
      dispatch_.bindings.size(), dispatch_.params.size());
  for (const Binding& binding : dispatch_.bindings) {
    ET_CHECK_OR_RETURN_ERROR(binding.storage >= 0, InvalidProgram,
                             "Vulkan: %s reads a tensor before it is written", call_.name());
  }
  const int64_t x = std::min(count, kMaxGroupsX);
  const int64_t y = (count + x - 1) / x;
  ET_CHECK_OR_RETURN_ERROR(y <= kMaxGroupsX, NotSupported, "Vulkan: %s: %" PRId64 " groups",
                           call_.name(), count);
  dispatch_.groups[0] = static_cast<uint32_t>(x);
  dispatch_.groups[1] = static_cast<uint32_t>(y);
  graph.dispatches_.push_back(std::move(dispatch_));
  return Error::Ok;
}

}  // namespace executorch::backends::vulkan
