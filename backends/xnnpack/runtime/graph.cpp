// SPDX-License-Identifier: BSD-3-Clause
// Reads values, then nodes with their operands, types, order and shapes.
#include <executorch/backends/xnnpack/runtime/graph.h>
#include <executorch/backends/xnnpack/runtime/nodes/convolution_and_fully_connected.h>

#include <algorithm>
#include <cinttypes>

namespace executorch::backends::xnnpack {

using executorch::aten::ScalarType;
using fb_xnnpack::XNNDatatype;
using runtime::Error;
using runtime::Result;

namespace {

constexpr uint32_t kMaxExternals = 4096;
/// Elements that a value may have beyond what the graph says, so that a corrupted parameter does
/// not ask for all memory.
constexpr uint64_t kUndeclared = uint64_t{1} << 20;
constexpr uint32_t kInput = XNN_VALUE_FLAG_EXTERNAL_INPUT;
constexpr uint32_t kOutput = XNN_VALUE_FLAG_EXTERNAL_OUTPUT;

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

Error read_external(Graph& graph, uint32_t id) {
  const Value& value = graph.values[id];
  const uint32_t place = value.tensor->external_id();
  const uint32_t flags = value.tensor->flags();
  auto& externals = graph.externals;
  ET_CHECK_OR_RETURN_ERROR(flags == kInput || flags == kOutput, InvalidProgram,
                           "XNNPACK value %" PRIu32 ": flags %" PRIu32, static_cast<uint32_t>(id),
                           static_cast<uint32_t>(flags));
  ET_CHECK_OR_RETURN_ERROR(
      place < externals.size() && externals[place].value == kNoValue && !value.is_constant(),
      InvalidProgram, "XNNPACK value %" PRIu32 ": argument %" PRIu32 " is another's, or none",
      static_cast<uint32_t>(id), static_cast<uint32_t>(place));
  externals[place] = { id, flags == kOutput, ET_UNWRAP(argument_type(value.declared())) };
  return Error::Ok;
}

Error read_values(const fb_xnnpack::XNNGraph& payload, bool widens_halves, Graph& graph) {
  const auto& values = *payload.xvalues();
  const uint32_t num_externals = payload.num_externs();
  ET_CHECK_OR_RETURN_ERROR(num_externals <= kMaxExternals, InvalidProgram,
                           "XNNPACK graph of %" PRIu32 " arguments",
                           static_cast<uint32_t>(num_externals));
  graph.externals.resize(num_externals);
  graph.shapes.resize(values.size());
  graph.values.resize(values.size());
  graph.uses.resize(values.size());
  for (uint32_t id = 0; id < values.size(); ++id) {
    Value& value = graph.values[id];
    ET_CHECK_OK_OR_RETURN_ERROR(read_value(*values[id], id, value, graph.shapes[id]));
    value.is_widened = widens_halves && value.declared() == XNNDatatype::xnn_datatype_fp16;
    if (value.tensor->flags() != 0) {
      ET_CHECK_OK_OR_RETURN_ERROR(read_external(graph, id));
    }
    ET_CHECK_OR_RETURN_ERROR(!graph.is_input(id) || graph.shapes[id].num_elements() > 0,
                             InvalidProgram, "XNNPACK value %" PRIu32 ": an empty input",
                             static_cast<uint32_t>(id));
  }
  for (size_t place = 0; place < num_externals; ++place) {
    ET_CHECK_OR_RETURN_ERROR(graph.externals[place].value != kNoValue, InvalidProgram,
                             "XNNPACK graph: no value for argument %zu", place);
  }
  return Error::Ok;
}

Error read_limits(const fb_xnnpack::XNode& node, Limits& out) {
  if (const auto* given = node.output_min_max(); given != nullptr) {
    ET_CHECK_OR_RETURN_ERROR(given->output_min() < given->output_max(), InvalidProgram,
                             "XNNPACK %s: limits %f and %f", name_of(node),
                             static_cast<double>(given->output_min()),
                             static_cast<double>(given->output_max()));
    out = {given->output_min(), given->output_max()};
  }
  return Error::Ok;
}

/// What a node packs, and what it reads while running.
Error read_uses(const GraphNode& node, Graph& graph) {
  const Operands& operands = node.operands;
  for (size_t i = 0; i < operands.num_inputs; ++i) {
    const uint32_t id = operands.inputs[i];
    Uses& uses = graph.uses[id];
    if (i == 0 || i > operands.num_packed) {
      uses.is_read = true;
      continue;
    }
    Value& value = graph.values[id];
    const bool is_to_widen = widens(*node.node, operands, graph.values, id);
    ET_CHECK_OR_RETURN_ERROR(value.is_constant(), NotSupported,
                             "XNNPACK value %" PRIu32 ": weights must be constant",
                             static_cast<uint32_t>(id));
    ET_CHECK_OR_RETURN_ERROR(!is_to_widen || !(uses.is_packed || uses.is_read), NotSupported,
                             "XNNPACK value %" PRIu32 ": half precision for weights and for more",
                             static_cast<uint32_t>(id));
    uses.is_packed = true;
    value.is_widened = value.is_widened || is_to_widen;
  }
  return Error::Ok;
}

Error read_node(const fb_xnnpack::XNode& source, Graph& graph, GraphNode& out) {
  out.node = &source;
  out.kind = ET_UNWRAP(kind_of(source));
  out.kind->operands(source, out.operands);
  ET_CHECK_OK_OR_RETURN_ERROR(read_limits(source, out.limits));
  const Operands& operands = out.operands;
  const auto& values = graph.values;
  for (size_t i = 0; i < operands.num_inputs; ++i) {
    ET_CHECK_OR_RETURN_ERROR(operands.inputs[i] < values.size(), InvalidProgram,
                             "XNNPACK node: value %" PRIu32 " of %zu",
                             static_cast<uint32_t>(operands.inputs[i]), values.size());
  }
  ET_CHECK_OR_RETURN_ERROR(operands.output < values.size() &&
                               !values[operands.output].is_constant() &&
                               !graph.is_input(operands.output),
                           InvalidProgram, "XNNPACK node: writes value %" PRIu32,
                           static_cast<uint32_t>(operands.output));
  const auto is_float = [&](uint32_t id) {
    return values[id].type() == XNNDatatype::xnn_datatype_fp32;
  };
  if (source.xnode_union_type() == fb_xnnpack::XNodeUnion::XNNConvert &&
      is_float(operands.inputs[0]) && is_float(operands.output)) {
    out.kind = &conversion_of_floats();
  }
  ET_CHECK_OK_OR_RETURN_ERROR(out.kind->types(source, operands, values));
  return read_uses(out, graph);
}

Error read_nodes(const fb_xnnpack::XNNGraph& payload, Graph& graph) {
  const auto& nodes = *payload.xnodes();
  graph.nodes.resize(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_node(*nodes[i], graph, graph.nodes[i]));
  }
  return Error::Ok;
}

void find_needed(Graph& graph) {
  std::vector<bool> needed(graph.values.size());
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const Operands& operands = node->operands;
    node->is_needed =
        needed[operands.output] || graph.values[operands.output].tensor->flags() == kOutput;
    for (size_t i = 0; node->is_needed && i < operands.num_inputs; ++i) {
      needed[operands.inputs[i]] = true;
    }
  }
}

/// Shapes in the order of execution, which must write every value once, before it is read.
Error infer_shapes(Graph& graph) {
  std::vector<bool> is_there(graph.values.size());
  for (uint32_t id = 0; id < is_there.size(); ++id) {
    is_there[id] = graph.values[id].is_constant() || graph.is_input(id);
  }
  for (const GraphNode& node : graph.nodes) {
    const Operands& operands = node.operands;
    for (size_t i = 0; i < operands.num_inputs; ++i) {
      ET_CHECK_OR_RETURN_ERROR(is_there[operands.inputs[i]], Internal,
                               "XNNPACK node: value %" PRIu32 " is not there yet",
                               static_cast<uint32_t>(operands.inputs[i]));
    }
    ET_CHECK_OR_RETURN_ERROR(!is_there[operands.output], Internal,
                             "XNNPACK node: value %" PRIu32 " is written twice",
                             static_cast<uint32_t>(operands.output));
    is_there[operands.output] = true;
    const uint64_t declared = graph.shapes[operands.output].num_elements();
    ET_CHECK_OK_OR_RETURN_ERROR(infer_shape(node, graph.shapes));
    ET_CHECK_OR_RETURN_ERROR(
        graph.shapes[operands.output].num_elements() <= std::max(declared, kUndeclared),
        InvalidProgram, "XNNPACK value %" PRIu32 " is larger than the graph says",
        static_cast<uint32_t>(operands.output));
  }
  for (const External& external : graph.externals) {
    ET_CHECK_OR_RETURN_ERROR(is_there[external.value], Internal,
                             "XNNPACK graph: nothing writes output value %" PRIu32,
                             static_cast<uint32_t>(external.value));
  }
  return Error::Ok;
}

}  // namespace

bool Graph::is_input(uint32_t id) const {
  return values[id].tensor->flags() == kInput;
}

bool Graph::is_converted(uint32_t id) const {
  return values[id].is_widened &&
         std::any_of(externals.begin(), externals.end(),
                     [&](const External& external) { return external.value == id; });
}

Result<Graph> read_graph(const fb_xnnpack::XNNGraph& payload, bool widens_halves) {
  Graph graph;
  ET_CHECK_OK_OR_RETURN_ERROR(read_values(payload, widens_halves, graph));
  ET_CHECK_OK_OR_RETURN_ERROR(read_nodes(payload, graph));
  find_needed(graph);
  ET_CHECK_OK_OR_RETURN_ERROR(infer_shapes(graph));
  return graph;
}

Error infer_shape(const GraphNode& node, Shapes& shapes) {
  Shape out;
  ET_CHECK_OK_OR_RETURN_ERROR(node.kind->shape(*node.node, node.operands, shapes, out));
  ET_CHECK_OR_RETURN_ERROR(out.num_elements() > 0 && out.num_elements() <= kMaxElements,
                           InvalidProgram, "XNNPACK: a value without elements, or of more than %zu",
                           static_cast<size_t>(kMaxElements));
  shapes[node.operands.output] = out;
  return Error::Ok;
}

}  // namespace executorch::backends::xnnpack
