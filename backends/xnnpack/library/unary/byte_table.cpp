// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, whose unary operators on bytes look them up in tables of its own.
#include <executorch/backends/xnnpack/library/unary/byte_table.h>

#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"

#include <cstring>

namespace {

constexpr xnn_unary_operator kAnyWithATable = xnn_unary_sigmoid;

xnn_status create(const xnn_node* node, const xnn_value* values, size_t, xnn_operator_data* opdata,
                  xnn_code_cache*, xnn_weights_cache_t) {
  const auto quantization_of = [](const xnn_value& value) {
    return xnn_quantization_params{value.quantization.zero_point, value.quantization.scale};
  };
  const xnn_value &input = values[node->inputs[0]], &output = values[node->outputs[0]];
  const xnn_quantization_params from = quantization_of(input), to = quantization_of(output);
  xnn_operator_t& op = opdata->operator_objects[0];
  const xnn_status status = xnn_create_unary_elementwise_nc(
      kAnyWithATable, input.datatype, output.datatype, nullptr, &from, &to, node->flags, &op);
  if (status == xnn_status_success) {
    const uint8_t* table = nullptr;
    std::memcpy(&table, &node->params, sizeof(table));
    std::memcpy(op->lookup_table, table, 256);
  }
  return status;
}

}  // namespace

xnn_status xnn_define_byte_table(xnn_subgraph_t subgraph, const uint8_t* table, uint32_t input,
                                 uint32_t output) {
  const xnn_status status =
      xnn_define_unary(subgraph, kAnyWithATable, nullptr, input, output, /*flags=*/0);
  if (status == xnn_status_success) {
    xnn_node& node = subgraph->nodes[subgraph->num_nodes - 1];
    node.create = create;
    std::memcpy(&node.params, &table, sizeof(table));
  }
  return status;
}
