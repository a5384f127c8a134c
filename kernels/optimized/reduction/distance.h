// SPDX-License-Identifier: BSD-3-Clause
// Distances between the rows of two f32 matrices, SIMD and threads.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

struct Distances {
  const float* x;  // rows_x rows of `columns` values, one after the other
  const float* y;
  int64_t rows_x, rows_y, columns;
  bool squared;  // the 2-norm of differences; else the 1-norm
  float* out;    // (i, k) is at out[i * rows_y + k]
  // Only pairs i < k of one matrix (x is y): out holds those of row 0, then those of row 1, ...
  bool upper = false;
};

// Scratch memory (one block of rows a thread) comes from ctx; MemoryAllocationFailed when it
// cannot, with nothing written.
[[nodiscard]] runtime::Error distances(runtime::KernelRuntimeContext& ctx, const Distances& p);

}  // namespace executorch::kernels::optimized
