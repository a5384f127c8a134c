// SPDX-License-Identifier: BSD-3-Clause
// The tile file of the processor. Instructions are written as assembly: no compiler flag, and the
// memory they touch is declared. Only where has_amx() is true.
#pragma once

#include <executorch/kernels/optimized/gemm/gemm_amx.h>

namespace executorch::kernels::optimized {

#if defined(__x86_64__) && defined(__linux__)
#define ET_HAS_TILE_INSTRUCTIONS 1

struct ProcessorTiles {
  static void configure(const AmxConfig& config) { asm volatile("ldtilecfg %0" ::"m"(config)); }

  static void release() { asm volatile("tilerelease" ::: "memory"); }

  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }

  template <int kTile>
  static void load(const void* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(kTile) : "memory");
  }

  template <int kTile>
  static void store(void* to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(kTile) : "memory");
  }

  template <int kSum, int kLeft, int kRight>
  static void dot_bfloat16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kLeft), "i"(kRight));
  }

  template <int kSum, int kLeft, int kRight>
  static void dot_int8() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kLeft), "i"(kRight));
  }
};

#endif

}  // namespace executorch::kernels::optimized
