// SPDX-License-Identifier: BSD-3-Clause
// The one place where what a payload means is checked. A value must be an input, a constant, or the
// output of exactly one node that stands before its readers.
#include <executorch/backends/xnnpack/runtime/builder.h>
#include <executorch/backends/xnnpack/runtime/nodes.h>
#include <executorch/backends/xnnpack/runtime/profile.h>
#include <executorch/backends/xnnpack/runtime/types.h>

#include <algorithm>
#include <cstring>

namespace executorch::backends::xnnpack {

using executorch::aten::ScalarType;
using fb_xnnpack::XNNDatatype;
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

/// What 4-bit weights store for zero.
constexpr int32_t kNibbleZero = 8;

/// The type of a tensor that is an argument; InvalidProgram for what no tensor holds.
Result<ScalarType> argument_type(XNNDatatype type) {
  switch (type) {
    case XNNDatatype::xnn_datatype_fp32:
      return ScalarType::Float;
    case XNNDatatype::xnn_datatype_fp16:
      return ScalarType::Half;
    case XNNDatatype::xnn_datatype_qint8:
      return ScalarType::Char;
    case XNNDatatype::xnn_datatype_quint8:
      return ScalarType::Byte;
    default:
      ET_LOG(Error, "XNNPACK: an argument of type %s", fb_xnnpack::EnumNameXNNDatatype(type));
      return Error::InvalidProgram;
  }
}

}  // namespace

Error Builder::read_external(const Value& value, uint32_t id) {
  const uint32_t place = value.tensor->external_id();
  const uint32_t flags = value.tensor->flags();
  auto& externals = delegate_.externals_;
  ET_CHECK_OR_RETURN_ERROR(flags == kInput || flags == kOutput, InvalidProgram,
                           "XNNPACK value %u: flags %u", static_cast<unsigned>(id),
                           static_cast<unsigned>(flags));
  ET_CHECK_OR_RETURN_ERROR(
      place < externals.size() && externals[place].value == kNoValue && !value.is_constant(),
      InvalidProgram, "XNNPACK value %u: argument %u is another's, or none",
      static_cast<unsigned>(id), static_cast<unsigned>(place));
  externals[place] = { id, flags == kOutput, ET_UNWRAP(argument_type(value.type())) };
  return Error::Ok;
}

Error Builder::read_values() {
  const auto& values = *payload_.graph->xvalues();
  const uint32_t num_externals = payload_.graph->num_externs();
  ET_CHECK_OR_RETURN_ERROR(num_externals <= kMaxExternals, InvalidProgram,
                           "XNNPACK graph of %u arguments", static_cast<unsigned>(num_externals));
  delegate_.externals_.resize(num_externals);
  delegate_.shapes_.resize(values.size());
  values_.resize(values.size());
  for (uint32_t id = 0; id < values.size(); ++id) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_value(*values[id], id, values_[id], delegate_.shapes_[id]));
    if (values_[id].tensor->flags() != 0) {
      ET_CHECK_OK_OR_RETURN_ERROR(read_external(values_[id], id));
    }
  }
  for (size_t place = 0; place < num_externals; ++place) {
    ET_CHECK_OR_RETURN_ERROR(delegate_.externals_[place].value != kNoValue, InvalidProgram,
                             "XNNPACK graph: no value for argument %zu", place);
  }
  return Error::Ok;
}

Error Builder::read_use(const fb_xnnpack::XNode& node) {
  Operands operands;
  ET_CHECK_OK_OR_RETURN_ERROR(operands_of(node, operands));
  for (size_t i = 0; i < operands.num_inputs; ++i) {
    ET_CHECK_OR_RETURN_ERROR(operands.inputs[i] < values_.size(), InvalidProgram,
                             "XNNPACK node: value %u of %zu",
                             static_cast<unsigned>(operands.inputs[i]), values_.size());
  }
  ET_CHECK_OR_RETURN_ERROR(
      operands.output < values_.size() && !values_[operands.output].is_constant() &&
          values_[operands.output].tensor->flags() != kInput,
      InvalidProgram, "XNNPACK node: writes value %u", static_cast<unsigned>(operands.output));
  ET_CHECK_OK_OR_RETURN_ERROR(check_types(node, operands, values_));
  for (size_t i = 0; i < operands.num_inputs; ++i) {
    const uint32_t id = operands.inputs[i];
    if (i == 0 || i > operands.num_packed) {
      read_while_running_[id] = true;
      continue;
    }
    const bool widened = widens(node, operands, values_, id);
    ET_CHECK_OR_RETURN_ERROR(values_[id].is_constant(), NotSupported,
                             "XNNPACK value %u: weights must be constant",
                             static_cast<unsigned>(id));
    ET_CHECK_OR_RETURN_ERROR(!packed_[id] || widened_[id] == widened, NotSupported,
                             "XNNPACK value %u: weights of nodes that need two types",
                             static_cast<unsigned>(id));
    packed_[id] = true;
    widened_[id] = widened;
  }
  return Error::Ok;
}

/// Which values lead to an output. XNNPACK drops a node without readers, and aborts when the value
/// that it reads has no other; so it never hears of such nodes.
Error Builder::find_needed() {
  needed_.resize(values_.size());
  const auto& nodes = *payload_.graph->xnodes();
  for (uint32_t i = nodes.size(); i-- > 0;) {
    Operands operands;
    ET_CHECK_OK_OR_RETURN_ERROR(operands_of(*nodes[i], operands));
    if (values_[operands.output].tensor->flags() == kOutput) {
      needed_[operands.output] = true;
    }
    for (size_t k = 0; needed_[operands.output] && k < operands.num_inputs; ++k) {
      needed_[operands.inputs[k]] = true;
    }
  }
  return Error::Ok;
}

/// Which values nodes read, and whether only to pack them.
Error Builder::read_uses() {
  read_while_running_.resize(values_.size());
  packed_.resize(values_.size());
  widened_.resize(values_.size());
  for (const fb_xnnpack::XNode* node : *payload_.graph->xnodes()) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_use(*node));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(find_needed());
  for (size_t id = 0; id < values_.size(); ++id) {
    ET_CHECK_OR_RETURN_ERROR(!(widened_[id] && read_while_running_[id]), NotSupported,
                             "XNNPACK value %zu: half precision for weights and for more", id);
  }
  return Error::Ok;
}

/// Data that stays where it is while the graph is built; what is read later is copied with the
/// bytes behind it that XNNPACK may read.
Error Builder::load_constant(uint32_t id) {
  const Value& value = values_[id];
  const Shape& shape = delegate_.shapes_[id];
  const uint32_t index = value.tensor->constant_buffer_idx();
  Contents& contents = contents_[id];
  ET_CHECK_OK_OR_RETURN_ERROR(load_scales(id));
  if (widened_[id]) {
    contents.bytes = ET_UNWRAP(constants_.load_widened(index, shape.num_elements()));
    return Error::Ok;
  }
  contents.bytes = ET_UNWRAP(constants_.load(index, size_of(value.type(), shape)));
  if (read_while_running_[id]) {
    std::vector<uint8_t> copy(contents.bytes.size() + XNN_EXTRA_BYTES);
    std::memcpy(copy.data(), contents.bytes.data(), contents.bytes.size());
    delegate_.kept_.push_back(std::move(copy));
    contents.bytes = {delegate_.kept_.back().data(), contents.bytes.size()};
  }
  return Error::Ok;
}

Error Builder::load_scales(uint32_t id) {
  const auto bytes_of = [](auto scales) {
    return Span<const uint8_t>{reinterpret_cast<const uint8_t*>(scales.data()),
                               scales.size() * sizeof(scales[0])};
  };
  switch (values_[id].type()) {
    case XNNDatatype::xnn_datatype_qcint8:
    case XNNDatatype::xnn_datatype_qcint4:
    case XNNDatatype::xnn_datatype_qcint32:
      contents_[id].scales = bytes_of(ET_UNWRAP(constants_.scales_by_channel(values_[id])));
      return Error::Ok;
    case XNNDatatype::xnn_datatype_qbint4:
      contents_[id].scales = bytes_of(ET_UNWRAP(constants_.scales_by_group(values_[id])));
      return Error::Ok;
    default:
      return Error::Ok;
  }
}

/// Defines a value as `external` with `flags` in any graph of XNNPACK; used by several threads.
xnn_status Builder::define_in(xnn_subgraph_t subgraph, uint32_t id, uint32_t external,
                              uint32_t flags, uint32_t& out) const {
  const Value& value = values_[id];
  const Shape& shape = delegate_.shapes_[id];
  const void* const data = value.is_constant() ? contents_[id].bytes.data() : nullptr;
  const void* const scales = contents_[id].scales.data();
  const auto by_channel = [&](xnn_datatype type, int32_t zero_point) {
    return xnn_define_channelwise_quantized_tensor_value_v2(
        subgraph, type, zero_point, static_cast<const float*>(scales), shape.rank,
        value.channel_dim, shape.dims, data, external, flags, &out);
  };
  const auto by_tensor = [&](xnn_datatype type) {
    return xnn_define_quantized_tensor_value(subgraph, type, value.zero_point, value.scale,
                                             shape.rank, shape.dims, data, external, flags, &out);
  };
  switch (value.type()) {
    case XNNDatatype::xnn_datatype_qint8:
      return by_tensor(xnn_datatype_qint8);
    case XNNDatatype::xnn_datatype_quint8:
      return by_tensor(xnn_datatype_quint8);
    case XNNDatatype::xnn_datatype_qint32:
      return by_tensor(xnn_datatype_qint32);
    case XNNDatatype::xnn_datatype_qcint8:
      return by_channel(xnn_datatype_qcint8, 0);
    case XNNDatatype::xnn_datatype_qcint4:
      return by_channel(xnn_datatype_qcint4, kNibbleZero);
    case XNNDatatype::xnn_datatype_qcint32:
      return by_channel(xnn_datatype_qcint32, 0);
    case XNNDatatype::xnn_datatype_qdint8:
      return xnn_define_dynamically_quantized_tensor_value(subgraph, xnn_datatype_qdint8,
                                                           shape.rank, value.num_nonbatch_dims,
                                                           shape.dims, external, flags, &out);
    case XNNDatatype::xnn_datatype_qbint4:
      return xnn_define_blockwise_quantized_tensor_value(
          subgraph, xnn_datatype_qbint4, kNibbleZero, static_cast<const uint16_t*>(scales),
          shape.rank, value.channel_dim, value.group_size, shape.dims, data, external, flags, &out);
    default: {
      const bool is_half = value.type() == XNNDatatype::xnn_datatype_fp16 && !widened_[id];
      return xnn_define_tensor_value(subgraph, is_half ? xnn_datatype_fp16 : xnn_datatype_fp32,
                                     shape.rank, shape.dims, data, external, flags, &out);
    }
  }
}

/// Defines a value in any graph as what it is in the payload's.
xnn_status Builder::define_as_is(xnn_subgraph_t subgraph, uint32_t id, uint32_t& out) const {
  const fb_xnnpack::XNNTensorValue& tensor = *values_[id].tensor;
  const uint32_t external = tensor.flags() == 0 ? XNN_INVALID_VALUE_ID : tensor.external_id();
  return define_in(subgraph, id, external, tensor.flags(), out);
}

Error Builder::define_value(uint32_t id) {
  defined_[id] = true;
  return check_status(define_as_is(subgraph_.get(), id, ids_[id]), "a value");
}

Error Builder::make_subgraph(size_t num_matrices, Subgraph& out) const {
  xnn_subgraph_t made = nullptr;
  const size_t num_externals = payload_.graph->num_externs() + num_matrices;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(
      xnn_create_subgraph(static_cast<uint32_t>(num_externals), 0, &made), "a subgraph"));
  out.reset(made);
  return Error::Ok;
}

Error Builder::define_sources() {
  defined_.resize(values_.size());
  contents_.resize(values_.size());
  ids_.resize(values_.size(), XNN_INVALID_VALUE_ID);
  for (uint32_t id = 0; id < values_.size(); ++id) {
    if (values_[id].is_constant()) {
      ET_CHECK_OK_OR_RETURN_ERROR(load_constant(id));
      ET_CHECK_OK_OR_RETURN_ERROR(define_value(id));
    } else if (values_[id].tensor->flags() == kInput) {
      ET_CHECK_OR_RETURN_ERROR(delegate_.shapes_[id].num_elements() > 0, InvalidProgram,
                               "XNNPACK value %u: an empty input", static_cast<unsigned>(id));
      ET_CHECK_OK_OR_RETURN_ERROR(define_value(id));
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
    if (!needed_[operands.output]) {
      defined_[operands.output] = true;
      continue;
    }
    ET_CHECK_OK_OR_RETURN_ERROR(define_value(operands.output));
    ET_CHECK_OK_OR_RETURN_ERROR(define_node(subgraph_.get(), *node, ids_));
    if (operands.num_packed > 0 && delegate_.weights_ != nullptr) {
      packings_.push_back({node, operands, {}, nullptr});
    }
  }
  for (const Delegate::External& external : delegate_.externals_) {
    ET_CHECK_OR_RETURN_ERROR(defined_[external.value], Internal,
                             "XNNPACK graph: nothing writes output value %u",
                             static_cast<unsigned>(external.value));
  }
  return Error::Ok;
}

/// The delegate's lock is held, or nobody else knows the delegate yet.
Error Builder::make_runtime(xnn_subgraph_t subgraph) {
  PackedWeights* const weights = delegate_.weights_.get();
  xnn_runtime_t runtime = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(
      xnn_create_runtime_v4(subgraph, weights == nullptr ? nullptr : weights->provider(),
                            delegate_.workspace_->handle(), options_.pool,
                            options_.profile ? XNN_FLAG_BASIC_PROFILING : 0, &runtime),
      "a runtime"));
  delegate_.runtime_.reset(runtime);
  if (options_.profile) {
    delegate_.handles_ = handles_of_operators(runtime, *payload_.graph, ids_);
  }
  return Error::Ok;
}

Error Builder::make_first_runtime() {
  Subgraph first_run;
  ET_CHECK_OK_OR_RETURN_ERROR(make_subgraph(matrices_.size(), first_run));
  ET_CHECK_OK_OR_RETURN_ERROR(define_first_run(first_run.get()));
  ET_CHECK_OK_OR_RETURN_ERROR(make_runtime(first_run.get()));
  give_back_packed();
  return Error::Ok;
}

Error Builder::make_last_runtime() {
  ET_CHECK_OK_OR_RETURN_ERROR(make_runtime(subgraph_.get()));
  if (delegate_.weights_ != nullptr) {
    delegate_.weights_->forget_sources();
  }
  return Error::Ok;
}

Error Builder::build() {
  if (options_.share_weights) {
    delegate_.weights_ = std::make_unique<PackedWeights>();
  }
  ET_CHECK_OK_OR_RETURN_ERROR(read_values());
  ET_CHECK_OK_OR_RETURN_ERROR(read_uses());
  ET_CHECK_OK_OR_RETURN_ERROR(make_subgraph(0, subgraph_));
  ET_CHECK_OK_OR_RETURN_ERROR(define_sources());
  ET_CHECK_OK_OR_RETURN_ERROR(define_nodes());
  delegate_.graph_ = payload_.graph;
  delegate_.is_profiled_ = options_.profile;
  delegate_.workspace_ = ET_UNWRAP(Workspace::get(options_.workspaces, options_.model));
  choose_matrices();
  pack(packings_);
  const std::lock_guard<std::mutex> lock(delegate_.workspace_->mutex);
  ET_CHECK_OK_OR_RETURN_ERROR(is_done() ? make_last_runtime() : make_first_runtime());
  delegate_.workspace_->expect_first_run();
  return Error::Ok;
}

Error Builder::finish() {
  pack(later_);
  ET_CHECK_OK_OR_RETURN_ERROR(make_last_runtime());
  delegate_.matrices_.clear();
  return Error::Ok;
}

}  // namespace executorch::backends::xnnpack
