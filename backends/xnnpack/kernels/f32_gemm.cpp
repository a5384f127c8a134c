// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK keeps the kernels that it chose for this processor in one table; ours goes in there.
#include <executorch/backends/xnnpack/kernels/f32_gemm.h>

#include "xnnpack/config.h"
#include "xnnpack/gemm.h"

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kTheirRows = 7;

void gemm(size_t rows, size_t columns, size_t depth, const void* a, size_t a_stride, const void* w,
          void* c, size_t c_stride, size_t c_panel_stride, const void* range) {
  f32_gemm_avx512(rows, columns, depth, static_cast<const float*>(a), a_stride,
                  static_cast<const float*>(w), static_cast<float*>(c), c_stride, c_panel_stride,
                  static_cast<const OutputRange*>(range));
}

}  // namespace

void replace_f32_gemm() {
  // The table is not constant where it is defined, and filled once.
  auto* const table = const_cast<xnn_gemm_config*>(xnn_init_f32_gemm_config());
  const auto theirs =
      reinterpret_cast<xnn_gemm_ukernel_fn>(xnn_f32_gemm_minmax_ukernel_7x32__avx512f_broadcast);
  if (table == nullptr || table->mr != kTheirRows || table->nr != kPanel ||
      table->minmax.gemm[kTheirRows - 1].function[0] != theirs) {
    return;
  }
  // XNNPACK chooses the height of tiles that suits the rows there are. Its kernel for a single row
  // stays, and so do those of convolutions with larger filters.
  for (size_t rows = 2; rows <= kTileRows; ++rows) {
    table->minmax.gemm[rows - 1] = {{gemm}};
  }
  table->mr = kTileRows;
}

}  // namespace executorch::backends::xnnpack
