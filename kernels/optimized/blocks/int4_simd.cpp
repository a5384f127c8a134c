// SPDX-License-Identifier: BSD-3-Clause
// Weights of 4 bits for rows of int8.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/blocks/int4_simd.cpp"
#define EXECUTORCH_SIMD_DOT_PRODUCTS
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/blocks/blocks_simd-inl.h>
#include <executorch/kernels/optimized/simd_table.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {

const BlockKernels* int4_kernels_of_target() {
  return kernels_of_formats<kInt4Format, 1>();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(BlockKernels, int4_kernels)
#endif  // HWY_ONCE
