// SPDX-License-Identifier: BSD-3-Clause
// Which matrices wait, and the graph of the run before they are packed.
#include <executorch/backends/xnnpack/runtime/nodes/convolution_and_fully_connected.h>
#include <executorch/backends/xnnpack/runtime/preparation/lazy_weight_packing.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNodeUnion;
using runtime::Error;

namespace {

/// For fewer XNNPACK has other kernels, which add in another order. No panel is wider.
constexpr size_t kMinOutputs = 64;
/// Such a matrix may be packed into the workspace (library/panel_gemm.cpp). What is larger than
/// this, and than what the workspace must hold anyway, would make that larger for good.
constexpr uint64_t kMaxBytes = uint64_t{1} << 20;

/// Whether the node is a matmul of floats by a matrix: a linear layer, or a convolution that looks
/// at one position at a time.
bool is_matmul(const Graph& graph, const GraphNode& node) {
  const auto is_float = [&](uint32_t id) {
    return graph.values[id].type() == XNNDatatype::xnn_datatype_fp32;
  };
  const uint32_t filter = node.operands.inputs[1];
  if (!is_float(node.operands.inputs[0]) || !is_float(filter) || graph.uses[filter].is_read ||
      graph.shapes[filter].dims[0] < kMinOutputs) {
    return false;
  }
  if (node.node->xnode_union_type() != XNodeUnion::XNNConv2d) {
    return node.node->xnode_union_type() == XNodeUnion::XNNFullyConnected;
  }
  const fb_xnnpack::_XNNNodeConv& n = *node.node->xnode_union_as_XNNConv2d();
  const uint32_t padding =
      n.padding_top() | n.padding_right() | n.padding_bottom() | n.padding_left();
  return n.groups() == 1 && padding == 0 && n.kernel_height() == 1 && n.kernel_width() == 1 &&
         n.subsampling_height() == 1 && n.subsampling_width() == 1;
}

/// Bytes that the largest node reads and writes.
uint64_t largest_activations(const Graph& graph) {
  const auto bytes_of = [&](uint32_t id) {
    return size_of(graph.values[id].type(), graph.shapes[id]);
  };
  uint64_t largest = 0;
  for (const GraphNode& node : graph.nodes) {
    largest = std::max(largest, bytes_of(node.operands.inputs[0]) + bytes_of(node.operands.output));
  }
  return largest;
}

}  // namespace

void LazyWeightPacking::choose(std::vector<Packing>& packings, size_t large_from) {
  const Graph& graph = definitions_.graph();
  const uint64_t max_bytes = std::max(kMaxBytes, largest_activations(graph));
  std::vector<bool> is_other(graph.values.size());
  for (const Packing& packing : packings) {
    const bool is_matrix =
        packing.is_xnnpacks && is_matmul(graph, *packing.node) &&
        definitions_.contents(packing.node->operands.inputs[1]).bytes.size() <= max_bytes;
    is_other[packing.node->operands.inputs[1]] =
        is_other[packing.node->operands.inputs[1]] || !is_matrix;
    if (packing.node->operands.num_packed > 1) {
      is_other[packing.node->operands.inputs[2]] = true;
    }
  }
  const auto others = std::stable_partition(
      packings.begin(), packings.end(),
      [&](const Packing& packing) { return is_other[packing.node->operands.inputs[1]]; });
  std::vector<uint32_t> filters;
  size_t total = 0;
  for (auto each = others; each != packings.end(); ++each) {
    const uint32_t id = each->node->operands.inputs[1];
    if (std::find(filters.begin(), filters.end(), id) == filters.end()) {
      filters.push_back(id);
      total += definitions_.contents(id).bytes.size();
    }
  }
  if (total < large_from) {
    return;
  }
  packings_.assign(std::make_move_iterator(others), std::make_move_iterator(packings.end()));
  packings.erase(others, packings.end());
}

bool LazyWeightPacking::is_lazy(const GraphNode& node) const {
  return std::any_of(packings_.begin(), packings_.end(),
                     [&](const Packing& each) { return each.node == &node; });
}

std::vector<uint32_t> LazyWeightPacking::filters_of(const Segment& segment) const {
  std::vector<uint32_t> filters;
  for (size_t place = segment.begin; place < segment.end; ++place) {
    const GraphNode& node = definitions_.graph().nodes[place];
    const uint32_t filter = node.operands.inputs[1];
    if (is_lazy(node) && std::find(filters.begin(), filters.end(), filter) == filters.end()) {
      filters.push_back(filter);
    }
  }
  return filters;
}

xnn_status LazyWeightPacking::define_matrix(xnn_subgraph_t subgraph, uint32_t id, uint32_t external,
                                            uint32_t& out) const {
  const Shape& shape = definitions_.graph().shapes[id];
  const size_t outputs = shape.dims[0];
  const size_t sizes[] = {outputs, static_cast<size_t>(shape.num_elements()) / outputs};
  return xnn_define_tensor_value(subgraph, xnn_datatype_fp32, 2, sizes, nullptr, external,
                                 XNN_VALUE_FLAG_EXTERNAL_INPUT, &out);
}

Error LazyWeightPacking::define(const Segment& segment, Subgraph& out, Ids& ids,
                                std::vector<xnn_external_value>& pointers) const {
  const std::vector<uint32_t> filters = filters_of(segment);
  ET_CHECK_OK_OR_RETURN_ERROR(make_subgraph(segment.arguments.size() + filters.size(), out));
  ids.assign(definitions_.graph().values.size(), XNN_INVALID_VALUE_ID);
  for (const uint32_t id : filters) {
    const auto external = static_cast<uint32_t>(segment.arguments.size() + pointers.size());
    pointers.push_back({external, const_cast<uint8_t*>(definitions_.contents(id).bytes.data())});
    ET_CHECK_OK_OR_RETURN_ERROR(
        check_status(define_matrix(out.get(), id, external, ids[id]), "a matrix"));
  }
  return definitions_.define_segment(out.get(), segment, ids, [&](const GraphNode& node) {
    return is_lazy(node)
               ? check_status(define_matmul(out.get(), node.operands, node.limits, ids), "a matmul")
               : Definitions::define_node(out.get(), node, ids);
  });
}

}  // namespace executorch::backends::xnnpack
