# SPDX-License-Identifier: BSD-3-Clause
# What makes XNNPACK faster with the same results (EXECUTORCH_XNNPACK_TUNING): functions of ours for 4-bit weights with a
# scale per block, in place of its own. Included by third-party/xnnpack.cmake after corrections.cmake.
xnnpack_replaces(packing reference/packing.cc xnn_pack_qs8_qb4w_gemm_goi_w
  BY blocks/packing.cpp packing_pool.cpp)
xnnpack_includes(blocks/scales.h operators "${fetched}/xnnpack/src/operators/fully-connected-nc.c")
xnnpack_includes(blocks/scales.h subgraph "${fetched}/xnnpack/src/tensor.c")
xnnpack_replaces(operators operators/fully-connected-nc.c xnn_reshape_fully_connected_nc_qd8_f32_qb4w
  xnn_reshape_fully_connected_nc_qd8_f32_qc4w BY gemm/column_pieces.cpp)
set_property(SOURCE "${library}/runtime.c" TARGET_DIRECTORY subgraph APPEND PROPERTY
  COMPILE_DEFINITIONS EXECUTORCH_XNNPACK_TUNING)
xnnpack_sources(unary/byte_table.cpp)
if(NOT is_x86)
  return()
endif()

xnnpack_replaces(XNNPACK configs/gemm-config.c xnn_init_qd8_f32_qb4w_gemm_config
  BY blocks/kernels.cpp blocks/rows_vnni.cpp)
include(CheckCCompilerFlag)
# Kernels for AMX, with any compiler that knows those instructions.
check_c_compiler_flag("-mamx-int8" ET_HAS_AMX)
if(ET_HAS_AMX)
  target_compile_definitions(XNNPACK PRIVATE EXECUTORCH_XNNPACK_AMX)
  xnnpack_sources(blocks/gemm_amx.cpp)
  set_property(SOURCE "${fetched}/xnnpack/src/configs/hardware-config.c" TARGET_DIRECTORY hardware-config APPEND PROPERTY
    COMPILE_OPTIONS "-UXNN_ENABLE_AVX512AMX;-DXNN_ENABLE_AVX512AMX=1")
endif()
