// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, instead of its functions that say which kernels GEMMs of floats
// use: the usual ones, those for few columns, which have vectors of four, and those that round to
// bfloat16.
#include <executorch/backends/xnnpack/library/gemm/bfloat16_packing.h>
#include <executorch/backends/xnnpack/library/gemm/convolution_tables.h>
#include <executorch/backends/xnnpack/library/gemm/float_gemm.h>
#include <executorch/backends/xnnpack/library/gemm/precision.h>
#include <executorch/backends/xnnpack/library/table.h>

#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/math.h"
#include "xnnpack/microparams-init.h"
#include "xnnpack/pack.h"

#include <cpuinfo.h>

#include <utility>

extern "C" {
/// XNNPACK's own under other names (tuning.cmake).
decltype(xnn_init_f32_gemm_config) xnn_init_f32_gemm_config_any;
decltype(xnn_init_f32_gemm_nr2_config) xnn_init_f32_gemm_nr2_config_any;
}

namespace executorch::backends::xnnpack {

namespace {

bool has_avx512() {
  const xnn_hardware_config* const hardware = xnn_init_hardware_config();
  return hardware != nullptr && hardware->use_x86_avx512skx;
}

Gemm gemm_of(size_t columns, size_t depth, const void* w, void* c, size_t c_stride,
             size_t c_panel_stride, const void* range) {
  return {columns,  depth,          static_cast<const float*>(w),           static_cast<float*>(c),
          c_stride, c_panel_stride, *static_cast<const OutputRange*>(range)};
}

template <void (*kernel)(size_t, const MatrixRows&, const Gemm&)>
void multiply(size_t rows, size_t columns, size_t depth, const void* a, size_t a_stride,
              const void* w, void* c, size_t c_stride, size_t c_panel_stride, const void* range) {
  kernel(rows, {static_cast<const float*>(a), a_stride},
         gemm_of(columns, depth, w, c, c_stride, c_panel_stride, range));
}

/// `height`: pixels of a tap.
template <void (*kernel)(size_t, const IndirectRows&, const Gemm&), size_t height>
void convolve(size_t rows, size_t columns, size_t depth, size_t bytes_of_pointers,
              const void** pixels, const void* w, void* c, size_t c_stride, size_t c_panel_stride,
              size_t offset, const void* zeros, const void* range) {
  kernel(
      rows,
      {reinterpret_cast<const float* const*>(pixels), bytes_of_pointers / (height * sizeof(void*)),
       height, offset, static_cast<const float*>(zeros)},
      gemm_of(columns, depth, w, c, c_stride, c_panel_stride, range));
}

/// For tiles of `kFirst` rows or more.
template <size_t kFirst, auto* gemm, auto* igemm, size_t... kMore>
void set_kernels(gemm_fused_ukernels& table, std::index_sequence<kMore...>) {
  ((table.gemm[kFirst + kMore - 1] = {{multiply<gemm>}}), ...);
  ((table.igemm[kFirst + kMore - 1] = {{convolve<igemm, kFirst + kMore>}}), ...);
}

/// XNNPACK chooses the height of tiles that suits the rows there are. Its kernels for one stay.
void set_wide(xnn_gemm_config& table) {
  using namespace wide;
  const bool packs_alike = table.nr == kColumns && table.log2_kr + table.log2_sr == 0;
  if (has_avx512() && packs_alike) {
    set_kernels<2, gemm_avx512<MatrixRows>, gemm_avx512<IndirectRows>>(
        table.minmax, std::make_index_sequence<kRows - 1>());
    table.mr = kRows;
  }
}

#ifdef EXECUTORCH_XNNPACK_BFLOAT16

void pack_matrix(size_t groups, size_t filters, size_t channels, size_t panel, size_t, size_t,
                 const void* weights, const void* bias, const void*, void* packed,
                 size_t extra_bytes, const void*) {
  pack_bfloat16({static_cast<const float*>(weights), static_cast<const float*>(bias), groups,
                 filters, 1, channels, filters * channels, channels, 0, 1},
                panel, extra_bytes, packed);
}

/// Of weights that are [channels, filters]; `stride`: between channels.
void pack_transposed(size_t groups, size_t filters, size_t channels, size_t panel, size_t, size_t,
                     size_t stride, const void* weights, const void* bias, const void*,
                     void* packed, size_t extra_bytes, const void*) {
  pack_bfloat16({static_cast<const float*>(weights), static_cast<const float*>(bias), groups,
                 filters, 1, channels, channels * stride, 1, 0, stride},
                panel, extra_bytes, packed);
}

xnn_gemm_config bfloat16_table() {
  using namespace wide;
  xnn_gemm_config table{};
  set_kernels<1, gemm_bf16<MatrixRows>, gemm_bf16<IndirectRows>>(table.minmax,
                                                                 std::make_index_sequence<kRows>());
  table.init.f32 = xnn_init_f32_minmax_scalar_params;
  table.pack_gemm_goi = pack_matrix;
  table.pack_gemm_gio = pack_transposed;
  table.mr = kRows;
  table.nr = kColumns;
  table.log2_kr = 1;
  return table;
}

#endif

/// Convolutions ask at the height of the usual kernel's tiles, or one more, whether there is one.
xnn_gemm_config narrow_table() {
  using namespace narrow;
  xnn_gemm_config table{};
  set_kernels<1, gemm_avx512<MatrixRows>, gemm_avx512<IndirectRows>>(
      table.minmax, std::make_index_sequence<XNN_MAX_MR>());
  table.init.f32 = xnn_init_f32_minmax_scalar_params;
  table.pack_gemm_gio = reinterpret_cast<xnn_packw_gemm_gio_ukernel_fn>(xnn_pack_f32_gemm_gio_w);
  table.pack_gemm_goi = reinterpret_cast<xnn_packw_gemm_goi_ukernel_fn>(xnn_pack_f32_gemm_goi_w);
  table.mr = kRows;
  table.nr = kColumns;
  table.log2_kr = 4;
  static_assert(kDepth == size_t{1} << 4);
  return table;
}

}  // namespace

bool narrow::suits(size_t depth, size_t taps, size_t columns) {
  // Instructions: to add up the sums of a row, and lanes of a vector along the columns.
  constexpr size_t kTotals = 13, kLanes = 16;
  const size_t blocks = divide_round_up(depth, kDepth) * taps;
  return divide_round_up(columns, kColumns) * (blocks * kColumns + kTotals) <
         depth * taps * divide_round_up(columns, kLanes);
}

}  // namespace executorch::backends::xnnpack

using namespace executorch::backends::xnnpack;

extern "C" {

const xnn_gemm_config* xnn_init_f32_gemm_config() {
  return changed(xnn_init_f32_gemm_config_any(), [](xnn_gemm_config& table) { set_wide(table); });
}

#ifdef EXECUTORCH_XNNPACK_BFLOAT16
const xnn_gemm_config* xnn_f32_gemm_config_for(uint32_t flags) {
  if ((flags & EXECUTORCH_XNN_FLAG_BFLOAT16) == 0 || !has_avx512() ||
      !cpuinfo_has_x86_avx512bf16()) {
    return xnn_init_f32_gemm_config();
  }
  static const xnn_gemm_config ours = bfloat16_table();
  return &ours;
}
#endif

const xnn_gemm_config* xnn_init_f32_gemm_nr2_config() {
  if (!has_avx512()) {
    return xnn_init_f32_gemm_nr2_config_any();
  }
  static const xnn_gemm_config ours = narrow_table();
  return &ours;
}

const xnn_gemm_config* xnn_f32_gemm_nr2_config_for(size_t depth, size_t taps, size_t outputs) {
  return narrow::suits(depth, taps, outputs) ? xnn_init_f32_gemm_nr2_config()
                                             : xnn_init_f32_gemm_nr2_config_any();
}

}  // extern "C"
