// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its function that gives a GEMM its size whose weights
// are an argument: that one packs all of the weights into the workspace, then multiplies by them.
// Here a thread packs a panel, multiplies by it while it is in the core's own cache, and packs the
// next one into the same place.
#include <executorch/backends/xnnpack/library/tile_order.h>

#include "xnnpack.h"
#include "xnnpack/compute.h"
#include "xnnpack/math.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" {
void xnn_compute_packw_gemm_goi(void*, size_t, size_t);  // which its header declares for C alone

/// XNNPACK's own under another name (tuning.cmake).
decltype(xnn_reshape_dynamic_fully_connected_nc_f32) xnn_reshape_dynamic_fully_connected_nc_f32_any;
}

namespace executorch::backends::xnnpack {

namespace {

/// Panels for each thread: of fewer, one thread could have a large part more than the others.
constexpr size_t kMinPanels = 4;
/// Packing takes no time beside multiplying more rows than this, and rows of more bytes do not stay
/// in the core's own cache from one panel to the next.
constexpr size_t kMaxRows = 1024;
constexpr size_t kMaxBytes = size_t{1} << 20;

/// `context` is that of an operator, whose second step says what there is to compute.
void compute_panel(const uint8_t* context, size_t thread, size_t panel) {
  const auto& op =
      *reinterpret_cast<const xnn_operator*>(context - offsetof(xnn_operator, context));
  const compute_parameters& tiles = op.compute[1];
  packw_gemm_goi_context packing = op.context.gemm.packw_gemm_goi;
  gemm_context gemm = op.context.gemm.gemm.gemm;
  const size_t first = panel * packing.nr;
  const size_t columns = std::min(packing.nr, tiles.range[1] - first);
  // Both look for a panel behind all that come before it, which are not there.
  const auto packed = reinterpret_cast<uintptr_t>(packing.packed_weights) +
                      (thread * packing.nr - first) * packing.w_stride;
  packing.packed_weights = reinterpret_cast<void*>(packed);
  gemm.packed_w = packing.packed_weights;
  xnn_compute_packw_gemm_goi(&packing, first, columns);
  for (size_t row = 0; row < tiles.range[0]; row += tiles.tile[0]) {
    xnn_compute_gemm(&gemm, row, first, std::min(tiles.tile[0], tiles.range[0] - row), columns);
  }
}

/// Makes one step of two, if XNNPACK has chosen those that this knows, and takes what it does not
/// need from the workspace.
void join_packing(xnn_operator& op, size_t threads, size_t* workspace_size) {
  compute_parameters& packing = op.compute[0];
  compute_parameters& gemm = op.compute[1];
  if (op.state != xnn_run_state_needs_setup || (op.flags & XNN_FLAG_TRANSPOSE_WEIGHTS) != 0 ||
      !is_gemm(gemm)) {
    return;
  }
  const packw_gemm_goi_context& panels = op.context.gemm.packw_gemm_goi;
  const size_t count = divide_round_up(gemm.range[1], panels.nr);
  if (count < kMinPanels * threads || gemm.range[0] > kMaxRows ||
      gemm.range[0] * op.context.gemm.gemm.gemm.a_stride > kMaxBytes) {
    return;
  }
  packing.type = xnn_parallelization_type_1d_with_thread;
  packing.task_1d_with_thread = reinterpret_cast<pthreadpool_task_1d_with_thread_t>(compute_panel);
  packing.context_offset = 0;
  packing.range[0] = count;
  gemm.type = xnn_parallelization_type_invalid;
  *workspace_size = threads * panels.nr * panels.w_stride;
}

}  // namespace

}  // namespace executorch::backends::xnnpack

extern "C" xnn_status xnn_reshape_dynamic_fully_connected_nc_f32(
    xnn_operator_t op, size_t batch, size_t inputs, size_t outputs, size_t input_stride,
    size_t output_stride, size_t* workspace_size, size_t* workspace_alignment,
    pthreadpool_t threadpool) {
  const xnn_status status = xnn_reshape_dynamic_fully_connected_nc_f32_any(
      op, batch, inputs, outputs, input_stride, output_stride, workspace_size, workspace_alignment,
      threadpool);
  if (status == xnn_status_success) {
    executorch::backends::xnnpack::join_packing(*op, pthreadpool_get_threads_count(threadpool),
                                                workspace_size);
  }
  return status;
}
