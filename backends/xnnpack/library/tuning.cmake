# SPDX-License-Identifier: BSD-3-Clause
# What makes XNNPACK faster, or smaller in memory, with the same results (EXECUTORCH_XNNPACK_TUNING): functions of ours in
# place of its own. Included by third-party/xnnpack.cmake after corrections.cmake.
target_sources(XNNPACK PRIVATE
  "${library}/filter_packing.cpp" "${library}/blocks/packing.cpp"
  "${library}/unary/byte_table.cpp" "${library}/packed_memory.cpp" "${library}/memory_planner.cpp"
  "${library}/convolution/filter_rows.cpp" "${library}/convolution/pixels.cpp" "${library}/convolution/depthwise_rows.cpp"
  "${library}/convolution/depthwise_taps.cpp" "${library}/convolution/own_operator.cpp" "${library}/convolution/grouped.cpp"
  "${library}/tile_order.cpp" "${library}/panel_gemm.cpp" "${library}/row_sums.cpp" "${library}/fusion/fusion.cpp"
  "${library}/fusion/steps.cpp" "${library}/fusion/ring_buffer.cpp" "${library}/fusion/elementwise.cpp"
  "${library}/fusion/elementwise_group.cpp")
set_property(SOURCE "${library}/runtime.c" TARGET_DIRECTORY subgraph APPEND PROPERTY
  COMPILE_DEFINITIONS EXECUTORCH_XNNPACK_TUNING)
xnnpack_replaces(packing reference/packing.cc xnn_pack_f32_conv_goki_w xnn_pack_qs8_qb4w_gemm_goi_w)
xnnpack_replaces(XNNPACK configs/dwconv-config.c xnn_init_f32_dwconv_config xnn_init_qs8_qc8w_dwconv_config)
xnnpack_replaces(operator-utils operator-utils.c xnn_get_pointer_to_write_weights)
xnnpack_replaces(subgraph memory-planner.c xnn_plan_value_allocation_tracker)
foreach(type f32 f16 qs8 qs8_qc8w)
  xnnpack_replaces(operators operators/convolution-nhwc.c xnn_reshape_convolution2d_nhwc_${type})
endforeach()
xnnpack_replaces(operators operators/convolution-nhwc.c
  xnn_create_convolution2d_nhwc_f32 xnn_create_convolution2d_nhwc_qs8_qc8w xnn_setup_convolution2d_nhwc_f32)
xnnpack_replaces(operators operators/fully-connected-nc.c xnn_reshape_fully_connected_nc_f32)
xnnpack_replaces(operators operators/dynamic-fully-connected-nc.c xnn_reshape_dynamic_fully_connected_nc_f32)
xnnpack_replaces(operators operators/reduce-nd.c xnn_reshape_reduce_nd)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  target_sources(XNNPACK PRIVATE "${library}/winograd/winograd.cpp" "${library}/winograd/winograd_avx512.cpp"
    "${library}/convolution/depthwise_taps_avx2.cpp" "${library}/convolution/depthwise_taps_avx512.cpp"
    "${library}/convolution/grouped_avx2.cpp" "${library}/convolution/grouped_avx512.cpp"
    "${library}/narrow/narrow_gemm.cpp" "${library}/narrow/narrow_gemm_avx512.cpp"
    "${library}/unary/exponential.cpp" "${library}/unary/exponential_avx512.cpp")
  set_source_files_properties("${library}/convolution/depthwise_taps_avx2.cpp" "${library}/convolution/grouped_avx2.cpp"
    TARGET_DIRECTORY XNNPACK PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties("${library}/convolution/depthwise_taps_avx512.cpp" "${library}/convolution/grouped_avx512.cpp" TARGET_DIRECTORY XNNPACK PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mprefer-vector-width=512")
  set_source_files_properties("${library}/winograd/winograd_avx512.cpp" "${library}/narrow/narrow_gemm_avx512.cpp"
    "${library}/unary/exponential_avx512.cpp" TARGET_DIRECTORY XNNPACK PROPERTIES COMPILE_OPTIONS "-mavx512f;-Wno-maybe-uninitialized;-Wno-uninitialized")  # of g++ 12's own header
  xnnpack_replaces(XNNPACK configs/gemm-config.c xnn_init_f32_gemm_nr2_config)
  xnnpack_replaces(XNNPACK configs/unary-elementwise-config.c xnn_init_f32_exp_config)
endif()
# One row by 4-bit weights, and the table that it stands in.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT MSVC)
  target_sources(XNNPACK PRIVATE "${library}/blocks/kernels.cpp" "${library}/blocks/rows_vnni.cpp")
  set_source_files_properties("${library}/blocks/rows_vnni.cpp" TARGET_DIRECTORY XNNPACK PROPERTIES COMPILE_OPTIONS
    "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mgfni;-mprefer-vector-width=512;-ffp-contract=off;-Wno-maybe-uninitialized;-Wno-uninitialized")
  xnnpack_replaces(XNNPACK configs/gemm-config.c xnn_init_qd8_f32_qb4w_gemm_config)
endif()
# Its kernels for AMX, with any compiler that knows those instructions, and where they pay (amx.h).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT MSVC)
  include(CheckCCompilerFlag)
  check_c_compiler_flag("-mamx-int8" ET_HAS_AMX)
endif()
if(ET_HAS_AMX)
  target_sources(XNNPACK PRIVATE "${library}/amx.cpp" "${library}/blocks/gemm_amx.cpp")
  set_source_files_properties("${library}/blocks/gemm_amx.cpp" TARGET_DIRECTORY XNNPACK PROPERTIES COMPILE_OPTIONS
    "-mamx-tile;-mamx-int8;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mprefer-vector-width=512;-ffp-contract=off;-Wno-maybe-uninitialized;-Wno-uninitialized")
  set_property(SOURCE "${library}/blocks/kernels.cpp" TARGET_DIRECTORY XNNPACK APPEND PROPERTY
    COMPILE_DEFINITIONS EXECUTORCH_XNNPACK_AMX)
  xnnpack_replaces(XNNPACK configs/gemm-config.c xnn_init_qs8_qc8w_gemm_config xnn_init_qd8_f32_qc8w_gemm_config)
  set_property(SOURCE "${fetched}/xnnpack/src/configs/hardware-config.c" TARGET_DIRECTORY hardware-config APPEND PROPERTY
    COMPILE_OPTIONS "-UXNN_ENABLE_AVX512AMX;-DXNN_ENABLE_AVX512AMX=1")
  foreach(gemm qs8-qc8w-gemm qs8-qc8w-igemm qd8-f32-qc8w-gemm qd8-f32-qc8w-igemm)
    file(GLOB kernels "${fetched}/xnnpack/src/${gemm}/gen/*-1x64c4-*-avx512amx.c"
      "${fetched}/xnnpack/src/${gemm}/gen/*-16x64c4-*-avx512amx.c")
    target_sources(microkernels-prod PRIVATE ${kernels})
    set_property(SOURCE ${kernels} TARGET_DIRECTORY microkernels-prod APPEND PROPERTY
      COMPILE_OPTIONS "-include;${library}/amx_tiles.h")
  endforeach()
else()
  target_sources(XNNPACK PRIVATE "${library}/amx_none.cpp")
endif()
