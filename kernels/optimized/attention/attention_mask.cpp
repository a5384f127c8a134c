// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/kernels/optimized/attention/attention_mask.h>

#include <algorithm>
#include <limits>

#include <executorch/kernels/optimized/attention/attention_plan.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/portable/attention/attention.h>

namespace executorch::kernels::optimized {

using executorch::aten::ScalarType;

void AttentionMask::apply(const Scores& scores) const {
  for (int64_t i = 0; i < scores.rows.size(); ++i) {
    const int64_t offset = offset_of(scores, scores.rows.begin + i);
    apply_row(offset + scores.keys.begin * col_stride, scores.keys.size(),
              scores.data + i * scores.stride);
  }
}

int64_t AttentionMask::offset_of(const Scores& scores, int64_t row) const {
  const int64_t group = heads / key_heads;
  const int64_t matrix = scores.batch * heads + scores.key_head * group + row % group;
  const int64_t base = like != nullptr ? matrix_offset(*mask, *like, matrix) : 0;
  return base + row / group * row_stride;
}

void AttentionMask::apply_row(int64_t offset, int64_t keys, float* scores) const {
  if (mask->scalar_type() == ScalarType::Bool) {
    const bool* allowed = mask->const_data_ptr<bool>() + offset;
    for (int64_t j = 0; j < keys; ++j) {
      scores[j] = allowed[j * col_stride] ? scores[j] : -std::numeric_limits<float>::infinity();
    }
    return;
  }
  if (mask->scalar_type() == ScalarType::Float && col_stride == 1) {
    const float* row = mask->const_data_ptr<float>() + offset;
    for (int64_t j = 0; j < keys; ++j) {
      scores[j] += row[j];
    }
    return;
  }
  float row[kMaxKeys];
  const int64_t count = col_stride == 0 ? 1 : keys;
  if (mask->scalar_type() == ScalarType::Float) {
    std::copy_n(mask->const_data_ptr<float>() + offset, count, row);
  } else {
    widen(mask->scalar_type(), static_cast<const uint16_t*>(mask->const_data_ptr()) + offset, row,
          count);
  }
  for (int64_t j = 0; j < keys; ++j) {
    scores[j] += row[j * col_stride];
  }
}

}  // namespace executorch::kernels::optimized
