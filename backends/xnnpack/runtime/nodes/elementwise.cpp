// SPDX-License-Identifier: BSD-3-Clause
// Kinds of nodes that work element by element or row by row, and matmuls of two computed values.
#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using runtime::Error;

namespace {

constexpr uint32_t kTransposeB = 0x1;

Error broadcast(const XNode&, const Operands& operands, const Shapes& shapes, Shape& out) {
  const Shape& a = shapes[operands.inputs[0]];
  const Shape& b = shapes[operands.inputs[1]];
  out.rank = std::max(a.rank, b.rank);
  for (size_t i = 0; i < out.rank; ++i) {
    const size_t from_a = i < a.rank ? a.dims[a.rank - 1 - i] : 1;
    const size_t from_b = i < b.rank ? b.dims[b.rank - 1 - i] : 1;
    ET_CHECK_OR_RETURN_ERROR(from_a == from_b || from_a == 1 || from_b == 1, InvalidProgram,
                             "XNNPACK: sizes %zu and %zu do not broadcast", from_a, from_b);
    out.dims[out.rank - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return Error::Ok;
}

Error matrix_multiply(const XNode& node, const Operands& operands, const Shapes& shapes,
                      Shape& out) {
  const Shape& a = shapes[operands.inputs[0]];
  const Shape& b = shapes[operands.inputs[1]];
  const uint32_t flags = table_of<fb_xnnpack::_XNNNode2x1>(node).flags();
  ET_CHECK_OR_RETURN_ERROR(a.rank == b.rank && a.rank >= 3 && (flags & ~kTransposeB) == 0,
                           InvalidProgram, "XNNPACK matrix multiply: %zu and %zu dimensions",
                           a.rank, b.rank);
  const bool transposed = (flags & kTransposeB) != 0;
  const size_t rows = b.dims[b.rank - (transposed ? 1 : 2)];
  ET_CHECK_OR_RETURN_ERROR(a.dims[a.rank - 1] == rows, InvalidProgram,
                           "XNNPACK matrix multiply: %zu columns and %zu rows", a.dims[a.rank - 1],
                           rows);
  out = a;
  out.dims[out.rank - 1] = b.dims[b.rank - (transposed ? 2 : 1)];
  for (size_t i = 0; i + 2 < a.rank; ++i) {
    ET_CHECK_OR_RETURN_ERROR(a.dims[i] == b.dims[i], InvalidProgram,
                             "XNNPACK matrix multiply: batches of %zu and %zu", a.dims[i],
                             b.dims[i]);
  }
  return Error::Ok;
}

Error conversion(const XNode&, const Operands& operands, const std::vector<Value>& values) {
  const auto input = values[operands.inputs[0]].type();
  const auto output = values[operands.output].type();
  ET_CHECK_OR_RETURN_ERROR(
      is_activation(input) &&
          (is_activation(output) || output == fb_xnnpack::XNNDatatype::xnn_datatype_qdint8),
      NotSupported, "XNNPACK: no conversion of %s to %s", fb_xnnpack::EnumNameXNNDatatype(input),
      fb_xnnpack::EnumNameXNNDatatype(output));
  return Error::Ok;
}

xnn_status define_unary(xnn_subgraph_t graph, xnn_unary_operator op, const xnn_unary_params* params,
                        const Operands& operands, const Ids& ids) {
  return xnn_define_unary(graph, op, params, ids[operands.inputs[0]], ids[operands.output], 0);
}

template <xnn_unary_operator op>
xnn_status plain(xnn_subgraph_t graph, const XNode&, const Operands& operands, const Limits&,
                 const Ids& ids) {
  return define_unary(graph, op, nullptr, operands, ids);
}

xnn_status same_floats(xnn_subgraph_t graph, const XNode&, const Operands& operands, const Limits&,
                       const Ids& ids) {
  return xnn_define_copy(graph, ids[operands.inputs[0]], ids[operands.output], 0);
}

xnn_status clamp(xnn_subgraph_t graph, const XNode&, const Operands& operands, const Limits& limits,
                 const Ids& ids) {
  xnn_unary_params params{};
  params.clamp = {limits.min, limits.max};
  return define_unary(graph, xnn_unary_clamp, &params, operands, ids);
}

xnn_status elu(xnn_subgraph_t graph, const XNode& node, const Operands& operands, const Limits&,
               const Ids& ids) {
  xnn_unary_params params{};
  params.elu.alpha = table_of<fb_xnnpack::XNNELU>(node).alpha();
  return define_unary(graph, xnn_unary_elu, &params, operands, ids);
}

xnn_status leaky_relu(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                      const Limits&, const Ids& ids) {
  xnn_unary_params params{};
  params.leaky_relu.negative_slope = table_of<fb_xnnpack::XNNLeakyReLU>(node).negative_slope();
  return define_unary(graph, xnn_unary_leaky_relu, &params, operands, ids);
}

template <xnn_binary_operator op>
xnn_status of_two(xnn_subgraph_t graph, const XNode&, const Operands& operands,
                  const Limits& limits, const Ids& ids) {
  const xnn_binary_params params{limits.min, limits.max};
  return xnn_define_binary(graph, op, &params, ids[operands.inputs[0]], ids[operands.inputs[1]],
                           ids[operands.output], 0);
}

xnn_status softmax(xnn_subgraph_t graph, const XNode&, const Operands& operands, const Limits&,
                   const Ids& ids) {
  return xnn_define_softmax(graph, ids[operands.inputs[0]], ids[operands.output], 0);
}

xnn_status batch_matmul(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                        const Limits&, const Ids& ids) {
  return xnn_define_batch_matrix_multiply(graph, ids[operands.inputs[0]], ids[operands.inputs[1]],
                                          ids[operands.output],
                                          table_of<fb_xnnpack::_XNNNode2x1>(node).flags());
}

template <xnn_unary_operator op>
constexpr NodeKind unary(XNodeUnion kind) {
  return {kind, one_input<fb_xnnpack::_XNNNode1x1>, same_shape, one_type, plain<op>, true};
}

template <xnn_binary_operator op>
constexpr NodeKind binary(XNodeUnion kind) {
  return {kind, two_inputs, broadcast, one_type, of_two<op>, true};
}

constexpr NodeKind kKinds[] = {
    unary<xnn_unary_abs>(XNodeUnion::XNNAbs),
    unary<xnn_unary_ceiling>(XNodeUnion::XNNCeiling),
    unary<xnn_unary_cosine>(XNodeUnion::XNNCos),
    unary<xnn_unary_exp>(XNodeUnion::XNNExp),
    unary<xnn_unary_floor>(XNodeUnion::XNNFloor),
    unary<xnn_unary_gelu>(XNodeUnion::XNNGelu),
    unary<xnn_unary_hardswish>(XNodeUnion::XNNHardswish),
    unary<xnn_unary_log>(XNodeUnion::XNNLog),
    unary<xnn_unary_negate>(XNodeUnion::XNNNegate),
    unary<xnn_unary_reciprocal_square_root>(XNodeUnion::XNNReciprocalSquareRoot),
    unary<xnn_unary_sigmoid>(XNodeUnion::XNNSigmoid),
    unary<xnn_unary_sine>(XNodeUnion::XNNSin),
    unary<xnn_unary_square>(XNodeUnion::XNNSquare),
    unary<xnn_unary_square_root>(XNodeUnion::XNNSquareRoot),
    unary<xnn_unary_tanh>(XNodeUnion::XNNTanh),
    {XNodeUnion::XNNConvert, one_input<fb_xnnpack::_XNNNode1x1>, same_shape, conversion,
     plain<xnn_unary_convert>, true},
    {XNodeUnion::XNNClamp, one_input<fb_xnnpack::_XNNNode1x1>, same_shape, one_type, clamp, true},
    {XNodeUnion::XNNELU, one_input<fb_xnnpack::XNNELU>, same_shape, one_type, elu, true},
    {XNodeUnion::XNNLeakyReLU, one_input<fb_xnnpack::XNNLeakyReLU>, same_shape, one_type,
     leaky_relu, true},
    {XNodeUnion::XNNSoftmax, one_input<fb_xnnpack::_XNNNode1x1>, same_shape, one_type, softmax},
    binary<xnn_binary_add>(XNodeUnion::XNNAdd),
    binary<xnn_binary_divide>(XNodeUnion::XNNDiv),
    binary<xnn_binary_maximum>(XNodeUnion::XNNMaximum),
    binary<xnn_binary_minimum>(XNodeUnion::XNNMinimum),
    binary<xnn_binary_multiply>(XNodeUnion::XNNMultiply),
    binary<xnn_binary_prelu>(XNodeUnion::XNNPReLU),
    binary<xnn_binary_subtract>(XNodeUnion::XNNSubtract),
    {XNodeUnion::XNNBatchMatrixMultiply, two_inputs, matrix_multiply, one_type, batch_matmul},
};

constexpr NodeKind kSameFloats = {XNodeUnion::XNNConvert,
                                  one_input<fb_xnnpack::_XNNNode1x1>,
                                  same_shape,
                                  one_type,
                                  same_floats,
                                  true};

}  // namespace

const NodeKind& conversion_of_floats() {
  return kSameFloats;
}

NodeKinds elementwise_kinds() {
  return {kKinds, std::size(kKinds)};
}

}  // namespace executorch::backends::xnnpack
