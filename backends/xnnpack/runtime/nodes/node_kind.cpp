// SPDX-License-Identifier: BSD-3-Clause
// The table of kinds, of the families' rows, and what the rows share.
#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>

#include <array>

namespace executorch::backends::xnnpack {

using fb_xnnpack::XNNDatatype;
using fb_xnnpack::XNode;
using fb_xnnpack::XNodeUnion;
using runtime::Error;
using runtime::Result;

namespace {

using Table = std::array<const NodeKind*, static_cast<size_t>(XNodeUnion::MAX) + 1>;

Table make_table() {
  Table table{};
  for (const NodeKinds family : {elementwise_kinds(), convolution_and_fully_connected_kinds(),
                                 pooling_and_resize_kinds(), data_movement_kinds()}) {
    for (const NodeKind& row : family) {
      ET_DCHECK(table[static_cast<size_t>(row.kind)] == nullptr);
      table[static_cast<size_t>(row.kind)] = &row;
    }
  }
  return table;
}

}  // namespace

Result<const NodeKind*> kind_of(const XNode& node) {
  static const Table table = make_table();
  const NodeKind* row = table[static_cast<size_t>(node.xnode_union_type())];
  ET_CHECK_OR_RETURN_ERROR(row != nullptr, NotImplemented,
                           "XNNPACK node %s: this build cannot run it", name_of(node));
  return row;
}

void two_inputs(const XNode& node, Operands& out) {
  const auto& table = table_of<fb_xnnpack::_XNNNode2x1>(node);
  out.inputs[0] = table.input1_id();
  out.inputs[1] = table.input2_id();
  out.num_inputs = 2;
  out.output = table.output_id();
}

Error same_shape(const XNode&, const Operands& operands, const Shapes& shapes, Shape& out) {
  out = shapes[operands.inputs[0]];
  return Error::Ok;
}

bool is_activation(XNNDatatype type) {
  return type == XNNDatatype::xnn_datatype_fp32 || type == XNNDatatype::xnn_datatype_fp16 ||
         type == XNNDatatype::xnn_datatype_qint8 || type == XNNDatatype::xnn_datatype_quint8;
}

Error one_type(const XNode& node, const Operands& operands, const std::vector<Value>& values) {
  const XNNDatatype output = values[operands.output].type();
  for (size_t i = 0; i < operands.num_inputs; ++i) {
    const XNNDatatype input = values[operands.inputs[i]].type();
    ET_CHECK_OR_RETURN_ERROR(input == output && is_activation(input), NotSupported,
                             "XNNPACK %s: no kernel for input %zu of %s and output of %s",
                             name_of(node), i, fb_xnnpack::EnumNameXNNDatatype(input),
                             fb_xnnpack::EnumNameXNNDatatype(output));
  }
  return Error::Ok;
}

const char* name_of(const XNode& node) {
  return fb_xnnpack::EnumNameXNodeUnion(node.xnode_union_type());
}

}  // namespace executorch::backends::xnnpack
