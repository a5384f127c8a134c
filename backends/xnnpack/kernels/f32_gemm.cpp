// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK keeps the kernels that it chose for this processor in one table; ours go in there.
#include <executorch/backends/xnnpack/kernels/f32_gemm.h>

#include "xnnpack/config.h"
#include "xnnpack/gemm.h"

#include <utility>

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kTheirRows = 7;

void gemm(size_t rows, size_t columns, size_t depth, const void* a, size_t a_stride, const void* w,
          void* c, size_t c_stride, size_t c_panel_stride, const void* range) {
  f32_gemm_avx512(rows, columns, depth, static_cast<const float*>(a), a_stride,
                  static_cast<const float*>(w), static_cast<float*>(c), c_stride, c_panel_stride,
                  static_cast<const OutputRange*>(range));
}

template <size_t kHeight>
void igemm(size_t rows, size_t columns, size_t depth, size_t bytes_of_pointers, const void** pixels,
           const void* w, void* c, size_t c_stride, size_t c_panel_stride, size_t offset,
           const void* zeros, const void* range) {
  const PixelsOfRows a{reinterpret_cast<const float* const*>(pixels),
                       bytes_of_pointers / (kHeight * sizeof(void*)), kHeight, offset,
                       static_cast<const float*>(zeros)};
  f32_igemm_avx512(rows, columns, depth, a, static_cast<const float*>(w), static_cast<float*>(c),
                   c_stride, c_panel_stride, static_cast<const OutputRange*>(range));
}

/// For 2 rows or more: XNNPACK's kernels for a single row stay.
template <size_t... kMore>
void replace_all(xnn_gemm_config& table, std::index_sequence<kMore...>) {
  ((table.minmax.gemm[kMore + 1] = {{gemm}}), ...);
  ((table.minmax.igemm[kMore + 1] = {{igemm<kMore + 2>}}), ...);
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
  // XNNPACK chooses the height of tiles that suits the rows there are.
  replace_all(*table, std::make_index_sequence<kTileRows - 1>());
  table->mr = kTileRows;
}

}  // namespace executorch::backends::xnnpack
