// SPDX-License-Identifier: BSD-3-Clause
// Kinds of nodes that move values and compute nothing.
#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>

#include <algorithm>
#include <cinttypes>
#include <iterator>
#include <vector>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using runtime::Error;

using Sizes = flatbuffers::Vector<uint32_t>;

namespace {

Error transpose(const XNode& x, const Operands& operands, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::XNNStaticTranspose>(x);
  const Shape& input = shapes[operands.inputs[0]];
  const Sizes* perm = node.perm();
  ET_CHECK_OR_RETURN_ERROR(perm != nullptr && perm->size() == input.rank &&
                               node.num_dims() == input.rank && input.rank > 0,
                           InvalidProgram, "XNNPACK transpose: no order of %zu dimensions",
                           input.rank);
  uint32_t seen = 0;
  out.rank = input.rank;
  for (uint32_t i = 0; i < perm->size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(perm->Get(i) < input.rank && (seen >> perm->Get(i) & 1) == 0,
                             InvalidProgram, "XNNPACK transpose: not a permutation");
    seen |= 1u << perm->Get(i);
    out.dims[i] = input.dims[perm->Get(i)];
  }
  return Error::Ok;
}

/// A size of 0, at most one, is what is left of the elements.
Error reshape(const XNode& x, const Operands& operands, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::XNNStaticReshape>(x);
  const Sizes* sizes = node.new_shape();
  ET_CHECK_OR_RETURN_ERROR(
      sizes != nullptr && sizes->size() <= kMaxRank && node.num_dims() == sizes->size(),
      InvalidProgram, "XNNPACK reshape: no shape of at most %zu dimensions", kMaxRank);
  const uint64_t elements = shapes[operands.inputs[0]].num_elements();
  size_t open = kMaxRank;
  out.rank = sizes->size();
  for (uint32_t i = 0; i < sizes->size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(sizes->Get(i) != 0 || open == kMaxRank, InvalidProgram,
                             "XNNPACK reshape: two open sizes");
    open = sizes->Get(i) == 0 ? i : open;
    out.dims[i] = sizes->Get(i) == 0 ? 1 : sizes->Get(i);
  }
  if (open != kMaxRank) {
    const uint64_t others = out.num_elements();
    ET_CHECK_OR_RETURN_ERROR(others <= kMaxElements && elements % others == 0, InvalidProgram,
                             "XNNPACK reshape: %zu elements do not divide into the shape",
                             static_cast<size_t>(elements));
    out.dims[open] = static_cast<size_t>(elements / others);
  }
  ET_CHECK_OR_RETURN_ERROR(out.num_elements() == elements, InvalidProgram,
                           "XNNPACK reshape: %zu elements into %zu", static_cast<size_t>(elements),
                           static_cast<size_t>(out.num_elements()));
  return Error::Ok;
}

/// A size of 0 is the whole dimension.
Error slice(const XNode& x, const Operands& operands, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::XNNStaticSlice>(x);
  out = shapes[operands.inputs[0]];
  const Sizes* offsets = node.offsets();
  const Sizes* sizes = node.sizes();
  ET_CHECK_OR_RETURN_ERROR(
      offsets != nullptr && sizes != nullptr && offsets->size() == out.rank &&
          sizes->size() == out.rank && node.num_dims() == out.rank && out.rank > 0,
      InvalidProgram, "XNNPACK slice: no offsets and sizes of %zu dimensions", out.rank);
  for (uint32_t i = 0; i < sizes->size(); ++i) {
    const uint64_t whole = out.dims[i];
    ET_CHECK_OR_RETURN_ERROR(sizes->Get(i) != 0 || offsets->Get(i) == 0, InvalidProgram,
                             "XNNPACK slice: offset without size");
    const uint64_t size = sizes->Get(i) == 0 ? whole : sizes->Get(i);
    ET_CHECK_OR_RETURN_ERROR(size + offsets->Get(i) <= whole, InvalidProgram,
                             "XNNPACK slice: beyond %zu elements", static_cast<size_t>(whole));
    out.dims[i] = static_cast<size_t>(size);
  }
  return Error::Ok;
}

Error pad(const XNode& x, const Operands& operands, const Shapes& shapes, Shape& out) {
  const auto& node = table_of<fb_xnnpack::XNNStaticConstantPad>(x);
  out = shapes[operands.inputs[0]];
  const Sizes* before = node.pre_paddings();
  const Sizes* after = node.post_paddings();
  ET_CHECK_OR_RETURN_ERROR(before != nullptr && after != nullptr && before->size() == out.rank &&
                               after->size() == out.rank,
                           InvalidProgram, "XNNPACK pad: no paddings of %zu dimensions", out.rank);
  for (uint32_t i = 0; i < before->size(); ++i) {
    out.dims[i] += static_cast<size_t>(before->Get(i)) + after->Get(i);
  }
  return Error::Ok;
}

Error concatenate(const XNode& node, const Operands& operands, const Shapes& shapes, Shape& out) {
  const uint32_t axis = table_of<fb_xnnpack::_XNNCat>(node).axis();
  out = shapes[operands.inputs[0]];
  ET_CHECK_OR_RETURN_ERROR(axis < out.rank, InvalidProgram,
                           "XNNPACK concatenation: axis %" PRIu32 " of %zu",
                           static_cast<uint32_t>(axis), out.rank);
  for (size_t i = 1; i < operands.num_inputs; ++i) {
    const Shape& more = shapes[operands.inputs[i]];
    ET_CHECK_OR_RETURN_ERROR(more.rank == out.rank, InvalidProgram,
                             "XNNPACK concatenation: of %zu and %zu dimensions", out.rank,
                             more.rank);
    for (size_t dim = 0; dim < out.rank; ++dim) {
      ET_CHECK_OR_RETURN_ERROR(dim == axis || more.dims[dim] == out.dims[dim], InvalidProgram,
                               "XNNPACK concatenation: sizes %zu and %zu", out.dims[dim],
                               more.dims[dim]);
    }
    out.dims[axis] += more.dims[axis];
  }
  return Error::Ok;
}

template <size_t count>
void several_inputs(const XNode& node, Operands& out) {
  const auto& table = table_of<fb_xnnpack::_XNNCat>(node);
  const uint32_t inputs[5] = {table.input1_id(), table.input2_id(), table.input3_id(),
                              table.input4_id(), table.input5_id()};
  std::copy(inputs, inputs + count, out.inputs);
  out.num_inputs = count;
  out.output = table.output_id();
}

std::vector<size_t> sizes_of(const Sizes& values) {
  return {values.begin(), values.end()};
}

template <size_t count>
xnn_status define_concatenate(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                              const Limits&, const Ids& ids) {
  const auto axis = static_cast<int32_t>(table_of<fb_xnnpack::_XNNCat>(node).axis());
  const uint32_t out = ids[operands.output];
  const auto in = [&](size_t i) { return ids[operands.inputs[i]]; };
  if constexpr (count == 2) {
    return xnn_define_concatenate2(graph, axis, in(0), in(1), out, 0);
  } else if constexpr (count == 3) {
    return xnn_define_concatenate3(graph, axis, in(0), in(1), in(2), out, 0);
  } else if constexpr (count == 4) {
    return xnn_define_concatenate4(graph, axis, in(0), in(1), in(2), in(3), out, 0);
  } else {
    return xnn_define_concatenate5(graph, axis, in(0), in(1), in(2), in(3), in(4), out, 0);
  }
}

xnn_status define_transpose(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                            const Limits&, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::XNNStaticTranspose>(node);
  const auto perm = sizes_of(*n.perm());
  return xnn_define_static_transpose(graph, perm.size(), perm.data(), ids[operands.inputs[0]],
                                     ids[operands.output], 0);
}

xnn_status define_reshape(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                          const Limits&, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::XNNStaticReshape>(node);
  const auto shape = sizes_of(*n.new_shape());
  return xnn_define_static_reshape(graph, shape.size(), shape.data(), ids[operands.inputs[0]],
                                   ids[operands.output], 0);
}

xnn_status define_slice(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                        const Limits&, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::XNNStaticSlice>(node);
  const auto offsets = sizes_of(*n.offsets());
  const auto sizes = sizes_of(*n.sizes());
  return xnn_define_static_slice(graph, offsets.size(), offsets.data(), sizes.data(),
                                 ids[operands.inputs[0]], ids[operands.output], 0);
}

xnn_status define_pad(xnn_subgraph_t graph, const XNode& node, const Operands& operands,
                      const Limits&, const Ids& ids) {
  const auto& n = table_of<fb_xnnpack::XNNStaticConstantPad>(node);
  // XNNPACK reads kMaxRank of each.
  auto before = sizes_of(*n.pre_paddings());
  auto after = sizes_of(*n.post_paddings());
  before.resize(XNN_MAX_TENSOR_DIMS);
  after.resize(XNN_MAX_TENSOR_DIMS);
  return xnn_define_static_constant_pad(graph, before.data(), after.data(), n.padding_value(),
                                        ids[operands.inputs[0]], ids[operands.output], 0);
}

xnn_status copy(xnn_subgraph_t graph, const XNode&, const Operands& operands, const Limits&,
                const Ids& ids) {
  return xnn_define_copy(graph, ids[operands.inputs[0]], ids[operands.output], 0);
}

template <size_t count>
constexpr NodeKind concatenation(XNodeUnion kind) {
  return {kind, several_inputs<count>, concatenate, one_type, define_concatenate<count>};
}

constexpr NodeKind kKinds[] = {
    concatenation<2>(XNodeUnion::XNNConcatenate2),
    concatenation<3>(XNodeUnion::XNNConcatenate3),
    concatenation<4>(XNodeUnion::XNNConcatenate4),
    concatenation<5>(XNodeUnion::XNNConcatenate5),
    {XNodeUnion::XNNCopy, one_input<fb_xnnpack::_XNNNode1x1>, same_shape, one_type, copy},
    {XNodeUnion::XNNStaticTranspose, one_input<fb_xnnpack::XNNStaticTranspose>, transpose, one_type,
     define_transpose},
    {XNodeUnion::XNNStaticReshape, one_input<fb_xnnpack::XNNStaticReshape>, reshape, one_type,
     define_reshape},
    {XNodeUnion::XNNStaticSlice, one_input<fb_xnnpack::XNNStaticSlice>, slice, one_type,
     define_slice},
    {XNodeUnion::XNNStaticConstantPad, one_input<fb_xnnpack::XNNStaticConstantPad>, pad, one_type,
     define_pad},
};

}  // namespace

NodeKinds data_movement_kinds() {
  return {kKinds, std::size(kKinds)};
}

}  // namespace executorch::backends::xnnpack
