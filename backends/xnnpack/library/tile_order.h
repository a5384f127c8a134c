// SPDX-License-Identifier: BSD-3-Clause
// The order in which threads compute the tiles of a GEMM. XNNPACK goes along the rows of tiles,
// and reads all weights again for each: slow where they exceed a core's own cache.
#pragma once

#include "xnnpack/operator.h"

#include <cstddef>

extern "C" void xnn_compute_gemm(void*, size_t, size_t, size_t,
                                 size_t);  // which its header declares for C alone

namespace executorch::backends::xnnpack {

/// Whether a step is tiles of one GEMM.
bool is_gemm(const compute_parameters& step);

/// Of weights as they are packed: panels of `columns`, each column of so many bytes.
struct Panels {
  size_t columns;
  size_t column_bytes;
};

/// `task` for threads that go down the columns.
template <pthreadpool_task_2d_tile_2d_t task>
void by_columns(void* context, size_t column, size_t row, size_t columns, size_t rows) {
  task(context, row, column, rows, columns);
}

/// Lets a step over [rows, columns] go down the columns by `task`, that of the step by_columns, if
/// its weights are large.
void order_by_columns(compute_parameters& step, pthreadpool_task_2d_tile_2d_t task,
                      const Panels& weights);

/// The same for an operator that is one GEMM; others stay as they are.
void order_gemm(xnn_operator* op);

}  // namespace executorch::backends::xnnpack
