// SPDX-License-Identifier: BSD-3-Clause
// Calls of XNNPACK by kind of node.
#include <executorch/backends/xnnpack/runtime/nodes.h>

#include <algorithm>
#include <limits>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using runtime::Error;

namespace {

using Ids = std::vector<uint32_t>;

struct Limits {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
};

/// The operators with one input and no parameters.
struct UnaryRow {
  XNodeUnion kind;
  xnn_unary_operator op;
};
constexpr UnaryRow kUnary[] = {
    {XNodeUnion::XNNAbs, xnn_unary_abs},
    {XNodeUnion::XNNCeiling, xnn_unary_ceiling},
    {XNodeUnion::XNNConvert, xnn_unary_convert},
    {XNodeUnion::XNNCos, xnn_unary_cosine},
    {XNodeUnion::XNNExp, xnn_unary_exp},
    {XNodeUnion::XNNFloor, xnn_unary_floor},
    {XNodeUnion::XNNGelu, xnn_unary_gelu},
    {XNodeUnion::XNNHardswish, xnn_unary_hardswish},
    {XNodeUnion::XNNLog, xnn_unary_log},
    {XNodeUnion::XNNNegate, xnn_unary_negate},
    {XNodeUnion::XNNReciprocalSquareRoot, xnn_unary_reciprocal_square_root},
    {XNodeUnion::XNNSigmoid, xnn_unary_sigmoid},
    {XNodeUnion::XNNSin, xnn_unary_sine},
    {XNodeUnion::XNNSquare, xnn_unary_square},
    {XNodeUnion::XNNSquareRoot, xnn_unary_square_root},
    {XNodeUnion::XNNTanh, xnn_unary_tanh},
};

/// The operators with two inputs that broadcast.
struct BinaryRow {
  XNodeUnion kind;
  xnn_binary_operator op;
};
constexpr BinaryRow kBinary[] = {
    {XNodeUnion::XNNAdd, xnn_binary_add},           {XNodeUnion::XNNDiv, xnn_binary_divide},
    {XNodeUnion::XNNMaximum, xnn_binary_maximum},   {XNodeUnion::XNNMinimum, xnn_binary_minimum},
    {XNodeUnion::XNNMultiply, xnn_binary_multiply}, {XNodeUnion::XNNPReLU, xnn_binary_prelu},
    {XNodeUnion::XNNSubtract, xnn_binary_subtract},
};

/// The row of a kind; null when there is none.
template <typename Row, size_t N>
const Row* find(const Row (&rows)[N], XNodeUnion kind) {
  const Row* row = std::find_if(rows, rows + N, [&](const Row& each) { return each.kind == kind; });
  return row == rows + N ? nullptr : row;
}

Error limits_of(const XNode& node, Limits& out) {
  if (const auto* given = node.output_min_max(); given != nullptr) {
    ET_CHECK_OR_RETURN_ERROR(
        given->output_min() < given->output_max(), InvalidProgram, "XNNPACK %s: limits %f and %f",
        fb_xnnpack::EnumNameXNodeUnion(node.xnode_union_type()),
        static_cast<double>(given->output_min()), static_cast<double>(given->output_max()));
    out = {given->output_min(), given->output_max()};
  }
  return Error::Ok;
}

std::vector<size_t> sizes_of(const flatbuffers::Vector<uint32_t>& values) {
  return {values.begin(), values.end()};
}

uint32_t bias_of(uint32_t bias, const Ids& ids) {
  return bias == kNoValue ? XNN_INVALID_VALUE_ID : ids[bias];
}

template <typename Node>
xnn_status unary(xnn_subgraph_t graph, xnn_unary_operator op, const xnn_unary_params* params,
                 const Node& node, const Ids& ids) {
  return xnn_define_unary(graph, op, params, ids[node.input_id()], ids[node.output_id()], 0);
}

xnn_status binary(xnn_subgraph_t graph, xnn_binary_operator op, const Limits& limits,
                  const fb_xnnpack::_XNNNode2x1& node, const Ids& ids) {
  const xnn_binary_params params{limits.min, limits.max};
  return xnn_define_binary(graph, op, &params, ids[node.input1_id()], ids[node.input2_id()],
                           ids[node.output_id()], 0);
}

xnn_status convolution(xnn_subgraph_t graph, const fb_xnnpack::_XNNNodeConv& n,
                       const Limits& limits, const Ids& ids) {
  return xnn_define_convolution_2d(
      graph, n.padding_top(), n.padding_right(), n.padding_bottom(), n.padding_left(),
      n.kernel_height(), n.kernel_width(), n.subsampling_height(), n.subsampling_width(),
      n.dilation_height(), n.dilation_width(), n.groups(), n.group_input_channels(),
      n.group_output_channels(), limits.min, limits.max, ids[n.input1_id()], ids[n.filter_id()],
      bias_of(n.bias_id(), ids), ids[n.output_id()], 0);
}

xnn_status depthwise(xnn_subgraph_t graph, const fb_xnnpack::_XNNNodeConv& n, const Limits& limits,
                     const Ids& ids) {
  return xnn_define_depthwise_convolution_2d(
      graph, n.padding_top(), n.padding_right(), n.padding_bottom(), n.padding_left(),
      n.kernel_height(), n.kernel_width(), n.subsampling_height(), n.subsampling_width(),
      n.dilation_height(), n.dilation_width(), n.group_output_channels(), n.groups(), limits.min,
      limits.max, ids[n.input1_id()], ids[n.filter_id()], bias_of(n.bias_id(), ids),
      ids[n.output_id()], 0);
}

xnn_status transposed(xnn_subgraph_t graph, const fb_xnnpack::_XNNNodeConv& n, const Limits& limits,
                      const Ids& ids) {
  return xnn_define_deconvolution_2d(
      graph, n.padding_top(), n.padding_right(), n.padding_bottom(), n.padding_left(),
      n.adjustment_height(), n.adjustment_width(), n.kernel_height(), n.kernel_width(),
      n.subsampling_height(), n.subsampling_width(), n.dilation_height(), n.dilation_width(),
      n.groups(), n.group_input_channels(), n.group_output_channels(), limits.min, limits.max,
      ids[n.input1_id()], ids[n.filter_id()], bias_of(n.bias_id(), ids), ids[n.output_id()], 0);
}

// The pools' own "keep dimensions" flag means nothing to XNNPACK.
xnn_status average_pool(xnn_subgraph_t graph, const fb_xnnpack::_XNNPooling2D& n,
                        const Limits& limits, const Ids& ids) {
  return xnn_define_average_pooling_2d(
      graph, n.padding_top(), n.padding_right(), n.padding_bottom(), n.padding_left(),
      n.pooling_height(), n.pooling_width(), n.stride_height(), n.stride_width(), limits.min,
      limits.max, ids[n.input_id()], ids[n.output_id()], 0);
}

xnn_status max_pool(xnn_subgraph_t graph, const fb_xnnpack::_XNNPooling2D& n, const Limits& limits,
                    const Ids& ids) {
  return xnn_define_max_pooling_2d(graph, n.padding_top(), n.padding_right(), n.padding_bottom(),
                                   n.padding_left(), n.pooling_height(), n.pooling_width(),
                                   n.stride_height(), n.stride_width(), n.dilation_height(),
                                   n.dilation_width(), limits.min, limits.max, ids[n.input_id()],
                                   ids[n.output_id()], 0);
}

xnn_status global_pool(xnn_subgraph_t graph, const fb_xnnpack::_XNNNode1x1& n, const Ids& ids) {
  const size_t axes[] = {1, 2};
  return xnn_define_static_reduce(graph, xnn_reduce_mean, 2, axes, ids[n.input_id()],
                                  ids[n.output_id()], n.flags() & XNN_FLAG_KEEP_DIMS);
}

xnn_status concatenate(xnn_subgraph_t graph, XNodeUnion kind, const fb_xnnpack::_XNNCat& n,
                       const Ids& ids) {
  const int32_t axis = static_cast<int32_t>(n.axis());
  const uint32_t out = ids[n.output_id()];
  const uint32_t first = ids[n.input1_id()];
  const uint32_t second = ids[n.input2_id()];
  switch (kind) {
    case XNodeUnion::XNNConcatenate2:
      return xnn_define_concatenate2(graph, axis, first, second, out, 0);
    case XNodeUnion::XNNConcatenate3:
      return xnn_define_concatenate3(graph, axis, first, second, ids[n.input3_id()], out, 0);
    case XNodeUnion::XNNConcatenate4:
      return xnn_define_concatenate4(graph, axis, first, second, ids[n.input3_id()],
                                     ids[n.input4_id()], out, 0);
    default:
      return xnn_define_concatenate5(graph, axis, first, second, ids[n.input3_id()],
                                     ids[n.input4_id()], ids[n.input5_id()], out, 0);
  }
}

xnn_status transpose(xnn_subgraph_t graph, const fb_xnnpack::XNNStaticTranspose& n,
                     const Ids& ids) {
  const auto perm = sizes_of(*n.perm());
  return xnn_define_static_transpose(graph, perm.size(), perm.data(), ids[n.input_id()],
                                     ids[n.output_id()], 0);
}

xnn_status reshape(xnn_subgraph_t graph, const fb_xnnpack::XNNStaticReshape& n, const Ids& ids) {
  const auto shape = sizes_of(*n.new_shape());
  return xnn_define_static_reshape(graph, shape.size(), shape.data(), ids[n.input_id()],
                                   ids[n.output_id()], 0);
}

xnn_status slice(xnn_subgraph_t graph, const fb_xnnpack::XNNStaticSlice& n, const Ids& ids) {
  const auto offsets = sizes_of(*n.offsets());
  const auto sizes = sizes_of(*n.sizes());
  return xnn_define_static_slice(graph, offsets.size(), offsets.data(), sizes.data(),
                                 ids[n.input_id()], ids[n.output_id()], 0);
}

xnn_status pad(xnn_subgraph_t graph, const fb_xnnpack::XNNStaticConstantPad& n, const Ids& ids) {
  // XNNPACK reads kMaxRank of each.
  auto before = sizes_of(*n.pre_paddings());
  auto after = sizes_of(*n.post_paddings());
  before.resize(XNN_MAX_TENSOR_DIMS);
  after.resize(XNN_MAX_TENSOR_DIMS);
  return xnn_define_static_constant_pad(graph, before.data(), after.data(), n.padding_value(),
                                        ids[n.input_id()], ids[n.output_id()], 0);
}

xnn_status with_parameters(xnn_subgraph_t graph, const XNode& node, const Limits& limits,
                           const Ids& ids) {
  xnn_unary_params params{};
  switch (node.xnode_union_type()) {
    case XNodeUnion::XNNClamp:
      params.clamp = {limits.min, limits.max};
      return unary(graph, xnn_unary_clamp, &params, *node.xnode_union_as_XNNClamp(), ids);
    case XNodeUnion::XNNELU:
      params.elu.alpha = node.xnode_union_as_XNNELU()->alpha();
      return unary(graph, xnn_unary_elu, &params, *node.xnode_union_as_XNNELU(), ids);
    case XNodeUnion::XNNLeakyReLU:
      params.leaky_relu.negative_slope = node.xnode_union_as_XNNLeakyReLU()->negative_slope();
      return unary(graph, xnn_unary_leaky_relu, &params, *node.xnode_union_as_XNNLeakyReLU(), ids);
    default:
      return xnn_status_unsupported_parameter;
  }
}

xnn_status define(xnn_subgraph_t graph, const XNode& node, const Limits& limits, const Ids& ids) {
  const XNodeUnion kind = node.xnode_union_type();
  const void* table = node.xnode_union();
  if (const UnaryRow* row = find(kUnary, kind); row != nullptr) {
    return unary(graph, row->op, nullptr, *static_cast<const fb_xnnpack::_XNNNode1x1*>(table), ids);
  }
  if (const BinaryRow* row = find(kBinary, kind); row != nullptr) {
    return binary(graph, row->op, limits, *static_cast<const fb_xnnpack::_XNNNode2x1*>(table), ids);
  }
  switch (kind) {
    case XNodeUnion::XNNFullyConnected: {
      const auto& n = *node.xnode_union_as_XNNFullyConnected();
      return xnn_define_fully_connected(graph, limits.min, limits.max, ids[n.input1_id()],
                                        ids[n.filter_id()], bias_of(n.bias_id(), ids),
                                        ids[n.output_id()], 0);
    }
    case XNodeUnion::XNNBatchMatrixMultiply: {
      const auto& n = *node.xnode_union_as_XNNBatchMatrixMultiply();
      return xnn_define_batch_matrix_multiply(graph, ids[n.input1_id()], ids[n.input2_id()],
                                              ids[n.output_id()], n.flags());
    }
    case XNodeUnion::XNNStaticResizeBilinear2D: {
      const auto& n = *node.xnode_union_as_XNNStaticResizeBilinear2D();
      return xnn_define_static_resize_bilinear_2d(graph, n.new_height(), n.new_width(),
                                                  ids[n.input_id()], ids[n.output_id()],
                                                  n.flags() & XNN_FLAG_ALIGN_CORNERS);
    }
    case XNodeUnion::XNNSoftmax: {
      const auto& n = *node.xnode_union_as_XNNSoftmax();
      return xnn_define_softmax(graph, ids[n.input_id()], ids[n.output_id()], 0);
    }
    case XNodeUnion::XNNCopy: {
      const auto& n = *node.xnode_union_as_XNNCopy();
      return xnn_define_copy(graph, ids[n.input_id()], ids[n.output_id()], 0);
    }
    case XNodeUnion::XNNConv2d:
      return convolution(graph, *node.xnode_union_as_XNNConv2d(), limits, ids);
    case XNodeUnion::XNNDepthwiseConv2d:
      return depthwise(graph, *node.xnode_union_as_XNNDepthwiseConv2d(), limits, ids);
    case XNodeUnion::XNNConvTranspose2d:
      return transposed(graph, *node.xnode_union_as_XNNConvTranspose2d(), limits, ids);
    case XNodeUnion::XNNAvgPooling2d:
      return average_pool(graph, *node.xnode_union_as_XNNAvgPooling2d(), limits, ids);
    case XNodeUnion::XNNMaxPooling2d:
      return max_pool(graph, *node.xnode_union_as_XNNMaxPooling2d(), limits, ids);
    case XNodeUnion::XNNGlobalAvgPooling2d:
      return global_pool(graph, *node.xnode_union_as_XNNGlobalAvgPooling2d(), ids);
    case XNodeUnion::XNNStaticTranspose:
      return transpose(graph, *node.xnode_union_as_XNNStaticTranspose(), ids);
    case XNodeUnion::XNNStaticReshape:
      return reshape(graph, *node.xnode_union_as_XNNStaticReshape(), ids);
    case XNodeUnion::XNNStaticSlice:
      return slice(graph, *node.xnode_union_as_XNNStaticSlice(), ids);
    case XNodeUnion::XNNStaticConstantPad:
      return pad(graph, *node.xnode_union_as_XNNStaticConstantPad(), ids);
    case XNodeUnion::XNNConcatenate2:
    case XNodeUnion::XNNConcatenate3:
    case XNodeUnion::XNNConcatenate4:
    case XNodeUnion::XNNConcatenate5:
      return concatenate(graph, kind, *static_cast<const fb_xnnpack::_XNNCat*>(table), ids);
    default:
      return with_parameters(graph, node, limits, ids);
  }
}

}  // namespace

Error check_status(xnn_status status, const char* what) {
  switch (status) {
    case xnn_status_success:
      return Error::Ok;
    case xnn_status_out_of_memory:
      ET_LOG(Error, "XNNPACK: no memory for %s", what);
      return Error::MemoryAllocationFailed;
    case xnn_status_unsupported_parameter:
    case xnn_status_unsupported_hardware:
      ET_LOG(
          Error,
          "XNNPACK has no kernels for %s in this build or on this processor: half precision needs "
          "instructions of its own",
          what);
      return Error::NotSupported;
    default:
      ET_LOG(Error, "XNNPACK refused %s: status %d", what, static_cast<int>(status));
      return Error::Internal;
  }
}

Error define_product(xnn_subgraph_t subgraph, const XNode& node, const Operands& operands,
                     const Ids& ids) {
  Limits limits;
  ET_CHECK_OK_OR_RETURN_ERROR(limits_of(node, limits));
  const uint32_t bias = operands.num_packed < 2 ? kNoValue : operands.inputs[2];
  return check_status(xnn_define_fully_connected(subgraph, limits.min, limits.max,
                                                 ids[operands.inputs[0]], ids[operands.inputs[1]],
                                                 bias_of(bias, ids), ids[operands.output], 0),
                      "a product");
}

Error define_node(xnn_subgraph_t subgraph, const XNode& node, const Ids& ids) {
  Limits limits;
  ET_CHECK_OK_OR_RETURN_ERROR(limits_of(node, limits));
  return check_status(define(subgraph, node, limits, ids),
                      fb_xnnpack::EnumNameXNodeUnion(node.xnode_union_type()));
}

}  // namespace executorch::backends::xnnpack
