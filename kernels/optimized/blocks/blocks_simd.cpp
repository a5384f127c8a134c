// SPDX-License-Identifier: BSD-3-Clause
// GGUF's formats. That of int4 is apart: who has delegates alone links it without these.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/blocks/blocks_simd.cpp"
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

const BlockKernels* block_kernels_of_target() {
  return kernels_of_formats<0, kInt4Format>();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(BlockKernels, block_kernels)

namespace executorch::kernels::optimized {

void multiply_blocks(const BlockMatmul* products, int64_t count, const float* x, int64_t rows,
                     bool fine, uint8_t* scratch) {
  multiply_blocks_by(block_kernels(), products, count, x, rows, fine, scratch);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
