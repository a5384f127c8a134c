// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its functions that give linear layers of dynamically quantized
// rows their size.
// Linear layers of few such rows read all weights once. Threads that have as many columns end at
// different times, and the last one reads alone, though memory serves two faster. So each thread
// has pieces of its columns that halve: long ones first, which memory streams best, and short ones
// last, which other threads take over.
#include "xnnpack.h"
#include "xnnpack/compute.h"
#include "xnnpack/math.h"
#include "xnnpack/operator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" {
void xnn_compute_dqgemm(void*, size_t, size_t, size_t, size_t);  // declared for C alone

/// XNNPACK's own under other names (tuning.cmake).
decltype(xnn_reshape_fully_connected_nc_qd8_f32_qb4w)
    xnn_reshape_fully_connected_nc_qd8_f32_qb4w_any;
decltype(xnn_reshape_fully_connected_nc_qd8_f32_qc4w)
    xnn_reshape_fully_connected_nc_qd8_f32_qc4w_any;
}

namespace executorch::backends::xnnpack {

namespace {

/// Bytes of weights that are worth a piece: to begin one takes as long as to read a few KiB.
constexpr size_t kSmallest = size_t{1} << 16;

/// A step over pieces, in the fields that a step over tiles has.
struct Pieces {
  explicit Pieces(compute_parameters& step)
      : count(step.range[0]),
        columns(step.range[1]),
        threads(step.range[2]),
        rows(step.range[3]),
        panel(step.tile[0]) {}

  size_t& count;  // of all threads
  size_t& columns;
  size_t& threads;
  size_t& rows;
  size_t& panel;  // columns of one
};

/// `context` is that of an operator.
void compute_piece(void* context, size_t index) {
  auto& op = *reinterpret_cast<xnn_operator*>(static_cast<uint8_t*>(context) -
                                              offsetof(xnn_operator, context));
  const Pieces pieces(op.compute[0]);
  const size_t of_thread = pieces.count / pieces.threads;
  const size_t thread = index / of_thread, place = index % of_thread;
  const size_t panels = divide_round_up(pieces.columns, pieces.panel);
  const size_t last = panels * (thread + 1) / pieces.threads;
  const size_t own = last - panels * thread / pieces.threads;
  // Of 16 panels in four pieces: from 0, 8, 12 and 14 on.
  const size_t begin = last - (own >> place);
  const size_t end = place + 1 == of_thread ? last : last - (own >> (place + 1));
  const size_t column = begin * pieces.panel;
  xnn_compute_dqgemm(&op.context.gemm.gemm.gemm, 0, column, pieces.rows,
                     std::min(end * pieces.panel, pieces.columns) - column);
}

void halve_columns(xnn_operator& op, size_t threads) {
  compute_parameters& step = op.compute[0];
  if (threads == 1 || op.state != xnn_run_state_needs_setup ||
      step.type != xnn_parallelization_type_2d_tile_2d || step.range[0] > step.tile[0]) {
    return;
  }
  const size_t rows = step.range[0], columns = step.range[1], panel = op.ukernel.gemm.nr;
  const size_t panels = columns / panel / threads;  // of a thread, at least
  const size_t panel_bytes = panel * op.context.gemm.gemm.gemm.w_stride;
  if (panels == 0) {
    return;
  }
  size_t of_thread = 1;
  while (panels >> of_thread != 0 && (panels >> of_thread) * panel_bytes >= kSmallest) {
    ++of_thread;
  }
  step.type = xnn_parallelization_type_1d;
  step.task_1d = compute_piece;
  const Pieces pieces(step);
  pieces.count = threads * of_thread;
  pieces.columns = columns;
  pieces.threads = threads;
  pieces.rows = rows;
  pieces.panel = panel;
}

template <auto reshape>
xnn_status reshape_in_pieces(xnn_operator_t op, size_t batch, pthreadpool_t pool) {
  const xnn_status status = reshape(op, batch, pool);
  if (status == xnn_status_success) {
    halve_columns(*op, pthreadpool_get_threads_count(pool));
  }
  return status;
}

}  // namespace

}  // namespace executorch::backends::xnnpack

using executorch::backends::xnnpack::reshape_in_pieces;

extern "C" {

xnn_status xnn_reshape_fully_connected_nc_qd8_f32_qb4w(xnn_operator_t op, size_t batch,
                                                       pthreadpool_t pool) {
  return reshape_in_pieces<xnn_reshape_fully_connected_nc_qd8_f32_qb4w_any>(op, batch, pool);
}

xnn_status xnn_reshape_fully_connected_nc_qd8_f32_qc4w(xnn_operator_t op, size_t batch,
                                                       pthreadpool_t pool) {
  return reshape_in_pieces<xnn_reshape_fully_connected_nc_qd8_f32_qc4w_any>(op, batch, pool);
}

}  // extern "C"
