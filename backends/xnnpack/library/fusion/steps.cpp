// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/fusion/steps.h>

#include <algorithm>
#include <iterator>

namespace executorch::backends::xnnpack {

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

xnn_usage_record* memory_of(xnn_value_allocation_tracker& tracker, uint32_t value) {
  while (tracker.usage[value].reuse_value_id != XNN_INVALID_VALUE_ID) {
    value = tracker.usage[value].reuse_value_id;
  }
  return &tracker.usage[value];
}

}  // namespace executorch::backends::xnnpack
