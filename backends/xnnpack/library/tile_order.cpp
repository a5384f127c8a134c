// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK: steps by columns.
#include <executorch/backends/xnnpack/library/tile_order.h>

#include "xnnpack.h"
#include "xnnpack/compute.h"

#include <algorithm>
#include <utility>

namespace executorch::backends::xnnpack {

namespace {

/// Weights of this many bytes stay in a core's own cache along with all else.
constexpr size_t kSmall = size_t{1} << 20;
/// Weights of a tile, if one panel is not larger.
constexpr size_t kTile = size_t{1} << 19;

}  // namespace

bool is_gemm(const compute_parameters& step) {
  return step.type == xnn_parallelization_type_2d_tile_2d &&
         step.task_2d_tile_2d == reinterpret_cast<pthreadpool_task_2d_tile_2d_t>(xnn_compute_gemm);
}

void order_by_columns(compute_parameters& step, pthreadpool_task_2d_tile_2d_t task,
                      const Panels& weights) {
  if (step.range[1] * weights.column_bytes <= kSmall) {
    return;
  }
  step.task_2d_tile_2d = task;
  std::swap(step.range[0], step.range[1]);
  std::swap(step.tile[0], step.tile[1]);
  const size_t fit = kTile / weights.column_bytes / weights.columns * weights.columns;
  step.tile[0] = std::min(step.tile[0], std::max(weights.columns, fit));
}

void order_gemm(xnn_operator* op) {
  compute_parameters& step = op->compute[0];
  if (op->state == xnn_run_state_needs_setup && op->ukernel.type == xnn_microkernel_type_gemm &&
      is_gemm(step)) {
    order_by_columns(step, by_columns<xnn_compute_gemm>,
                     {op->ukernel.gemm.nr, op->context.gemm.gemm.gemm.w_stride});
  }
}

}  // namespace executorch::backends::xnnpack
