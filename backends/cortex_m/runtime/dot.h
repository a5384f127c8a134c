// SPDX-License-Identifier: BSD-3-Clause
// Sums of products of int8: with Helium, with the DSP extension, or plain. The one place where
// kernels know the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#include <arm_mve.h>
#elif defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#endif

namespace executorch::backends::cortex_m {

// The sum of (x[i] + x_offset) * w[i].
inline int32_t dot(const int8_t* x, const int8_t* w, size_t count, int32_t x_offset) {
  int32_t sum = 0;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  int32_t of_weights = 0;
  for (int32_t left = static_cast<int32_t>(count); left > 0; left -= 16, x += 16, w += 16) {
    const mve_pred16_t lanes = vctp8q(static_cast<uint32_t>(left));
    const int8x16_t weights = vldrbq_z_s8(w, lanes);
    sum = vmladavaq_p_s8(sum, vldrbq_z_s8(x, lanes), weights, lanes);
    of_weights = vaddvaq_p_s8(of_weights, weights, lanes);
  }
  return sum + x_offset * of_weights;
#else
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)
  const uint32_t half = static_cast<uint16_t>(x_offset);
  const auto offsets = static_cast<int16x2_t>(half | half << 16);
  for (; count >= 4; count -= 4, x += 4, w += 4) {
    int8x4_t four_x, four_w;
    std::memcpy(&four_x, x, 4);
    std::memcpy(&four_w, w, 4);
    const auto next = [](int8x4_t bytes) {
      return static_cast<int8x4_t>(static_cast<uint32_t>(bytes) >> 8 | static_cast<uint32_t>(bytes)
                                                                           << 24);
    };
    sum = __smlad(__sxtab16(offsets, four_x), __sxtb16(four_w), sum);
    sum = __smlad(__sxtab16(offsets, next(four_x)), __sxtb16(next(four_w)), sum);
  }
#endif
  for (size_t i = 0; i < count; ++i) {
    sum += (x[i] + x_offset) * w[i];
  }
  return sum;
#endif
}

}  // namespace executorch::backends::cortex_m
