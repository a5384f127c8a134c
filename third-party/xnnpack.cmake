# SPDX-License-Identifier: BSD-3-Clause
# Target XNNPACK: compiled from the fetched sources on the pthreadpool and cpuinfo above, or a copy that is installed.
if(EXECUTORCH_XNNPACK_ROOT)
  find_path(XNNPACK_INCLUDE_DIR xnnpack.h HINTS "${EXECUTORCH_XNNPACK_ROOT}/include" REQUIRED NO_DEFAULT_PATH)
  find_library(XNNPACK_LIBRARY XNNPACK HINTS "${EXECUTORCH_XNNPACK_ROOT}/lib" REQUIRED NO_DEFAULT_PATH)
  find_library(XNNPACK_MICROKERNELS_LIBRARY NAMES microkernels-prod xnnpack-microkernels-prod
    HINTS "${EXECUTORCH_XNNPACK_ROOT}/lib" NO_DEFAULT_PATH)
  set(archives "${XNNPACK_LIBRARY}")
  if(XNNPACK_MICROKERNELS_LIBRARY)
    list(APPEND archives "${XNNPACK_MICROKERNELS_LIBRARY}")
  endif()
  add_library(XNNPACK INTERFACE)
  target_include_directories(XNNPACK SYSTEM INTERFACE $<BUILD_INTERFACE:${XNNPACK_INCLUDE_DIR}>)
  target_link_libraries(XNNPACK INTERFACE ${archives} pthreadpool cpuinfo m)
  install(TARGETS XNNPACK EXPORT ExecuTorchTargets)
  return()
endif()

# Single-precision and 8-bit kernels for the instruction sets that CPUs are sold with; not half precision on AVX-512,
# nor the 256-bit variants of what AVX-512 has, which would double the time it takes to compile. For AMX see below.
foreach(instructions AVX512AMX AVX256SKX AVX256VNNI AVX256VNNIGFNI AVX512FP16 AVXVNNIINT8 ARM_SME ARM_SME2)
  set(XNNPACK_ENABLE_${instructions} OFF CACHE BOOL "")
endforeach()
foreach(part BUILD_TESTS BUILD_BENCHMARKS BUILD_ALL_MICROKERNELS ENABLE_KLEIDIAI)
  set(XNNPACK_${part} OFF CACHE BOOL "")
endforeach()
foreach(part TESTS BENCHMARKS)
  set(FXDIV_BUILD_${part} OFF CACHE BOOL "")
  set(FP16_BUILD_${part} OFF CACHE BOOL "")
endforeach()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv")
  include(CheckIncludeFile)
  check_include_file(riscv_vector.h ET_HAS_RISCV_VECTOR -march=rv64gcv)  # not there before GCC 13
  set(XNNPACK_ENABLE_RISCV_VECTOR "${ET_HAS_RISCV_VECTOR}" CACHE BOOL "")
endif()
set(XNNPACK_LIBRARY_TYPE static CACHE STRING "")
set(CPUINFO_SOURCE_DIR "${fetched}/cpuinfo")
set(PTHREADPOOL_SOURCE_DIR "${fetched}/pthreadpool")
set(FXDIV_SOURCE_DIR "${fetched}/fxdiv")
set(FP16_SOURCE_DIR "${fetched}/fp16")
set(Python_EXECUTABLE "${PYTHON_EXECUTABLE}")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)
add_subdirectory("${fetched}/xnnpack" xnnpack EXCLUDE_FROM_ALL)
if(NOT EXECUTORCH_XNNPACK_LOG_LEVEL STREQUAL "")
  set_target_properties(logging PROPERTIES COMPILE_DEFINITIONS "XNN_LOG_LEVEL=${EXECUTORCH_XNNPACK_LOG_LEVEL}"
    INTERFACE_COMPILE_DEFINITIONS "XNN_LOG_LEVEL=${EXECUTORCH_XNNPACK_LOG_LEVEL}")
endif()

# xnnpack_replaces(part source function...): functions of a source of a part are ours, and its own are called <function>_any.
function(xnnpack_replaces part source)
  list(TRANSFORM ARGN REPLACE "(.+)" "\\1=\\1_any" OUTPUT_VARIABLE renamed)
  set_property(SOURCE "${fetched}/xnnpack/src/${source}" TARGET_DIRECTORY ${part} APPEND PROPERTY
    COMPILE_DEFINITIONS "${renamed}")
endfunction()

set(library "${EXECUTORCH_ROOT}/backends/xnnpack/library")
target_include_directories(XNNPACK PRIVATE "${EXECUTORCH_ROOT}/src")
set_target_properties(XNNPACK PROPERTIES CXX_STANDARD 17)  # no source in C++ is its own
target_sources(XNNPACK PRIVATE
  "${library}/f32_packing.cpp" "${library}/packed_memory.cpp" "${library}/memory_planner.cpp"
  "${library}/convolution/lines.cpp" "${library}/convolution/pixels.cpp" "${library}/convolution/depthwise_rows.cpp"
  "${library}/convolution/depthwise_taps.cpp"
  "${library}/tile_order.cpp" "${library}/panel_products.cpp"
  "${library}/product_lines.cpp")
xnnpack_replaces(packing reference/packing.cc xnn_pack_f32_conv_goki_w xnn_pack_f32_gemm_gio_w)
xnnpack_replaces(XNNPACK configs/dwconv-config.c xnn_init_f32_dwconv_config xnn_init_qs8_qc8w_dwconv_config)
xnnpack_replaces(operator-utils operator-utils.c xnn_get_pointer_to_write_weights)
xnnpack_replaces(subgraph memory-planner.c xnn_plan_value_allocation_tracker)
foreach(type f32 f16 qs8 qs8_qc8w qu8)
  xnnpack_replaces(operators operators/convolution-nhwc.c xnn_reshape_convolution2d_nhwc_${type})
endforeach()
xnnpack_replaces(operators operators/convolution-nhwc.c
  xnn_create_convolution2d_nhwc_f32 xnn_create_convolution2d_nhwc_qs8_qc8w)
xnnpack_replaces(operators operators/fully-connected-nc.c xnn_reshape_fully_connected_nc_f32)
xnnpack_replaces(operators operators/dynamic-fully-connected-nc.c xnn_reshape_dynamic_fully_connected_nc_f32)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  target_sources(XNNPACK PRIVATE "${library}/winograd/winograd.cpp" "${library}/winograd/winograd_avx512.cpp"
    "${library}/roots.cpp" "${library}/max_pool/max_pool.cpp" "${library}/max_pool/max_pool_avx.cpp"
    "${library}/max_pool/max_pool_avx512.cpp"
    "${library}/convolution/depthwise_taps_avx2.cpp" "${library}/convolution/depthwise_taps_avx512.cpp")
  xnnpack_replaces(XNNPACK configs/unary-elementwise-config.c xnn_init_f32_sqrt_config xnn_init_f32_rsqrt_config)
  xnnpack_replaces(XNNPACK configs/maxpool-config.c xnn_init_f32_maxpool_config)
  set_source_files_properties("${library}/max_pool/max_pool_avx.cpp" TARGET_DIRECTORY XNNPACK PROPERTIES
    COMPILE_OPTIONS "$<IF:$<BOOL:${MSVC}>,/arch:AVX,-mavx>")
  set_source_files_properties("${library}/convolution/depthwise_taps_avx2.cpp" TARGET_DIRECTORY XNNPACK PROPERTIES
    COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties("${library}/convolution/depthwise_taps_avx512.cpp" TARGET_DIRECTORY XNNPACK PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mprefer-vector-width=512")
  if(NOT MSVC)
    set_property(SOURCE "${library}/roots.cpp" TARGET_DIRECTORY XNNPACK APPEND PROPERTY COMPILE_OPTIONS "-fno-math-errno")
  endif()
  set_source_files_properties("${library}/winograd/winograd_avx512.cpp" "${library}/max_pool/max_pool_avx512.cpp" TARGET_DIRECTORY XNNPACK PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-Wno-maybe-uninitialized;-Wno-uninitialized")  # of g++ 12's own header
  xnnpack_replaces(operators operators/convolution-nhwc.c xnn_setup_convolution2d_nhwc_f32)
endif()
# xnnpack_keeps_nan(how expression...): kernels whose paths match keep NaN, as nan_order.h says.
file(GLOB kernels "${fetched}/xnnpack/src/*/*.c" "${fetched}/xnnpack/src/*/gen/*.c")
function(xnnpack_keeps_nan how)
  foreach(expression IN LISTS ARGN)
    set(found ${kernels})
    list(FILTER found INCLUDE REGEX "/src/${expression}")
    set_property(SOURCE ${found} TARGET_DIRECTORY microkernels-prod APPEND PROPERTY COMPILE_OPTIONS
      "$<IF:$<BOOL:${MSVC}>,/FI,-include>${library}/nan_order.h" "-D${how}")
  endforeach()
endfunction()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  xnnpack_keeps_nan(ET_BOUNDS_SECOND
    "f32-(avgpool|pavgpool|dwconv2d-chw|conv-hwc2chw|spmm|vmulcaddc)/" "f32-(i?gemm|dwconv|qc[48]w-gemm|vclamp)/.*-sse"
    "f16-(avgpool|pavgpool|dwconv|vclamp|vmulcaddc)/" "f16-f32acc-i?gemm/" "qd8-f(16|32)-q[bc][48]w-i?gemm/")
  xnnpack_keeps_nan(ET_VALUES "f(16|32)-maxpool/" "f(16|32)-vbinary/gen/f(16|32)-v(max|min)c?-")
  xnnpack_keeps_nan(ET_LANES_BY_DEPTH "f32-i?gemm/gen/.*-4x2c4-minmax-sse")
  xnnpack_keeps_nan(ET_SMALL_EXPONENT "f32-vsigmoid/gen/.*-avx512f-")
  xnnpack_keeps_nan(ET_EXACT_ROOT "f16-vsqrt/gen/.*-f16c-")
endif()
foreach(instructions sse2 avx2 fma3 neon)
  xnnpack_keeps_nan("ET_LOG_SIMD=\"xnnpack/simd/f32-${instructions}.h\"" "f32-vlog/gen/.*-${instructions}-rational")
endforeach()
# Its kernels for AMX, with any compiler that knows those instructions, and where they pay (amx.h).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT MSVC)
  include(CheckCCompilerFlag)
  check_c_compiler_flag("-mamx-int8" ET_HAS_AMX)
endif()
if(ET_HAS_AMX)
  target_sources(XNNPACK PRIVATE "${library}/amx.cpp")
  xnnpack_replaces(XNNPACK configs/gemm-config.c xnn_init_qs8_qc8w_gemm_config xnn_init_qd8_f32_qc8w_gemm_config)
  set_property(SOURCE "${fetched}/xnnpack/src/configs/hardware-config.c" TARGET_DIRECTORY hardware-config APPEND PROPERTY
    COMPILE_OPTIONS "-UXNN_ENABLE_AVX512AMX;-DXNN_ENABLE_AVX512AMX=1")
  foreach(product qs8-qc8w-gemm qs8-qc8w-igemm qd8-f32-qc8w-gemm qd8-f32-qc8w-igemm)
    file(GLOB kernels "${fetched}/xnnpack/src/${product}/gen/*-1x64c4-*-avx512amx.c"
      "${fetched}/xnnpack/src/${product}/gen/*-16x64c4-*-avx512amx.c")
    target_sources(microkernels-prod PRIVATE ${kernels})
    set_property(SOURCE ${kernels} TARGET_DIRECTORY microkernels-prod APPEND PROPERTY
      COMPILE_OPTIONS "-include;${library}/amx_tiles.h")
  endforeach()
else()
  target_sources(XNNPACK PRIVATE "${library}/amx_none.cpp")
endif()
# For all that knows operators.
set(XNNPACK_LIMITS "SHELL:$<IF:$<BOOL:${MSVC}>,/FI,-include> ${library}/limits.h" CACHE INTERNAL "")
foreach(part XNNPACK indirection operators operator-run operator-utils subgraph)
  target_compile_options(${part} PRIVATE "${XNNPACK_LIMITS}")
endforeach()
# XNNPACK asks for small code where speed does not matter, and then for -O2 everywhere, which comes last.
get_target_property(options xnnpack-base INTERFACE_COMPILE_OPTIONS)
list(FILTER options EXCLUDE REGEX "O2")
set_property(TARGET xnnpack-base PROPERTY INTERFACE_COMPILE_OPTIONS "${options}")
if(NOT MSVC)
  get_target_property(sources XNNPACK SOURCES)
  list(FILTER sources INCLUDE REGEX "^${library}/")
  set_property(SOURCE ${sources} TARGET_DIRECTORY XNNPACK APPEND PROPERTY COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3>")
endif()
# Its runtime is compiled with macros of ours.
set_property(SOURCE "${fetched}/xnnpack/src/runtime.c" TARGET_DIRECTORY subgraph PROPERTY HEADER_FILE_ONLY ON)
target_sources(subgraph PRIVATE "${library}/runtime.c")
target_include_directories(subgraph PRIVATE "${fetched}/xnnpack" "${EXECUTORCH_ROOT}/src")
set(XNNPACK_INTERNAL_INCLUDE_DIR "${fetched}/xnnpack/src" CACHE INTERNAL "of its tables of kernels")

# All its parts are object libraries inside these two archives; say so to those who link an installed copy.
set_target_properties(XNNPACK PROPERTIES PUBLIC_HEADER ""
  INTERFACE_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${fetched}/xnnpack/include>"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${fetched}/xnnpack/include>"
  INTERFACE_LINK_LIBRARIES "microkernels-prod;pthreadpool;cpuinfo;m")
set_target_properties(microkernels-prod PROPERTIES INTERFACE_LINK_LIBRARIES "" INTERFACE_INCLUDE_DIRECTORIES "")
et_install_third_party(XNNPACK)
et_install_third_party(microkernels-prod)

# Kernels read past the ends of their inputs on purpose: sanitizers see the rest of XNNPACK and our code, not these.
if(EXECUTORCH_SANITIZER OR EXECUTORCH_USE_SANITIZER)
  get_target_property(options microkernels-prod COMPILE_OPTIONS)
  list(FILTER options EXCLUDE REGEX "^-(fsanitize|fno-sanitize|fno-omit-frame-pointer|g1|Wno-maybe|Wno-stringop)")
  set_property(TARGET microkernels-prod PROPERTY COMPILE_OPTIONS "${options}")
endif()
