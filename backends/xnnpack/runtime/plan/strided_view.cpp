// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/runtime/plan/strided_view.h>

#include <executorch/backends/xnnpack/runtime/plan/own_layer.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNodeUnion;

namespace {

void transpose(const GraphNode& node, StridedView& view) {
  const auto& perm = *table_of<fb_xnnpack::XNNStaticTranspose>(*node.node).perm();
  const StridedView before = view;
  for (uint32_t i = 0; i < perm.size(); ++i) {
    view.strides[i] = before.strides[perm.Get(i)];
  }
}

void slice(const GraphNode& node, StridedView& view) {
  const auto& offsets = *table_of<fb_xnnpack::XNNStaticSlice>(*node.node).offsets();
  for (uint32_t i = 0; i < offsets.size(); ++i) {
    view.offset += static_cast<int64_t>(offsets.Get(i)) * view.strides[i];
  }
}

/// Elements that are as far from each other, over one dimension or several.
struct Run {
  int64_t size, stride;
};

/// The last ones first.
std::vector<Run> runs_of(const StridedView& view) {
  std::vector<Run> runs;
  for (size_t dim = view.shape.rank; dim > 0; --dim) {
    const Run run{size_at(view.shape, dim - 1), view.strides[dim - 1]};
    if (!runs.empty() && run.stride == runs.back().size * runs.back().stride) {
      runs.back().size *= run.size;
    } else if (run.size != 1) {
      runs.push_back(run);
    }
  }
  return runs;
}

bool reshape(const Shape& to, StridedView& view) {
  std::vector<Run> runs = runs_of(view);
  auto run = runs.begin();
  for (size_t dim = to.rank; dim > 0; --dim) {
    const int64_t size = size_at(to, dim - 1);
    view.strides[dim - 1] = 0;
    if (size == 1 || to.num_elements() == 0) {
      continue;
    }
    if (run == runs.end() || run->size % size != 0) {
      return false;
    }
    view.strides[dim - 1] = run->stride;
    run->stride *= size;
    run->size /= size;
    run += run->size == 1 ? 1 : 0;
  }
  return true;
}

}  // namespace

StridedView StridedView::whole(const Shape& shape) {
  StridedView view;
  view.shape = shape;
  int64_t stride = 1;
  for (size_t dim = shape.rank; dim > 0; --dim) {
    view.strides[dim - 1] = stride;
    stride *= size_at(shape, dim - 1);
  }
  return view;
}

bool StridedView::apply(const GraphNode& node, const Shape& output) {
  bool is_view = true;
  switch (node.node->xnode_union_type()) {
    case XNodeUnion::XNNStaticTranspose:
      transpose(node, *this);
      break;
    case XNodeUnion::XNNStaticSlice:
      slice(node, *this);
      break;
    case XNodeUnion::XNNStaticReshape:
      is_view = reshape(output, *this);
      break;
    default:
      break;  // of the same shape
  }
  shape = output;
  return is_view;
}

bool is_data_movement(const Graph& graph, const GraphNode& node) {
  const XNodeUnion type = node.node->xnode_union_type();
  return (type == XNodeUnion::XNNStaticTranspose || type == XNodeUnion::XNNStaticSlice ||
          type == XNodeUnion::XNNStaticReshape) &&
         node.table == nullptr && is_plain_float(graph, node.operands.inputs[0]) &&
         !graph.values[node.operands.inputs[0]].is_constant() &&
         is_plain_float(graph, node.operands.output);
}

bool view_through(const Graph& graph, const std::vector<size_t>& nodes, uint32_t value,
                  const Shapes& shapes, StridedView& out) {
  out = StridedView::whole(shapes[value]);
  return std::all_of(nodes.begin(), nodes.end(), [&](size_t place) {
    const GraphNode& node = graph.nodes[place];
    return out.apply(node, shapes[node.operands.output]);
  });
}

}  // namespace executorch::backends::xnnpack
