// SPDX-License-Identifier: BSD-3-Clause
// The loops of delta_rule.cpp.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

// One head: `steps` rows of query, key and decay (depth each), of value and out (width each), and
// of beta (one each); state [depth][width] is read and written.
struct DeltaRule {
  int64_t steps, depth, width;
  const float* query;
  const float* key;
  const float* decay;
  const float* value;
  const float* beta;
  float* state;
  float* out;
};

// Columns of the state that a call takes at a time.
int64_t delta_rule_columns();

// Columns [first, last) of the state and of all outputs; they do not depend on others.
void run_delta_rule(const DeltaRule& rule, int64_t first, int64_t last);

}  // namespace executorch::kernels::optimized
