// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, instead of its functions that say which kernels 8-bit GEMMs use:
// those on AMX tiles, where processor and system have them, of 16 rows and 64 columns. XNNPACK
// takes them for all GEMMs or for none. But a narrow convolution leaves much of 64 columns empty,
// and short sums take less time than what follows.
#include <executorch/backends/xnnpack/library/gemm/convolution_tables.h>
#include <executorch/backends/xnnpack/library/table.h>

#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/igemm.h"
#include "xnnpack/pack.h"
#include "xnnpack/packw.h"

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kRows = 16;     // of a tile
constexpr size_t kColumns = 64;  // of a panel, four tiles
constexpr size_t kDepth = 64;    // bytes in a row of a tile

template <typename Kernel, typename Function>
void set(Kernel& kernel, Function* function) {
  kernel = reinterpret_cast<Kernel>(function);
}

/// A convolution's kernel for 16 rows, which goes wrong when it is given one: of more than 64
/// channels it reads the first 64 over and over. It is given two, which both go where the one goes,
/// the first one last; pixels of rows that there are not are those of the last row.
template <typename Kernel, Kernel* kernel>
struct RowTwice;

template <typename Output, typename... Rest,
          void (*kernel)(size_t, size_t, size_t, size_t, const int8_t**, const void*, Output*,
                         size_t, Rest...)>
struct RowTwice<void(size_t, size_t, size_t, size_t, const int8_t**, const void*, Output*, size_t,
                     Rest...),
                kernel> {
  static void compute(size_t rows, size_t columns, size_t depth, size_t bytes_of_pointers,
                      const int8_t** pixels, const void* weights, Output* output,
                      size_t output_stride, Rest... rest) {
    kernel(rows == 1 ? 2 : rows, columns, depth, bytes_of_pointers, pixels, weights, output,
           rows == 1 ? 0 : output_stride, rest...);
  }
};

/// Makes a table one for tiles; gives the place of its kernels, of which it has none yet.
gemm_fused_ukernels& take_tiles(xnn_gemm_config& table) {
  table.minmax = {};
  table.pack_weights_and_biases = nullptr;
  table.packed_stride_weights_and_biases = nullptr;
  set(table.pack_gemm_gio, xnn_pack_qs8_gemm_gio_w);
  set(table.pack_gemm_goi, xnn_qs8_packw_gemm_goi_ukernel_x64c4__scalar);
  set(table.pack_igemm_goki, xnn_pack_qs8_conv_goki_w);
  set(table.pack_igemm_kgo, xnn_pack_qs8_conv_kgo_w);
  set(table.pack_deconv_goki, xnn_pack_qs8_deconv_goki_w);
  table.mr = kRows;
  table.nr = kColumns;
  table.log2_kr = 2;
  return table.minmax;
}

}  // namespace

}  // namespace executorch::backends::xnnpack

using namespace executorch::backends::xnnpack;

// XNNPACK's own under other names (tuning.cmake). Kernels whose rows have parameters
// of their own have the same places.
#define TAKE_TILES(type, minmax)                                                             \
  decltype(xnn_init_##type##_gemm_config) xnn_init_##type##_gemm_config_any;                 \
  const xnn_gemm_config* xnn_init_##type##_gemm_config() {                                   \
    return changed(xnn_init_##type##_gemm_config_any(), [](xnn_gemm_config& table) {         \
      if (!xnn_init_hardware_config()->use_x86_avx512amx) {                                  \
        return;                                                                              \
      }                                                                                      \
      gemm_fused_ukernels& of = take_tiles(table);                                           \
      set(of.gemm[0].function[0], xnn_##type##_gemm_##minmax##_ukernel_1x64c4__avx512amx);   \
      set(of.gemm[kRows - 1].function[0],                                                    \
          xnn_##type##_gemm_##minmax##_ukernel_16x64c4__avx512amx);                          \
      set(of.igemm[0].function[0], xnn_##type##_igemm_##minmax##_ukernel_1x64c4__avx512amx); \
      set(of.igemm[kRows - 1].function[0],                                                   \
          RowTwice<decltype(xnn_##type##_igemm_##minmax##_ukernel_16x64c4__avx512amx),       \
                   xnn_##type##_igemm_##minmax##_ukernel_16x64c4__avx512amx>::compute);      \
    });                                                                                      \
  }

extern "C" {
TAKE_TILES(qs8_qc8w, minmax_fp32)
TAKE_TILES(qd8_f32_qc8w, minmax)

const xnn_gemm_config* xnn_qs8_qc8w_gemm_config_for(size_t depth, size_t outputs) {
  return depth >= kDepth && outputs >= kColumns ? xnn_init_qs8_qc8w_gemm_config()
                                                : xnn_init_qs8_qc8w_gemm_config_any();
}
}
