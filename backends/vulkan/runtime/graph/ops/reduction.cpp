// SPDX-License-Identifier: BSD-3-Clause
// Sums, extrema and their places over dimensions; softmax.
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

/// From so many elements on a group of 64 invocations shares a row.
constexpr int64_t kLongRow = 128;

enum ReduceCode : int32_t { kSum, kMean, kMax, kMin, kArgMax, kArgMin, kVar };

Error reduce(Call& call, const std::vector<int64_t>& dims, bool keeps, int64_t correction) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const size_t rank = x.shape.rank;
  bool is_gone[kMaxRank + 1] = {};
  for (const int64_t dim : dims) {
    is_gone[ET_UNWRAP(call.wrap_dim(dim, rank))] = true;
  }
  int32_t dense[kMaxRank] = {};
  int32_t strides[kMaxRank] = {};
  int32_t inner_sizes[kMaxRank] = {1, 1, 1, 1, 1, 1, 1, 1};
  int32_t inner_strides[kMaxRank] = {};
  dense_strides(x.shape, dense);
  Shape shape;
  Shape walk;
  int64_t count = 1;
  int64_t inner_rank = 0;
  for (size_t dim = rank; dim-- > 0;) {  // the innermost first
    if (dims.empty() || is_gone[dim]) {
      inner_sizes[inner_rank] = x.shape[dim];
      inner_strides[inner_rank++] = dense[dim];
      count *= x.shape[dim];
    }
  }
  for (size_t dim = 0; dim < rank; ++dim) {
    const bool is_reduced = dims.empty() || is_gone[dim];
    if (!is_reduced) {
      strides[walk.rank] = dense[dim];
      walk.push(x.shape[dim]);
    }
    if (!is_reduced || keeps) {
      shape.push(is_reduced ? 1 : x.shape[dim]);
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  if (count == 0) {
    return call.refuse("a reduction of no elements");
  }
  Iteration iteration(walk);
  iteration.add(strides, 0).add(walk).merge();
  const bool is_long = count >= kLongRow;
  return call.dispatch("reduce")
      .read(x)
      .write(out)
      .constant(call.code())
      .constant(is_long ? 64 : 1)
      .params(iteration)
      .param(count)
      .param(inner_rank)
      .dims(inner_sizes)
      .dims(inner_strides)
      .param(static_cast<float>(std::max<int64_t>(count - correction, 0)))
      .groups(is_long ? iteration.numel() : (iteration.numel() + 63) / 64);
}

Error reduce_dims(Call& call) {
  return reduce(call, ET_UNWRAP(call.integers(1)), ET_UNWRAP(call.boolean(2)), 0);
}

Error var(Call& call) {
  const bool is_unbiased = ET_UNWRAP(call.boolean(2));
  return reduce(call, ET_UNWRAP(call.integers(1)), ET_UNWRAP(call.boolean(3)), is_unbiased ? 1 : 0);
}

Error softmax(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const size_t dim = ET_UNWRAP(call.dim(1, x.shape.rank));
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, x.shape));
  int32_t strides[kMaxRank] = {1};
  dense_strides(x.shape, strides);
  const int64_t count = x.shape.rank == 0 ? 1 : x.shape[dim];
  const int64_t rows = count == 0 ? 0 : x.numel() / count;
  const bool is_long = count >= kLongRow;
  return call.dispatch("softmax")
      .read(x)
      .write(out)
      .constant(call.code())
      .constant(is_long ? 64 : 1)
      .param(rows)
      .param(count)
      .param(int64_t{strides[dim]})
      .groups(is_long ? rows : (rows + 63) / 64);
}

constexpr Operator kRows[] = {
    {"aten.sum.dim_IntList", reduce_dims, kSum},
    {"aten.mean.dim", reduce_dims, kMean},
    {"aten.amax.default", reduce_dims, kMax},
    {"aten.amin.default", reduce_dims, kMin},
    {"aten.argmax.default", reduce_dims, kArgMax},
    {"aten.argmin.default", reduce_dims, kArgMin},
    {"aten.var.dim", var, kVar},
    {"aten._softmax.default", softmax, 0},
    {"aten._log_softmax.default", softmax, 1},
};

}  // namespace

Operators reduction_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
