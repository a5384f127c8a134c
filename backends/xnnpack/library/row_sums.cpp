// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, instead of its function that gives a sum or mean its size: that one
// makes a task of every two rows, which takes longer than their sums. And where only dimensions of
// one element follow, it sums as along columns, element by element.
#include "xnnpack.h"
#include "xnnpack/compute.h"
#include "xnnpack/math.h"
#include "xnnpack/operator.h"

#include <algorithm>
#include <array>

extern "C" {
void xnn_compute_contiguous_reduce(const reduce_context*, size_t, size_t, size_t, size_t, size_t);

/// XNNPACK's own under another name (tuning.cmake).
decltype(xnn_reshape_reduce_nd) xnn_reshape_reduce_nd_any;
}

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kTaskBytes = size_t{1} << 15;
constexpr size_t kTasksPerThread = 4;

struct Axes {
  std::array<int64_t, XNN_MAX_TENSOR_DIMS> axes{};
  size_t count = 0;
};

/// These axes, and those behind the last of them if they have one element each.
Axes without_columns(const int64_t* axes, size_t count, const size_t* shape, size_t num_dims) {
  const auto rank = static_cast<int64_t>(num_dims);
  Axes found;
  int64_t last = -1;
  for (; found.count < count; ++found.count) {
    const int64_t axis = axes[found.count];
    found.axes[found.count] = axis;
    last = std::max(last, axis < 0 ? axis + rank : axis);
  }
  const bool only_ones = last >= 0 && std::all_of(shape + last + 1, shape + rank,
                                                  [](size_t size) { return size == 1; });
  for (int64_t axis = last + 1; only_ones && axis < rank; ++axis) {
    found.axes[found.count++] = axis;
  }
  return found;
}

/// Of rows that are summed: as many as have kTaskBytes, or more, if all threads still have some.
void enlarge_tasks(xnn_operator& op, size_t threads) {
  compute_parameters& step = op.compute[0];
  const auto rows = reinterpret_cast<pthreadpool_task_3d_tile_2d_t>(xnn_compute_contiguous_reduce);
  if (step.type != xnn_parallelization_type_3d_tile_2d || step.task_3d_tile_2d != rows) {
    return;
  }
  const size_t row_bytes = std::max<size_t>(1, op.context.reduce.channels);
  step.tile[1] = std::max({step.tile[1], kTaskBytes / row_bytes,
                           divide_round_up(step.range[2], kTasksPerThread * threads)});
}

}  // namespace

}  // namespace executorch::backends::xnnpack

extern "C" xnn_status xnn_reshape_reduce_nd(xnn_operator_t op, size_t num_axes, const int64_t* axes,
                                            size_t num_dims, const size_t* shape,
                                            size_t* workspace_size, size_t* workspace_alignment,
                                            pthreadpool_t threadpool) {
  using namespace executorch::backends::xnnpack;
  if (num_axes > num_dims || num_dims > XNN_MAX_TENSOR_DIMS) {
    return xnn_reshape_reduce_nd_any(op, num_axes, axes, num_dims, shape, workspace_size,
                                     workspace_alignment, threadpool);
  }
  const Axes all = without_columns(axes, num_axes, shape, num_dims);
  const xnn_status status =
      xnn_reshape_reduce_nd_any(op, all.count, all.axes.data(), num_dims, shape, workspace_size,
                                workspace_alignment, threadpool);
  if (status == xnn_status_success && op->state != xnn_run_state_skip) {
    enlarge_tasks(*op, pthreadpool_get_threads_count(threadpool));
  }
  return status;
}
