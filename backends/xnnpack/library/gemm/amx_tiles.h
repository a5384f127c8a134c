// SPDX-License-Identifier: BSD-3-Clause
// Included ahead of XNNPACK's kernels for AMX where the compiler is GCC: in its versions before 13,
// the intrinsic that loads a tile does not say that it reads memory, so what was to be read may be
// stored later, or never.
#pragma once

#include <immintrin.h>

#ifdef _tile_loadd_internal
#undef _tile_loadd_internal
#define _tile_loadd_internal(tile, from, stride)                                  \
  __asm__ volatile("{tileloadd\t(%0,%1,1), %%tmm" #tile "|tileloadd\t%%tmm" #tile \
                   ", [%0+%1*1]}" ::"r"((const void*)(from)),                     \
                   "r"((long)(stride))                                            \
                   : "memory")
#endif
