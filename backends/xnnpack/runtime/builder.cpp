// SPDX-License-Identifier: BSD-3-Clause
// The one place where what a payload means is checked. A value must be an input, a constant, or the
// output of exactly one node that stands before its readers.
#include <executorch/backends/xnnpack/runtime/builder.h>
#include <executorch/backends/xnnpack/runtime/nodes.h>

#include <algorithm>
#include <cstring>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNNTensorValue;
using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr uint32_t kMaxExternals = 4096;
/// Elements that a value may have beyond what the graph says, so that a damaged parameter does not
/// ask for all memory.
constexpr uint64_t kUndeclared = uint64_t{1} << 20;
constexpr uint32_t kInput = XNN_VALUE_FLAG_EXTERNAL_INPUT;
constexpr uint32_t kOutput = XNN_VALUE_FLAG_EXTERNAL_OUTPUT;

Result<Shape> shape_of(const XNNTensorValue& value, uint32_t id) {
  const auto* dims = value.dims();
  const size_t rank = dims == nullptr ? 0 : dims->size();
  ET_CHECK_OR_RETURN_ERROR(rank <= kMaxRank && value.num_dims() == rank, InvalidProgram,
                           "XNNPACK value %u: %zu dimensions", static_cast<unsigned>(id), rank);
  Shape shape;
  shape.rank = rank;
  for (size_t i = 0; i < rank; ++i) {
    shape.dims[i] = dims->Get(static_cast<uint32_t>(i));
  }
  ET_CHECK_OR_RETURN_ERROR(shape.num_elements() <= kMaxElements, InvalidProgram,
                           "XNNPACK value %u: too many elements", static_cast<unsigned>(id));
  return shape;
}

}  // namespace

Error Builder::read_external(const XNNTensorValue& value, uint32_t id) {
  const uint32_t place = value.external_id();
  auto& externals = delegate_.externals_;
  ET_CHECK_OR_RETURN_ERROR(value.flags() == kInput || value.flags() == kOutput, InvalidProgram,
                           "XNNPACK value %u: flags %u", static_cast<unsigned>(id),
                           static_cast<unsigned>(value.flags()));
  ET_CHECK_OR_RETURN_ERROR(place < externals.size() && externals[place].value == kNoValue &&
                               value.constant_buffer_idx() == 0,
                           InvalidProgram, "XNNPACK value %u: argument %u is another's, or none",
                           static_cast<unsigned>(id), static_cast<unsigned>(place));
  externals[place] = {id, value.flags() == kOutput};
  return Error::Ok;
}

Error Builder::read_values() {
  const auto& values = *payload_.graph->xvalues();
  const uint32_t num_externals = payload_.graph->num_externs();
  ET_CHECK_OR_RETURN_ERROR(num_externals <= kMaxExternals, InvalidProgram,
                           "XNNPACK graph of %u arguments", static_cast<unsigned>(num_externals));
  delegate_.externals_.resize(num_externals);
  delegate_.shapes_.resize(values.size());
  tensors_.resize(values.size());
  for (uint32_t id = 0; id < values.size(); ++id) {
    const XNNTensorValue* value = values[id]->xvalue_union_as_XNNTensorValue();
    ET_CHECK_OR_RETURN_ERROR(
        value != nullptr && value->datatype() == XNNDatatype::xnn_datatype_fp32 &&
            value->dq_datatype() == XNNDatatype::xnn_datatype_invalid,
        NotSupported, "XNNPACK value %u: expected float32", static_cast<unsigned>(id));
    ET_CHECK_OR_RETURN_ERROR(value->id_out() == id, InvalidProgram,
                             "XNNPACK value %u calls itself %u", static_cast<unsigned>(id),
                             static_cast<unsigned>(value->id_out()));
    tensors_[id] = value;
    delegate_.shapes_[id] = ET_UNWRAP(shape_of(*value, id));
    if (value->flags() != 0) {
      ET_CHECK_OK_OR_RETURN_ERROR(read_external(*value, id));
    }
  }
  for (size_t place = 0; place < num_externals; ++place) {
    ET_CHECK_OR_RETURN_ERROR(delegate_.externals_[place].value != kNoValue, InvalidProgram,
                             "XNNPACK graph: no value for argument %zu", place);
  }
  return Error::Ok;
}

/// Which values nodes read, and whether only to pack them.
Error Builder::read_uses() {
  read_while_running_.resize(tensors_.size());
  for (const fb_xnnpack::XNode* node : *payload_.graph->xnodes()) {
    Operands operands;
    ET_CHECK_OK_OR_RETURN_ERROR(operands_of(*node, operands));
    for (size_t i = 0; i < operands.num_inputs; ++i) {
      const uint32_t id = operands.inputs[i];
      ET_CHECK_OR_RETURN_ERROR(id < tensors_.size(), InvalidProgram,
                               "XNNPACK node: value %u of %zu", static_cast<unsigned>(id),
                               tensors_.size());
      if (i == 0 || i > operands.num_packed) {
        read_while_running_[id] = true;
      } else {
        ET_CHECK_OR_RETURN_ERROR(is_constant(id), NotSupported,
                                 "XNNPACK value %u: weights must be constant",
                                 static_cast<unsigned>(id));
      }
    }
    ET_CHECK_OR_RETURN_ERROR(operands.output < tensors_.size() && !is_constant(operands.output) &&
                                 tensor(operands.output).flags() != kInput,
                             InvalidProgram, "XNNPACK node: writes value %u",
                             static_cast<unsigned>(operands.output));
  }
  return Error::Ok;
}

Result<Span<const uint8_t>> Builder::named_bytes(const char* key) {
  ET_CHECK_OR_RETURN_ERROR(data_ != nullptr, NotFound, "XNNPACK constant %.80s: no named data",
                           key);
  auto buffer = data_->get_data(key);
  ET_CHECK_OR_RETURN_ERROR(buffer.ok(), NotFound, "XNNPACK constant %.80s is not in named data",
                           key);
  loaded_.push_back(std::move(buffer.get()));
  return Span<const uint8_t>(static_cast<const uint8_t*>(loaded_.back().data()),
                             loaded_.back().size());
}

Result<Span<const uint8_t>> Builder::constant_bytes(uint32_t index) {
  if (const auto* entries = payload_.graph->constant_data();
      entries != nullptr && entries->size() > 0) {
    ET_CHECK_OR_RETURN_ERROR(index < entries->size(), InvalidProgram, "XNNPACK constant %u of %zu",
                             static_cast<unsigned>(index), static_cast<size_t>(entries->size()));
    const fb_xnnpack::ConstantDataOffset& entry = *entries->Get(index);
    if (entry.named_key() != nullptr) {
      return named_bytes(entry.named_key()->c_str());
    }
    const uint64_t size = payload_.constants.size();
    ET_CHECK_OR_RETURN_ERROR(entry.offset() <= size && entry.size() <= size - entry.offset(),
                             InvalidProgram, "XNNPACK constant %u: outside of the constants",
                             static_cast<unsigned>(index));
    return Span<const uint8_t>(payload_.constants.data() + entry.offset(),
                               static_cast<size_t>(entry.size()));
  }
  const auto* buffers = payload_.graph->constant_buffer();
  ET_CHECK_OR_RETURN_ERROR(
      buffers != nullptr && index < buffers->size() && buffers->Get(index)->storage() != nullptr,
      InvalidProgram, "XNNPACK constant %u is missing", static_cast<unsigned>(index));
  const auto& storage = *buffers->Get(index)->storage();
  return Span<const uint8_t>(storage.data(), storage.size());
}

/// Data that stays where it is while the graph is built; what is read later, or is not aligned, is
/// copied with the bytes behind it that XNNPACK may read.
Result<const void*> Builder::load_constant(uint32_t id) {
  const Span<const uint8_t> bytes = ET_UNWRAP(constant_bytes(tensor(id).constant_buffer_idx()));
  const uint64_t expected = delegate_.shapes_[id].num_elements() * sizeof(float);
  ET_CHECK_OR_RETURN_ERROR(bytes.size() == expected && expected > 0, InvalidProgram,
                           "XNNPACK value %u: %zu bytes of data, expected %zu",
                           static_cast<unsigned>(id), bytes.size(), static_cast<size_t>(expected));
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % sizeof(float) == 0;
  if (!read_while_running_[id] && aligned) {
    return static_cast<const void*>(bytes.data());
  }
  std::vector<uint8_t> copy(bytes.size() + XNN_EXTRA_BYTES);
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  delegate_.kept_.push_back(std::move(copy));
  return static_cast<const void*>(delegate_.kept_.back().data());
}

Error Builder::define_value(uint32_t id, const void* data) {
  const Shape& shape = delegate_.shapes_[id];
  const uint32_t flags = tensor(id).flags();
  const uint32_t external = flags == 0 ? XNN_INVALID_VALUE_ID : tensor(id).external_id();
  defined_[id] = true;
  return check_status(xnn_define_tensor_value(subgraph_.get(), xnn_datatype_fp32, shape.rank,
                                              shape.dims, data, external, flags, &ids_[id]),
                      "a value");
}

Error Builder::define_sources() {
  defined_.resize(tensors_.size());
  ids_.resize(tensors_.size(), XNN_INVALID_VALUE_ID);
  for (uint32_t id = 0; id < tensors_.size(); ++id) {
    if (is_constant(id)) {
      ET_CHECK_OK_OR_RETURN_ERROR(define_value(id, ET_UNWRAP(load_constant(id))));
    } else if (tensor(id).flags() == kInput) {
      ET_CHECK_OR_RETURN_ERROR(delegate_.shapes_[id].num_elements() > 0, InvalidProgram,
                               "XNNPACK value %u: an empty input", static_cast<unsigned>(id));
      ET_CHECK_OK_OR_RETURN_ERROR(define_value(id, nullptr));
    }
  }
  return Error::Ok;
}

Error Builder::define_nodes() {
  for (const fb_xnnpack::XNode* node : *payload_.graph->xnodes()) {
    Operands operands;
    ET_CHECK_OK_OR_RETURN_ERROR(operands_of(*node, operands));
    for (size_t i = 0; i < operands.num_inputs; ++i) {
      ET_CHECK_OR_RETURN_ERROR(defined_[operands.inputs[i]], Internal,
                               "XNNPACK node: value %u is not there yet",
                               static_cast<unsigned>(operands.inputs[i]));
    }
    ET_CHECK_OR_RETURN_ERROR(!defined_[operands.output], Internal,
                             "XNNPACK node: value %u is written twice",
                             static_cast<unsigned>(operands.output));
    const uint64_t declared = delegate_.shapes_[operands.output].num_elements();
    ET_CHECK_OK_OR_RETURN_ERROR(infer_shape(*node, delegate_.shapes_));
    ET_CHECK_OR_RETURN_ERROR(
        delegate_.shapes_[operands.output].num_elements() <= std::max(declared, kUndeclared),
        InvalidProgram, "XNNPACK value %u is larger than the graph says",
        static_cast<unsigned>(operands.output));
    ET_CHECK_OK_OR_RETURN_ERROR(define_value(operands.output, nullptr));
    ET_CHECK_OK_OR_RETURN_ERROR(define_node(subgraph_.get(), *node, ids_));
  }
  for (const Delegate::External& external : delegate_.externals_) {
    ET_CHECK_OR_RETURN_ERROR(defined_[external.value], Internal,
                             "XNNPACK graph: nothing writes output value %u",
                             static_cast<unsigned>(external.value));
  }
  return Error::Ok;
}

Error Builder::build(pthreadpool_t pool) {
  ET_CHECK_OK_OR_RETURN_ERROR(read_values());
  ET_CHECK_OK_OR_RETURN_ERROR(read_uses());
  xnn_subgraph_t subgraph = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(xnn_create_subgraph(payload_.graph->num_externs(), 0, &subgraph), "a subgraph"));
  subgraph_.reset(subgraph);
  ET_CHECK_OK_OR_RETURN_ERROR(define_sources());
  ET_CHECK_OK_OR_RETURN_ERROR(define_nodes());
  xnn_workspace_t workspace = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(xnn_create_workspace(&workspace), "a workspace"));
  delegate_.workspace_.reset(workspace);
  xnn_runtime_t runtime = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(
      xnn_create_runtime_v4(subgraph_.get(), nullptr, workspace, pool, 0, &runtime), "a runtime"));
  delegate_.runtime_.reset(runtime);
  delegate_.graph_ = payload_.graph;
  return Error::Ok;
}

}  // namespace executorch::backends::xnnpack
