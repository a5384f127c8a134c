// SPDX-License-Identifier: BSD-3-Clause
// For tests: goes through the instruction sets of this machine.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace executorch::kernels::optimized {

// Runs `body` once per instruction set, then returns to the best. Loops that are not compiled for
// one run on the baseline's. Not while other threads compute.
template <typename Body>
void on_every_target(const Body& body) {
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace executorch::kernels::optimized
