// SPDX-License-Identifier: BSD-3-Clause
// Kinds of nodes that look at images through windows, and what resizes images.
#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>
#include <executorch/backends/xnnpack/runtime/nodes/pooling_and_resize.h>

#include <iterator>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using runtime::Error;

namespace {

/// Most of a window's size, padding, stride and dilation, by dimension.
constexpr uint64_t kMaxWindow = 1 << 16;
constexpr uint32_t kKeepDims = 0x40;

template <bool dilated>
Error pooling(const XNode& x, const Operands& operands, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::_XNNPooling2D>(x);
  out = shapes[operands.inputs[0]];
  ET_CHECK_OR_RETURN_ERROR(out.rank == 4, InvalidProgram,
                           "XNNPACK pooling: expected 4 dimensions, found %zu", out.rank);
  const uint64_t dilations[2] = {dilated ? node.dilation_height() : 1u,
                                 dilated ? node.dilation_width() : 1u};
  ET_CHECK_OK_OR_RETURN_ERROR(slide(
      out.dims[1], {vertical(node), node.pooling_height(), node.stride_height(), dilations[0]},
      out.dims[1]));
  return slide(out.dims[2],
               {horizontal(node), node.pooling_width(), node.stride_width(), dilations[1]},
               out.dims[2]);
}

Error global_pooling(const XNode& x, const Operands& operands, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::_XNNNode1x1>(x);
  out = shapes[operands.inputs[0]];
  ET_CHECK_OR_RETURN_ERROR(out.rank == 4 && (node.flags() & ~kKeepDims) == 0, InvalidProgram,
                           "XNNPACK global pooling: expected 4 dimensions");
  if ((node.flags() & kKeepDims) != 0) {
    out.dims[1] = out.dims[2] = 1;
  } else {
    out.rank = 2;
    out.dims[1] = out.dims[3];
  }
  return Error::Ok;
}

Error resize(const XNode& x, const Operands& operands, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::XNNStaticResizeBilinear2D>(x);
  out = shapes[operands.inputs[0]];
  ET_CHECK_OR_RETURN_ERROR(out.rank == 4 && node.new_height() > 0 && node.new_width() > 0,
                           InvalidProgram, "XNNPACK resize: expected 4 dimensions and a size");
  out.dims[1] = node.new_height();
  out.dims[2] = node.new_width();
  return Error::Ok;
}

// The pools' own "keep dimensions" flag means nothing to XNNPACK.
xnn_status average_pool(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                        const Limits& limits, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::_XNNPooling2D>(node);
  return xnn_define_average_pooling_2d(
      graph, n.padding_top(), n.padding_right(), n.padding_bottom(), n.padding_left(),
      n.pooling_height(), n.pooling_width(), n.stride_height(), n.stride_width(), limits.min,
      limits.max, ids[operands.inputs[0]], ids[operands.output], 0);
}

xnn_status max_pool(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                    const Limits& limits, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::_XNNPooling2D>(node);
  return xnn_define_max_pooling_2d(graph, n.padding_top(), n.padding_right(), n.padding_bottom(),
                                   n.padding_left(), n.pooling_height(), n.pooling_width(),
                                   n.stride_height(), n.stride_width(), n.dilation_height(),
                                   n.dilation_width(), limits.min, limits.max,
                                   ids[operands.inputs[0]], ids[operands.output], 0);
}

xnn_status global_pool(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                       const Limits&, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::_XNNNode1x1>(node);
  const size_t axes[] = {1, 2};
  return xnn_define_static_reduce(graph, xnn_reduce_mean, 2, axes, ids[operands.inputs[0]],
                                  ids[operands.output], n.flags() & XNN_FLAG_KEEP_DIMS);
}

xnn_status resize_bilinear(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                           const Limits&, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::XNNStaticResizeBilinear2D>(node);
  return xnn_define_static_resize_bilinear_2d(graph, n.new_height(), n.new_width(),
                                              ids[operands.inputs[0]], ids[operands.output],
                                              n.flags() & XNN_FLAG_ALIGN_CORNERS);
}

constexpr NodeKind kKinds[] = {
    {XNodeUnion::XNNAvgPooling2d, one_input<fb_xnnpack::_XNNPooling2D>, pooling<false>, one_type,
     average_pool},
    {XNodeUnion::XNNMaxPooling2d, one_input<fb_xnnpack::_XNNPooling2D>, pooling<true>, one_type,
     max_pool},
    {XNodeUnion::XNNGlobalAvgPooling2d, one_input<fb_xnnpack::_XNNNode1x1>, global_pooling,
     one_type, global_pool},
    {XNodeUnion::XNNStaticResizeBilinear2D, one_input<fb_xnnpack::XNNStaticResizeBilinear2D>,
     resize, one_type, resize_bilinear},
};

}  // namespace

Error check_window(const Window& window) {
  const uint64_t sizes[] = {window.kernel, window.stride, window.dilation};
  for (const uint64_t size : sizes) {
    ET_CHECK_OR_RETURN_ERROR(size > 0 && size <= kMaxWindow, InvalidProgram,
                             "XNNPACK: a window's size, stride or dilation of %zu",
                             static_cast<size_t>(size));
  }
  ET_CHECK_OR_RETURN_ERROR(window.padding <= 2 * kMaxWindow, InvalidProgram,
                           "XNNPACK: a padding of %zu", static_cast<size_t>(window.padding));
  return Error::Ok;
}

Error slide(uint64_t size, const Window& window, size_t& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_window(window));
  const uint64_t extent = window.extent();
  ET_CHECK_OR_RETURN_ERROR(size + window.padding >= extent, InvalidProgram,
                           "XNNPACK: a window of %zu over %zu elements",
                           static_cast<size_t>(extent), static_cast<size_t>(size + window.padding));
  out = static_cast<size_t>((size + window.padding - extent) / window.stride + 1);
  return Error::Ok;
}

NodeKinds pooling_and_resize_kinds() {
  return {kKinds, std::size(kKinds)};
}

}  // namespace executorch::backends::xnnpack
