// SPDX-License-Identifier: BSD-3-Clause
// Which instruction sets the SIMD files are compiled for. Included before <hwy/foreach_target.h>.
// x86: the baseline, AVX2 and AVX-512; each further target costs compile time and gained nothing
// for f32 here. Arm: NEON, because tiles are arrays of vectors and SVE vectors have no size at
// compile time. Elsewhere Highway's own choice.
#pragma once

#include <hwy/detect_targets.h>

#if HWY_ARCH_X86
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (~(HWY_SSE2 | HWY_AVX2 | HWY_AVX3))
#elif HWY_ARCH_ARM
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_ALL_SVE)
#endif
