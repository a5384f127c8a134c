// SPDX-License-Identifier: BSD-3-Clause
// Elements at places that a tensor says.
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

/// out over `walk`: x at `strides` and, along a dimension of `size` elements `stride` apart, at
/// what the index has at `index_strides`.
Error run(Call& call, const Tensor& x, const Tensor& index, const Tensor& out, const Shape& walk,
          const int32_t (&strides)[kMaxRank], const int32_t (&index_strides)[kMaxRank],
          int64_t size, int64_t stride) {
  if (size < 1 && out.numel() > 0) {
    return call.mismatch("an index into no elements");
  }
  Iteration iteration(walk);
  iteration.add(strides, 0).add(index_strides, 0).add(walk).merge();
  return call.dispatch("gather")
      .read(x)
      .read(index)
      .write(out)
      .params(iteration)
      .param(size)
      .param(stride)
      .elements(iteration.numel());
}

/// Rows of x along `dim`, by an index of any rank: its dimensions take the place of that one.
Error take_along(Call& call, const Tensor& x, const Tensor& index, size_t dim) {
  Tensor& out = *ET_UNWRAP(call.output());
  if (x.shape.rank < 1 || x.shape.rank - 1 + index.shape.rank > kMaxRank) {
    return call.refuse("more than 8 dimensions");
  }
  int32_t dense[kMaxRank] = {};
  int32_t index_dense[kMaxRank] = {};
  int32_t strides[kMaxRank] = {};
  int32_t index_strides[kMaxRank] = {};
  dense_strides(x.shape, dense);
  dense_strides(index.shape, index_dense);
  Shape shape;
  for (size_t i = 0; i < x.shape.rank; ++i) {
    if (i != dim) {
      strides[shape.rank] = dense[i];
      shape.push(x.shape[i]);
      continue;
    }
    for (size_t j = 0; j < index.shape.rank; ++j) {
      index_strides[shape.rank] = index_dense[j];
      shape.push(index.shape[j]);
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  return run(call, x, index, out, shape, strides, index_strides, x.shape[dim], dense[dim]);
}

Error embedding(Call& call) {
  return take_along(call, *ET_UNWRAP(call.tensor(0)), *ET_UNWRAP(call.tensor(1)), 0);
}

Error index_select(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  return take_along(call, x, *ET_UNWRAP(call.tensor(2)), ET_UNWRAP(call.dim(1, x.shape.rank)));
}

/// With one index that is there.
Error index_tensor(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const auto found = ET_UNWRAP(call.present(1));
  if (found.size() != 1 || found[0].place >= x.shape.rank) {
    return call.refuse("expected one index");
  }
  return take_along(call, x, *found[0].tensor, found[0].place);
}

Error gather(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const size_t dim = ET_UNWRAP(call.dim(1, x.shape.rank));
  const Tensor& index = *ET_UNWRAP(call.tensor(2));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, index.shape));
  if (x.shape.rank != index.shape.rank || x.shape.rank == 0) {
    return call.mismatch("expected an index of as many dimensions as its input");
  }
  int32_t strides[kMaxRank] = {};
  int32_t index_strides[kMaxRank] = {};
  dense_strides(x.shape, strides);
  dense_strides(index.shape, index_strides);
  const int32_t stride = strides[dim];
  for (size_t i = 0; i < x.shape.rank; ++i) {
    if (i != dim && index.shape[i] > x.shape[i]) {
      return call.mismatch("an index that is larger than its input");
    }
  }
  strides[dim] = 0;
  return run(call, x, index, out, out.shape, strides, index_strides, x.shape[dim], stride);
}

constexpr Operator kRows[] = {
    {"aten.embedding.default", embedding},
    {"aten.index_select.default", index_select},
    {"aten.index.Tensor", index_tensor},
    {"aten.gather.default", gather},
};

}  // namespace

Operators index_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
