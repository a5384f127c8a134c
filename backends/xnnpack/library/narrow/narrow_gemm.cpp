// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, in place of its function that says which kernels GEMMs of few
// columns use: those have vectors of four.
#include <executorch/backends/xnnpack/kernels/gemm_functions.h>
#include <executorch/backends/xnnpack/library/narrow/narrow_gemm.h>

#include "xnnpack.h"
#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/math.h"
#include "xnnpack/microparams-init.h"
#include "xnnpack/pack.h"

#include <utility>

extern "C" {
/// XNNPACK's own under another name (tuning.cmake).
decltype(xnn_init_f32_gemm_nr2_config) xnn_init_f32_gemm_nr2_config_any;
}

namespace executorch::backends::xnnpack::narrow {

namespace {

// Instructions: to add up the sums of a row, and lanes of a vector along the columns.
constexpr size_t kTotals = 13, kLanes = 16;

thread_local bool is_wanted = true;

template <size_t... kLess>
void set_kernels(gemm_fused_ukernels& table, std::index_sequence<kLess...>) {
  ((table.gemm[kLess] = {{gemm_function<gemm_avx512>}}), ...);
  ((table.igemm[kLess] = {{igemm_function<igemm_avx512, kLess + 1>}}), ...);
}

xnn_gemm_config made() {
  xnn_gemm_config config{};
  // Convolutions ask at the height of the usual kernel's tiles, or one more, whether there is one.
  set_kernels(config.minmax, std::make_index_sequence<XNN_MAX_MR>());
  config.init.f32 = xnn_init_f32_minmax_scalar_params;
  config.pack_gemm_gio = reinterpret_cast<xnn_packw_gemm_gio_ukernel_fn>(xnn_pack_f32_gemm_gio_w);
  config.pack_gemm_goi = reinterpret_cast<xnn_packw_gemm_goi_ukernel_fn>(xnn_pack_f32_gemm_goi_w);
  config.mr = kRows;
  config.nr = kColumns;
  config.log2_kr = 4;
  static_assert(kDepth == size_t{1} << 4);
  return config;
}

}  // namespace

bool suits(size_t depth, size_t taps, size_t columns) {
  const size_t blocks = divide_round_up(depth, kDepth) * taps;
  return divide_round_up(columns, kColumns) * (blocks * kColumns + kTotals) <
         depth * taps * divide_round_up(columns, kLanes);
}

Size::Size(size_t depth, size_t taps, size_t columns) {
  is_wanted = suits(depth, taps, columns);
}

Size::~Size() {
  is_wanted = true;
}

}  // namespace executorch::backends::xnnpack::narrow

extern "C" const xnn_gemm_config* xnn_init_f32_gemm_nr2_config() {
  using namespace executorch::backends::xnnpack;
  if (!narrow::is_wanted || !xnn_init_hardware_config()->use_x86_avx512f) {
    return xnn_init_f32_gemm_nr2_config_any();
  }
  static const xnn_gemm_config config = narrow::made();
  return &config;
}
