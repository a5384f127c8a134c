// SPDX-License-Identifier: BSD-3-Clause
// What attention is masked by.
#pragma once

#include <cstdint>

#include <executorch/kernels/optimized/attention/attention_blocks.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::kernels::optimized {

// Bool (true: allowed), or added to scores (Float, Half, BFloat16). The part of matrix b * heads +
// h begins where it does when the mask is broadcast to `like`, or at 0 without that.
class AttentionMask final : public ScoreStep {
 public:
  const executorch::aten::Tensor* mask = nullptr;
  const executorch::aten::Tensor* like = nullptr;
  int64_t row_stride = 0, col_stride = 0;
  int64_t heads = 1, key_heads = 1;

  void apply(const Scores& scores) const override;

 private:
  int64_t offset_of(const Scores& scores, int64_t row) const;
  void apply_row(int64_t offset, int64_t keys, float* scores) const;
};

}  // namespace executorch::kernels::optimized
