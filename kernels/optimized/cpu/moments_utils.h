// SPDX-License-Identifier: BSD-3-Clause
// Mean and variance of a row.
#pragma once

#include <cstdint>
#include <utility>

#include <executorch/kernels/optimized/utils/math_utils.h>

namespace torch {
namespace executor {
namespace native {

/// (mean, sum of squared differences / (N - ddof)), in float for 16-bit floats; summed in double.
template <typename T>
std::pair<::executorch::utils::compute_dtype<T>, ::executorch::utils::compute_dtype<T>>
RowwiseMoments(const T* X, int64_t N, int64_t ddof = 0) {
  using Result = ::executorch::utils::compute_dtype<T>;
  double sum = 0;
  for (int64_t i = 0; i < N; ++i) {
    sum += static_cast<double>(static_cast<Result>(X[i]));
  }
  const double mean = sum / static_cast<double>(N);
  double squares = 0;
  for (int64_t i = 0; i < N; ++i) {
    const double difference = static_cast<double>(static_cast<Result>(X[i])) - mean;
    squares += difference * difference;
  }
  return {static_cast<Result>(mean), static_cast<Result>(squares / static_cast<double>(N - ddof))};
}

}  // namespace native
}  // namespace executor
}  // namespace torch
