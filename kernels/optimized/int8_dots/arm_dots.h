// SPDX-License-Identifier: BSD-3-Clause
// Which instructions a 64-bit Arm processor has that multiply bytes and add the products. On other
// processors the instruction set that Highway chooses says it (simd_targets.h); of Arm's, it knows
// none of these.
#pragma once

#include <cstdint>

namespace executorch::kernels::optimized {

enum class ArmDots : uint8_t {
  kNone,    // NEON: bytes are widened, multiplied and added (Cortex-A53, A57, A72)
  kDot,     // SDOT: 4 products to each of 4 sums (Cortex-A55, A76 and later, Apple A11)
  kMatrix,  // SMMLA, too: 8 products to each of 2 x 2 sums (Cortex-A510, X2, Apple A15)
};
constexpr ArmDots kAllArmDots[] = {ArmDots::kNone, ArmDots::kDot, ArmDots::kMatrix};

// What kernels use: the best that the processor has, and that the limit allows.
ArmDots arm_dots();

// For tests and benchmarks; not while kernels run.
void limit_arm_dots(ArmDots most);

}  // namespace executorch::kernels::optimized
