// SPDX-License-Identifier: BSD-3-Clause
// Gradients of layer norm and group norm for dense f32 rows, SIMD and threads.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// `rows` rows of `channels` runs of `run` elements. Elements of a run share a weight; rows take
// turns in `groups` groups with weights of their own (layer norm: run 1, one group).
struct NormGradient {
  int64_t rows, groups, channels, run;
  const float* grad;
  const float* input;
  const float* mean;    // one a row
  const float* rstd;    // one a row
  const float* weight;  // groups * channels, or nullptr
  float* grad_input;    // each of the three may be nullptr: it is not wanted
  float* grad_weight;   // groups * channels
  float* grad_bias;     // groups * channels
};

// Scratch memory for the weights' gradients comes from ctx; MemoryAllocationFailed when it cannot,
// with nothing written.
[[nodiscard]] runtime::Error norm_gradient(runtime::KernelRuntimeContext& ctx,
                                           const NormGradient& p);

}  // namespace executorch::kernels::optimized
