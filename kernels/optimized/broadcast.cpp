// SPDX-License-Identifier: BSD-3-Clause
// Which dimensions of operands that broadcast make one row, and which make rows.
#include <executorch/kernels/optimized/broadcast.h>

namespace executorch::kernels::optimized {
namespace {

bool merges(int num_operands, const int64_t (*strides)[kMaxOuterDims], int outer, int64_t size,
            const int64_t* inner_strides) {
  for (int i = 0; i < num_operands; ++i) {
    if (strides[i][outer] != inner_strides[i] * size) {
      return false;
    }
  }
  return true;
}

}  // namespace

Broadcast plan_broadcast(int num_dims, const int64_t* sizes, int num_operands,
                         const int64_t (*strides)[kMaxOuterDims]) {
  Broadcast walk;
  // Groups of dimensions, innermost first.
  int groups = 0;
  int64_t group_sizes[kMaxOuterDims];
  int64_t group_strides[kMaxOuterDims][kMaxOperands] = {};
  for (int dim = num_dims - 1; dim >= 0; --dim) {
    if (sizes[dim] == 1) {
      continue;
    }
    if (groups > 0 &&
        merges(num_operands, strides, dim, group_sizes[groups - 1], group_strides[groups - 1])) {
      group_sizes[groups - 1] *= sizes[dim];
      continue;
    }
    group_sizes[groups] = sizes[dim];
    for (int i = 0; i < num_operands; ++i) {
      group_strides[groups][i] = strides[i][dim];
    }
    ++groups;
  }
  if (groups == 0) {
    return walk;
  }
  walk.row = group_sizes[0];
  for (int i = 0; i < num_operands; ++i) {
    walk.inner[i] = group_strides[0][i];
  }
  walk.outer_dims = groups - 1;
  for (int group = 1; group < groups; ++group) {
    const int dim = walk.outer_dims - group;
    walk.outer_sizes[dim] = group_sizes[group];
    walk.rows *= group_sizes[group];
    for (int i = 0; i < num_operands; ++i) {
      walk.outer_strides[i][dim] = group_strides[group][i];
    }
  }
  return walk;
}

}  // namespace executorch::kernels::optimized
