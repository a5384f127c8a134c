# SPDX-License-Identifier: BSD-3-Clause
# What makes XNNPACK faster, or smaller in memory, with the same results (EXECUTORCH_XNNPACK_TUNING): functions of ours in
# place of its own. Included by third-party/xnnpack.cmake after corrections.cmake.
xnnpack_replaces(packing reference/packing.cc xnn_pack_qs8_qb4w_gemm_goi_w
  BY blocks/packing.cpp packing_pool.cpp)
xnnpack_includes(blocks/scales.h operators "${fetched}/xnnpack/src/operators/fully-connected-nc.c")
xnnpack_includes(blocks/scales.h subgraph "${fetched}/xnnpack/src/tensor.c")
xnnpack_replaces(operator-utils operator-utils.c xnn_get_pointer_to_write_weights BY packed_memory.cpp)
xnnpack_replaces(subgraph memory-planner.c xnn_plan_value_allocation_tracker BY memory_planner.cpp)
xnnpack_replaces(operators operators/fully-connected-nc.c xnn_reshape_fully_connected_nc_qd8_f32_qb4w
  xnn_reshape_fully_connected_nc_qd8_f32_qc4w xnn_reshape_fully_connected_nc_qd8_f32_qc8w BY gemm/column_pieces.cpp)
xnnpack_replaces(operators operators/reduce-nd.c xnn_reshape_reduce_nd BY row_sums.cpp)
xnnpack_replaces(operators operators/convolution-nhwc.c
  xnn_create_convolution2d_nhwc_qs8_qc8w
  xnn_reshape_convolution2d_nhwc_qs8 xnn_reshape_convolution2d_nhwc_qs8_qc8w
  BY convolution/filter_rows.cpp convolution/indirection_free.cpp convolution/depthwise_rows.cpp
  tile_order.cpp)
xnnpack_replaces(XNNPACK configs/dwconv-config.c xnn_init_qs8_qc8w_dwconv_config
  BY convolution/depthwise_taps.cpp)
set_property(SOURCE "${library}/runtime.c" TARGET_DIRECTORY subgraph APPEND PROPERTY
  COMPILE_DEFINITIONS EXECUTORCH_XNNPACK_TUNING)
xnnpack_sources(unary/byte_table.cpp fusion/fusion.cpp fusion/steps.cpp fusion/elementwise.cpp
  fusion/elementwise_group.cpp fusion/parallel_layers.cpp)
if(NOT is_x86)
  return()
endif()

xnnpack_sources(convolution/kernels_avx2.cpp convolution/kernels_avx512.cpp)
xnnpack_replaces(XNNPACK configs/unary-elementwise-config.c xnn_init_f32_exp_config
  BY unary/exponential.cpp unary/exponential_avx512.cpp)
xnnpack_replaces(XNNPACK configs/gemm-config.c xnn_init_qd8_f32_qb4w_gemm_config
  BY blocks/kernels.cpp blocks/rows_vnni.cpp)

include(CheckCCompilerFlag)
# XNNPACK's kernels for AMX, with any compiler that knows those instructions, and where they pay.
check_c_compiler_flag("-mamx-int8" ET_HAS_AMX)
if(NOT ET_HAS_AMX)
  return()
endif()
foreach(part XNNPACK operators)
  target_compile_definitions(${part} PRIVATE EXECUTORCH_XNNPACK_AMX)
endforeach()
xnnpack_includes(gemm/convolution_tables.h operators "${fetched}/xnnpack/src/operators/convolution-nhwc.c")
xnnpack_replaces(XNNPACK configs/gemm-config.c xnn_init_qs8_qc8w_gemm_config xnn_init_qd8_f32_qc8w_gemm_config
  BY gemm/int8_tables.cpp blocks/gemm_amx.cpp)
set_property(SOURCE "${fetched}/xnnpack/src/configs/hardware-config.c" TARGET_DIRECTORY hardware-config APPEND PROPERTY
  COMPILE_OPTIONS "-UXNN_ENABLE_AVX512AMX;-DXNN_ENABLE_AVX512AMX=1")
foreach(gemm qs8-qc8w-gemm qs8-qc8w-igemm qd8-f32-qc8w-gemm qd8-f32-qc8w-igemm)
  file(GLOB kernels "${fetched}/xnnpack/src/${gemm}/gen/*-1x64c4-*-avx512amx.c"
    "${fetched}/xnnpack/src/${gemm}/gen/*-16x64c4-*-avx512amx.c")
  target_sources(microkernels-prod PRIVATE ${kernels})
  xnnpack_includes(gemm/amx_tiles.h microkernels-prod ${kernels})
endforeach()
