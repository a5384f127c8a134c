// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of convolutions to so few channels that a vector of outputs would be nearly empty:
// vectors lie along what is read.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int64_t kMaxFewChannels = 8;

// A row of outputs: output i of channel j is bias[j] + the sum over pieces p of the dot product of
// `length` values at input + i * step + offsets[p] and at weights + j * weight_step + p *
// piece_step.
struct FewRow {
  int64_t outputs, channels;
  const float* input;
  int64_t step;
  const int64_t* offsets;
  int64_t pieces, length;
  const float* weights;
  int64_t weight_step, piece_step;
  const float* bias;  // or null
  float* output;
  int64_t output_step;
  float min, max;  // NaN stays NaN
};
void few_row(const FewRow& row);

// Whether that takes less than vectors of outputs.
bool are_few_channels(int64_t channels, int64_t pieces, int64_t length);

}  // namespace executorch::kernels::optimized
