// SPDX-License-Identifier: BSD-3-Clause
// What `slice` and `select` arguments mean, shared by the operators that read a slice and those
// that write one.
#pragma once

#include <cinttypes>
#include <optional>

#include <executorch/kernels/portable/loops/checks.h>

namespace executorch {
namespace kernels {

struct SliceRange {
  int dim;
  int64_t start;
  int64_t size;  // number of elements taken
};

// Clamps `start` and `end` to the dimension as Python slices do; `step` must be positive.
inline bool slice_range(const OpCall& call, const Tensor& self, int64_t dim,
                        std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                        SliceRange& range) {
  ET_KERNEL_CHECK_MSG(
      call.ctx, self.dim() > 0 && step > 0, InvalidArgument, false,
      "%s: expected at least 1 dim for self and step > 0, found %d dims and step %" PRId64, call.op,
      static_cast<int>(self.dim()), static_cast<int64_t>(step));
  if (!normalize_dim(call, "dim", self.dim(), dim)) {
    return false;
  }
  const int64_t size = self.sizes()[dim];
  const auto clamp = [size](int64_t position) {
    position = position < 0 ? position + size : position;
    return position < 0 ? 0 : position > size ? size : position;
  };
  range.dim = static_cast<int>(dim);
  range.start = clamp(start.value_or(0));
  const int64_t stop = clamp(end.value_or(size));
  const int64_t length = stop > range.start ? stop - range.start : 0;
  range.size = length == 0 ? 0 : (length - 1) / step + 1;
  return true;
}

// Makes `dim` and `index` non-negative and checks them.
inline bool select_index(const OpCall& call, const Tensor& self, int64_t& dim, int64_t& index) {
  ET_KERNEL_CHECK_MSG(call.ctx, self.dim() > 0, InvalidArgument, false,
                      "%s: expected self with a dimension, found a 0-dim tensor", call.op);
  if (!normalize_dim(call, "dim", self.dim(), dim)) {
    return false;
  }
  const int64_t size = self.sizes()[dim];
  ET_KERNEL_CHECK_MSG(call.ctx, index >= -size && index < size, InvalidArgument, false,
                      "%s: expected index in [%" PRId64 ", %" PRId64 "], found %" PRId64, call.op,
                      static_cast<int64_t>(-size), static_cast<int64_t>(size - 1), index);
  index = index < 0 ? index + size : index;
  return true;
}

}  // namespace kernels
}  // namespace executorch
