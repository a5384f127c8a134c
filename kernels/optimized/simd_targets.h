// SPDX-License-Identifier: BSD-3-Clause
// Which instruction sets the SIMD files are compiled for. Included before <hwy/foreach_target.h>.
// x86: the baseline, AVX2 and AVX-512; each further target costs compile time and gained nothing
// for f32 here. Files of dot products say so (EXECUTORCH_SIMD_DOT_PRODUCTS) and get those with
// their instructions: int8 (AVX3_DL) and bfloat16 (AVX3_ZEN4, AVX3_SPR). Without optimization all
// files have the same: Highway's look-up in a table of targets, which counts those of its file, is
// then no part of each file but one function of the program. Arm: NEON, because tiles are arrays
// of vectors and SVE vectors have no size at compile time; HWY_NEON adds instructions for AES only.
// Elsewhere Highway's own choice.
#pragma once

#if defined(EXECUTORCH_SIMD_DOT_PRODUCTS)
#define HWY_WANT_AVX3_DL 1
#endif
#include <hwy/detect_targets.h>

#if HWY_ARCH_X86
#undef HWY_DISABLED_TARGETS
#if !defined(__OPTIMIZE__) && !defined(_MSC_VER)
#define HWY_DISABLED_TARGETS (~(HWY_SSE2 | HWY_AVX2))
#elif defined(EXECUTORCH_SIMD_DOT_PRODUCTS)
#define HWY_DISABLED_TARGETS (~(HWY_SSE2 | HWY_AVX2 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR))
#else
#define HWY_DISABLED_TARGETS (~(HWY_SSE2 | HWY_AVX2 | HWY_AVX3))
#endif
#elif HWY_ARCH_ARM
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_ALL_SVE | HWY_NEON)
#endif
