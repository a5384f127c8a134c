// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/backends/xnnpack/runtime/nodes/node_kind.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/matmul_result.h>
#include <executorch/kernels/optimized/int8/int8_values.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

namespace executorch::backends::xnnpack {

/// Sums of rows of int8 with a scale each by a filter, as floats in a layer's output.
template <typename Sum>
class DequantizedRows final : public kernels::optimized::MatmulResult<Sum> {
  using Int8Scale = kernels::optimized::Int8Scale;

 public:
  using typename kernels::optimized::MatmulResult<Sum>::Tile;

  /// Of the filter; `columns` has a sum for each of its channels, filled up in each group.
  struct Filter {
    const Sum* columns;
    int64_t columns_of_group;
    const std::vector<float>& scales;  // of channels
    const std::vector<float>& bias;    // or empty
    int64_t channels_of_group;
    Limits limits;
  };
  /// So many rows one behind the other have one scale.
  struct Rows {
    const Int8Scale* scales;
    int64_t of_scale;
    int64_t first;  // of the output
  };

  DequantizedRows(const Filter& filter, const Rows& rows, float* output,
                  const kernels::optimized::Epilogue* epilogue)
      : filter_(filter), rows_(rows), output_(output), epilogue_(epilogue) {}

  void finish(int64_t group, const Tile& tile) const override {
    const auto channels = static_cast<int64_t>(filter_.scales.size());
    const int64_t of_group = group * filter_.channels_of_group, channel = of_group + tile.col;
    const kernels::optimized::Dequantize<Sum> how = {
        filter_.columns + group * filter_.columns_of_group, filter_.scales.data() + of_group,
        filter_.bias.empty() ? nullptr : filter_.bias.data() + of_group, filter_.limits.min,
        filter_.limits.max};
    std::array<Int8Scale, kMaxRows> scales;
    for (int64_t first = 0; first < tile.rows; first += kMaxRows) {
      const int64_t row = tile.row + first, rows = std::min(kMaxRows, tile.rows - first);
      for (int64_t i = 0; i < rows; ++i) {
        scales[static_cast<size_t>(i)] = rows_.scales[(row + i) / rows_.of_scale];
      }
      dequantize()(how, scales.data(), tile.sums + first * tile.stride, tile.stride, rows, tile.col,
                   tile.cols, output_ + (rows_.first + row) * channels + channel, channels);
    }
    if (epilogue_ != nullptr) {
      const int64_t row = rows_.first + tile.row;
      epilogue_->finish({row, row + tile.rows, channel, channel + tile.cols});
    }
  }

 private:
  static constexpr int64_t kMaxRows = 64;

  static auto dequantize() {
    if constexpr (std::is_same_v<Sum, float>) {
      return kernels::optimized::int8_value_kernels().dequantize_floats;
    } else {
      return kernels::optimized::int8_value_kernels().dequantize;
    }
  }

  const Filter filter_;
  const Rows rows_;
  float* const output_;
  const kernels::optimized::Epilogue* const epilogue_;
};

}  // namespace executorch::backends::xnnpack
