// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of convolutions whose groups have few channels: a vector holds several groups. One
// set per instruction set.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// A row of outputs, of the channels of one vector.
struct GroupRow {
  int64_t outputs;
  const float* input;  // what the first output reads of tap i is at offsets[i]
  const int64_t* offsets;
  int64_t taps;
  int64_t step;  // in the input, to what the next output reads
  // For each tap and channel j of a group a vector: by lane, the weight of channel j of its group.
  const float* weights;
  const float* bias;  // a vector, or null
  float* output;
  int64_t output_step;
  float min, max;
};

using RowOfGroups = void (*)(const GroupRow& row);
constexpr int kGroupSizes = 3;  // of 2, 4 and 8 channels

struct GroupKernels {
  int64_t lanes;
  // By the binary logarithm of a group's channels, from 2 on; null where a vector has fewer lanes.
  RowOfGroups row[kGroupSizes];
};

const GroupKernels& group_kernels();

}  // namespace executorch::kernels::optimized
