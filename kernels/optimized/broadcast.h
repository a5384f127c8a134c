// SPDX-License-Identifier: BSD-3-Clause
// The walk over operands that broadcast to a dense output, by rows in which each operand is an
// array or one value.
#pragma once

#include <algorithm>
#include <cstdint>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

// How up to three operands that broadcast to a dense output are walked: `rows` rows of `row` output
// elements each. Within a row an operand advances by inner[i] (0 or 1) elements.
constexpr int kMaxOperands = 3;
constexpr int kMaxOuterDims = 16;
struct Broadcast {
  int64_t row = 1;
  int64_t rows = 1;
  int outer_dims = 0;
  int64_t outer_sizes[kMaxOuterDims] = {};
  int64_t outer_strides[kMaxOperands][kMaxOuterDims] = {};
  int64_t inner[kMaxOperands] = {};
};

// Plans the walk: sizes of the output, and for each operand the stride of every dimension (0 where
// it broadcasts). Dimensions that are contiguous in all operands become one. num_dims <=
// kMaxOuterDims.
Broadcast plan_broadcast(int num_dims, const int64_t* sizes, int num_operands,
                         const int64_t (*strides)[kMaxOuterDims]);

// Rows of n elements of two operands, each an array or one value for a row; `out` is dense.
template <typename T, typename R = T>
struct BinaryRows {
  const T* x;
  bool x_array;
  int64_t x_step;  // from row to row, in elements
  const T* y;
  bool y_array;
  int64_t y_step;
  R* out;
  int64_t n;
  int64_t count;
};

constexpr int64_t kWalkGrain = 32768;  // elements worth a thread

// Rows of n elements, one behind the other in the output, or a part of one.
struct WalkRows {
  int64_t from[kMaxOperands];
  int64_t steps[kMaxOperands];  // from row to row
  int64_t at;                   // in the output
  int64_t n;
  int64_t count;
};

// Calls f(rows) for the rows that make up output elements [begin, end).
template <typename Fn>
void walk_range(const Broadcast& walk, int64_t begin, int64_t end, Fn&& f) {
  int64_t index[kMaxOuterDims];
  int64_t offset[kMaxOperands] = {};
  int64_t rest = begin / walk.row;
  for (int dim = walk.outer_dims - 1; dim >= 0; --dim) {
    index[dim] = rest % walk.outer_sizes[dim];
    rest /= walk.outer_sizes[dim];
    for (int i = 0; i < kMaxOperands; ++i) {
      offset[i] += index[dim] * walk.outer_strides[i][dim];
    }
  }
  int64_t column = begin % walk.row;
  const int last = walk.outer_dims - 1;
  for (int64_t at = begin; at < end;) {
    WalkRows rows{{}, {}, at, std::min(walk.row - column, end - at), 1};
    if (rows.n == walk.row && last >= 0) {
      rows.count = std::min(walk.outer_sizes[last] - index[last], (end - at) / walk.row);
    }
    for (int i = 0; i < kMaxOperands; ++i) {
      rows.from[i] = offset[i] + column * walk.inner[i];
      rows.steps[i] = last >= 0 ? walk.outer_strides[i][last] : 0;
    }
    f(rows);
    at += rows.n * rows.count;
    column = 0;
    for (int dim = last; dim >= 0; --dim) {
      const int64_t by = dim == last ? rows.count : 1;
      index[dim] += by;
      const bool carry = index[dim] == walk.outer_sizes[dim];
      const int64_t steps = carry ? by - walk.outer_sizes[dim] : by;
      for (int i = 0; i < kMaxOperands; ++i) {
        offset[i] += steps * walk.outer_strides[i][dim];
      }
      if (!carry) {
        break;
      }
      index[dim] = 0;
    }
  }
}

template <typename Fn>
void walk_parallel(const Broadcast& walk, Fn&& f) {
  executorch::extension::parallel_for(
      0, walk.rows * walk.row, kWalkGrain,
      [&](int64_t begin, int64_t end) { walk_range(walk, begin, end, f); });
}

// The same for f(offsets, out_offset, n), a row at a time.
template <typename Fn>
void walk_by_row(const Broadcast& walk, Fn&& f) {
  walk_parallel(walk, [&](WalkRows rows) {
    for (; rows.count > 0; --rows.count, rows.at += rows.n) {
      f(rows.from, rows.at, rows.n);
      for (int i = 0; i < kMaxOperands; ++i) {
        rows.from[i] += rows.steps[i];
      }
    }
  });
}

template <typename T, typename R>
BinaryRows<T, R> of_operands(const Broadcast& walk, const WalkRows& rows, const T* x, const T* y,
                             R* out) {
  return {x + rows.from[0], walk.inner[0] != 0, rows.steps[0], y + rows.from[1], walk.inner[1] != 0,
          rows.steps[1],    out + rows.at,      rows.n,        rows.count};
}

}  // namespace executorch::kernels::optimized
