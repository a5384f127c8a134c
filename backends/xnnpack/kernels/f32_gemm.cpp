// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK keeps the kernels that it chose for this processor in one table; ours go in there.
#include <executorch/backends/xnnpack/kernels/f32_gemm.h>
#include <executorch/backends/xnnpack/kernels/gemm_functions.h>

#include "xnnpack/config.h"
#include "xnnpack/gemm.h"

#include <utility>

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kTheirRows = 7;

/// For 2 rows or more: XNNPACK's kernels for a single row stay.
template <size_t... kMore>
void replace_all(xnn_gemm_config& table, std::index_sequence<kMore...>) {
  ((table.minmax.gemm[kMore + 1] = {{gemm_function<f32_gemm_avx512>}}), ...);
  ((table.minmax.igemm[kMore + 1] = {{igemm_function<f32_igemm_avx512, kMore + 2>}}), ...);
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
