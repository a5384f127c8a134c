// SPDX-License-Identifier: BSD-3-Clause
// For tests: goes through the kinds of dot products that this machine has.
#pragma once

#include <gtest/gtest.h>

#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/kernels/optimized/int8_dots/arm_dots.h>

namespace executorch::kernels::optimized {

// Runs `body` once for each kind that an instruction set has, then returns to the best. Not while
// other threads compute.
template <typename Body>
void on_every_dots(const Body& body) {
  const ArmDots best = arm_dots();
  on_every_target([&] {
    for (ArmDots dots : kAllArmDots) {
      if (dots <= best) {
        SCOPED_TRACE(::testing::Message() << "ArmDots " << static_cast<int>(dots));
        limit_arm_dots(dots);
        body();
      }
    }
    limit_arm_dots(ArmDots::kMatrix);
  });
}

}  // namespace executorch::kernels::optimized
