// SPDX-License-Identifier: BSD-3-Clause
// How rows of int8 with a scale each lie in memory between steps of ours. XNNPACK has an order of
// its own, so none of its segments reads or writes them.
#pragma once

#include <executorch/backends/xnnpack/runtime/values.h>
#include <executorch/kernels/optimized/int8/int8_values.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>

namespace executorch::backends::xnnpack {

class RowsOfInt8 final {
 public:
  RowsOfInt8() = default;
  /// A row is of the last dimensions, as many as the value says.
  RowsOfInt8(const Value& value, const Shape& shape)
      : columns_(std::accumulate(shape.dims + shape.rank - value.num_nonbatch_dims,
                                 shape.dims + shape.rank, int64_t{1}, std::multiplies<>())),
        rows_(static_cast<int64_t>(shape.num_elements()) / columns_) {}

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  size_t num_bytes() const { return scale_bytes() + static_cast<size_t>(rows_ * columns_); }

  kernels::optimized::Int8Scale* scales(void* data) const {
    return static_cast<kernels::optimized::Int8Scale*>(data);
  }
  int8_t* values(void* data) const { return static_cast<int8_t*>(data) + scale_bytes(); }

 private:
  size_t scale_bytes() const {
    constexpr size_t kLine = 64;
    const size_t bytes = static_cast<size_t>(rows_) * sizeof(kernels::optimized::Int8Scale);
    return (bytes + kLine - 1) / kLine * kLine;
  }

  int64_t columns_ = 1;
  int64_t rows_ = 0;
};

}  // namespace executorch::backends::xnnpack
