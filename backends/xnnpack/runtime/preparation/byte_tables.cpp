// SPDX-License-Identifier: BSD-3-Clause
// All functions of a graph are computed by one run of one subgraph.
#include <executorch/backends/xnnpack/runtime/preparation/byte_tables.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNodeUnion;
using runtime::Error;

namespace {

constexpr size_t kBytes = 256;
constexpr size_t kMaxNodes = 16;  // of a function

using Padded = std::array<uint8_t, kBytes + XNN_EXTRA_BYTES>;

bool is_byte(const Value& value) {
  return value.type() == XNNDatatype::xnn_datatype_qint8 ||
         value.type() == XNNDatatype::xnn_datatype_quint8;
}
bool is_float(const Value& value) {
  return value.type() == XNNDatatype::xnn_datatype_fp32;
}

/// Nodes between one value of bytes and another.
struct Function {
  GraphNode* last = nullptr;       // a conversion to bytes
  std::vector<GraphNode*> nodes;   // ahead of it, in the order of execution
  std::vector<GraphNode*> firsts;  // conversions of the bytes
  uint32_t input = kNoValue;
};

class Functions {
 public:
  explicit Functions(Graph& graph) : graph_(graph) {
    writers_.resize(graph.values.size());
    num_readers_.resize(graph.values.size());
    for (GraphNode& node : graph.nodes) {
      if (node.is_needed) {
        writers_[node.operands.output] = &node;
        for (size_t i = 0; i < node.operands.num_inputs; ++i) {
          ++num_readers_[node.operands.inputs[i]];
        }
      }
    }
    for (const External& external : graph.externals) {
      ++num_readers_[external.value];
    }
  }

  /// The function that ends with `last`; without nodes where there is none.
  Function ending_with(GraphNode& last) {
    Function found{&last};
    const Operands& operands = last.operands;
    const bool is_complete =
        is_conversion(last) && is_float(graph_.values[operands.inputs[0]]) &&
        is_byte(graph_.values[operands.output]) && adds(operands.inputs[0], found) &&
        graph_.values[found.input].type() == graph_.values[operands.output].type() &&
        graph_.shapes[found.input].rank == graph_.shapes[operands.output].rank &&
        is_read_inside_alone(found);
    if (!is_complete) {
      found.nodes.clear();
    }
    return found;
  }

  void replace(const Function& function, std::shared_ptr<const ByteTable> table) {
    for (GraphNode* node : function.nodes) {
      drop(*node);
    }
    for (GraphNode* first : function.firsts) {
      if (num_readers_[first->operands.output] == 0) {
        drop(*first);
      }
    }
    function.last->table = std::move(table);
  }

 private:
  static bool is_conversion(const GraphNode& node) {
    return node.is_needed && node.node->xnode_union_type() == XNodeUnion::XNNConvert;
  }

  /// Adds what writes a value of floats, and all ahead of that; false where it is no function.
  bool adds(uint32_t id, Function& function) {
    if (graph_.values[id].is_constant()) {
      return graph_.shapes[id].num_elements() == 1;
    }
    GraphNode* const writer = writers_[id];
    if (writer == nullptr || !writer->kind->by_element || !is_float(graph_.values[id])) {
      return false;
    }
    const auto has = [&](const std::vector<GraphNode*>& nodes) {
      return std::find(nodes.begin(), nodes.end(), writer) != nodes.end();
    };
    if (has(function.nodes) || has(function.firsts)) {
      return true;
    }
    const Operands& operands = writer->operands;
    if (is_byte(graph_.values[operands.inputs[0]])) {
      const bool is_other = function.input != kNoValue && function.input != operands.inputs[0];
      function.input = operands.inputs[0];
      function.firsts.push_back(writer);
      return !is_other;
    }
    for (size_t i = 0; i < operands.num_inputs; ++i) {
      if (!adds(operands.inputs[i], function)) {
        return false;
      }
    }
    function.nodes.push_back(writer);
    return function.nodes.size() <= kMaxNodes;
  }

  bool is_read_inside_alone(const Function& function) const {
    const auto reads = [](const GraphNode& node, uint32_t id) {
      const Operands& operands = node.operands;
      return std::count(operands.inputs, operands.inputs + operands.num_inputs, id);
    };
    return std::all_of(function.nodes.begin(), function.nodes.end(), [&](const GraphNode* node) {
      const uint32_t id = node->operands.output;
      return num_readers_[id] ==
             std::accumulate(
                 function.nodes.begin(), function.nodes.end(), reads(*function.last, id),
                 [&](auto sum, const GraphNode* reader) { return sum + reads(*reader, id); });
    });
  }

  void drop(GraphNode& node) {
    node.is_needed = false;
    for (size_t i = 0; i < node.operands.num_inputs; ++i) {
      --num_readers_[node.operands.inputs[i]];
    }
  }

  Graph& graph_;
  std::vector<GraphNode*> writers_;          // by value
  std::vector<std::ptrdiff_t> num_readers_;  // by value; arguments have one more
};

/// Computes functions of all bytes.
class Evaluation {
 public:
  Evaluation(const Definitions& definitions, const std::vector<Function>& functions)
      : definitions_(definitions), functions_(functions), results_(functions.size()) {
    std::iota(bytes_.begin(), bytes_.begin() + kBytes, uint8_t{0});
  }

  Error run() {
    ET_CHECK_OK_OR_RETURN_ERROR(make_subgraph(2 * functions_.size(), subgraph_));
    for (size_t i = 0; i < functions_.size(); ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(define(functions_[i], static_cast<uint32_t>(i)));
    }
    xnn_runtime_t made = nullptr;
    ET_CHECK_OK_OR_RETURN_ERROR(check_status(
        xnn_create_runtime_v2(subgraph_.get(), nullptr, /*flags=*/0, &made), "tables"));
    const std::unique_ptr<xnn_runtime, decltype(&xnn_delete_runtime)> runtime(made,
                                                                              xnn_delete_runtime);
    ET_CHECK_OK_OR_RETURN_ERROR(check_status(xnn_reshape_runtime(made), "tables"));
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_status(xnn_setup_runtime_v2(made, externals_.size(), externals_.data()), "tables"));
    return check_status(xnn_invoke_runtime(made), "tables");
  }

  std::shared_ptr<const ByteTable> result(size_t index) const {
    auto table = std::make_shared<ByteTable>();
    table->input = functions_[index].input;
    std::copy_n(results_[index].begin(), kBytes, table->bytes.begin());
    return table;
  }

 private:
  Error define(const Function& function, uint32_t index) {
    const auto num_functions = static_cast<uint32_t>(functions_.size());
    const Graph& graph = definitions_.graph();
    Ids ids(graph.values.size(), XNN_INVALID_VALUE_ID);
    externals_.push_back({index, bytes_.data()});
    externals_.push_back({num_functions + index, results_[index].data()});
    ET_CHECK_OK_OR_RETURN_ERROR(
        define_bytes(function.input, index, XNN_VALUE_FLAG_EXTERNAL_INPUT, ids));
    ET_CHECK_OK_OR_RETURN_ERROR(define_bytes(function.last->operands.output, num_functions + index,
                                             XNN_VALUE_FLAG_EXTERNAL_OUTPUT, ids));
    for (const GraphNode* node : function.firsts) {
      ET_CHECK_OK_OR_RETURN_ERROR(define_floats(*node, ids));
    }
    for (const GraphNode* node : function.nodes) {
      ET_CHECK_OK_OR_RETURN_ERROR(define_floats(*node, ids));
    }
    return Definitions::define_node(subgraph_.get(), *function.last, ids);
  }

  Error define_bytes(uint32_t id, uint32_t external, uint32_t flags, Ids& ids) {
    const Value& value = definitions_.graph().values[id];
    const xnn_datatype type =
        value.type() == XNNDatatype::xnn_datatype_qint8 ? xnn_datatype_qint8 : xnn_datatype_quint8;
    return check_status(
        xnn_define_quantized_tensor_value(subgraph_.get(), type, value.zero_point, value.scale, 1,
                                          &kBytes, nullptr, external, flags, &ids[id]),
        "a table");
  }

  /// A node with its result and the constants that it reads.
  Error define_floats(const GraphNode& node, Ids& ids) {
    const Operands& operands = node.operands;
    for (size_t i = 0; i < operands.num_inputs; ++i) {
      uint32_t& id = ids[operands.inputs[i]];
      if (id == XNN_INVALID_VALUE_ID) {
        ET_CHECK_OK_OR_RETURN_ERROR(
            check_status(definitions_.define_in(subgraph_.get(), operands.inputs[i],
                                                XNN_INVALID_VALUE_ID, /*flags=*/0, id),
                         "a constant"));
      }
    }
    ET_CHECK_OK_OR_RETURN_ERROR(check_status(
        xnn_define_tensor_value(subgraph_.get(), xnn_datatype_fp32, 1, &kBytes, nullptr,
                                XNN_INVALID_VALUE_ID, /*flags=*/0, &ids[operands.output]),
        "a table"));
    return Definitions::define_node(subgraph_.get(), node, ids);
  }

  const Definitions& definitions_;
  const std::vector<Function>& functions_;
  Subgraph subgraph_;
  Padded bytes_ = {};
  std::vector<Padded> results_;
  std::vector<xnn_external_value> externals_;
};

}  // namespace

Error make_byte_tables(const Definitions& definitions, Graph& graph) {
  Functions all(graph);
  std::vector<Function> found;
  for (GraphNode& node : graph.nodes) {
    Function function = all.ending_with(node);
    if (!function.nodes.empty()) {
      found.push_back(std::move(function));
    }
  }
  if (found.empty()) {
    return Error::Ok;
  }
  Evaluation evaluation(definitions, found);
  ET_CHECK_OK_OR_RETURN_ERROR(evaluation.run());
  for (size_t i = 0; i < found.size(); ++i) {
    all.replace(found[i], evaluation.result(i));
  }
  return Error::Ok;
}

}  // namespace executorch::backends::xnnpack
