// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/fusion/steps.h>
#include <executorch/backends/xnnpack/library/tile_order.h>

#include <algorithm>
#include <iterator>

namespace executorch::backends::xnnpack {

namespace {

/// Of products that one thread computes in the time that it takes to meet another: rows times
/// columns times bytes of depth.
constexpr size_t kAloneBytes = size_t{1} << 18;

}  // namespace

bool is_ready(const xnn_operator* op) {
  return op != nullptr &&
         (op->state == xnn_run_state_needs_setup || op->state == xnn_run_state_ready);
}

compute_parameters& tiles_of(xnn_operator& op) {
  const auto is_none = [](const compute_parameters& step) {
    return step.type == xnn_parallelization_type_invalid;
  };
  return *(std::find_if(op.compute + 1, std::end(op.compute), is_none) - 1);
}

xnn_status run_ahead(xnn_operator& op, pthreadpool_t pool) {
  compute_parameters& tiles = tiles_of(op);
  if (&tiles == &op.compute[0]) {
    return xnn_status_success;
  }
  const auto type = tiles.type;
  tiles.type = xnn_parallelization_type_invalid;
  const xnn_status status = xnn_run_operator(&op, pool);
  tiles.type = type;
  return status;
}

pthreadpool_t threads_for(xnn_operator& op, pthreadpool_t pool) {
  const compute_parameters& tiles = tiles_of(op);
  const bool is_small =
      is_gemm(tiles) &&
      tiles.range[0] * tiles.range[1] * op.context.gemm.gemm.gemm.k_scaled < kAloneBytes;
  return is_small ? nullptr : pool;
}

xnn_usage_record* memory_of(xnn_value_allocation_tracker& tracker, uint32_t value) {
  while (tracker.usage[value].reuse_value_id != XNN_INVALID_VALUE_ID) {
    value = tracker.usage[value].reuse_value_id;
  }
  return &tracker.usage[value];
}

void plan_together(const xnn_runtime& runtime, size_t index, size_t count,
                   xnn_value_allocation_tracker& tracker) {
  const auto is_planned = [&](uint32_t value) {
    return value != XNN_INVALID_VALUE_ID &&
           runtime.values[value].allocation_type == xnn_allocation_type_workspace;
  };
  const auto last = static_cast<uint32_t>(index + count - 1);
  for (size_t i = index; i < index + count; ++i) {
    const xnn_operator_data& node = runtime.opdata[i];
    if (node.operator_objects[0] == nullptr) {
      continue;
    }
    for (size_t input = 0; input < node.num_inputs; ++input) {
      if (is_planned(node.inputs[input])) {
        xnn_usage_record* const memory = memory_of(tracker, node.inputs[input]);
        memory->last_node = std::max(memory->last_node, last);
      }
    }
    if (is_planned(node.outputs[0])) {
      xnn_usage_record* const memory = memory_of(tracker, node.outputs[0]);
      memory->first_node = std::min(memory->first_node, static_cast<uint32_t>(index));
      memory->last_node = std::max(memory->last_node, last);
    }
  }
}

}  // namespace executorch::backends::xnnpack
