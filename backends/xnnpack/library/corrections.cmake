# SPDX-License-Identifier: BSD-3-Clause
# Where XNNPACK's results are wrong, it is compiled with what is right: functions of ours instead of its own, and headers
# ahead of its sources. Included by third-party/xnnpack.cmake, with `library` (this folder), `fetched` and `is_x86`.

# What sources of ours are compiled for, by the ends of their names. g++ 12 warns of its own header.
set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512
  -Wno-maybe-uninitialized -Wno-uninitialized)
set(flags_vnni ${flags_avx512} -mavx512vnni -mgfni -ffp-contract=off)
set(flags_amx ${flags_avx512} -mavx512vnni -mamx-tile -mamx-int8 -ffp-contract=off)

# xnnpack_sources(source...): sources of ours become part of XNNPACK.
function(xnnpack_sources)
  foreach(source IN LISTS ARGN)
    target_sources(XNNPACK PRIVATE "${library}/${source}")
    if(source MATCHES "_(vnni|amx)\\.cpp$")
      set_property(SOURCE "${library}/${source}" TARGET_DIRECTORY XNNPACK APPEND PROPERTY
        COMPILE_OPTIONS "${flags_${CMAKE_MATCH_1}}")
    endif()
  endforeach()
endfunction()

# xnnpack_replaces(part source function... BY source...): functions of a source of a part are ours, by these sources, and
# its own are called <function>_any.
function(xnnpack_replaces part source)
  cmake_parse_arguments(PARSE_ARGV 2 are "" "" BY)
  list(TRANSFORM are_UNPARSED_ARGUMENTS REPLACE "(.+)" "\\1=\\1_any" OUTPUT_VARIABLE renamed)
  set_property(SOURCE "${fetched}/xnnpack/src/${source}" TARGET_DIRECTORY ${part} APPEND PROPERTY
    COMPILE_DEFINITIONS "${renamed}")
  xnnpack_sources(${are_BY})
endfunction()

# xnnpack_includes(header part source...): sources of a part see a header of ours ahead of all else.
function(xnnpack_includes header part)
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${part} APPEND PROPERTY
    COMPILE_OPTIONS "$<IF:$<BOOL:${MSVC}>,/FI,-include>${library}/${header}")
endfunction()

target_include_directories(XNNPACK PRIVATE "${EXECUTORCH_ROOT}/src")
set_target_properties(XNNPACK PROPERTIES CXX_STANDARD 17)  # no source in C++ is its own
xnnpack_replaces(packing reference/packing.cc xnn_pack_f32_gemm_gio_w BY matrix_padding.cpp)
if(is_x86)
  xnnpack_replaces(XNNPACK configs/unary-elementwise-config.c xnn_init_f32_sqrt_config xnn_init_f32_rsqrt_config
    BY roots.cpp)
  if(NOT MSVC)
    set_property(SOURCE "${library}/roots.cpp" TARGET_DIRECTORY XNNPACK APPEND PROPERTY COMPILE_OPTIONS "-fno-math-errno")
  endif()
endif()

# xnnpack_keeps_nan(how expression...): kernels whose paths match keep NaN, as nan_order.h says.
file(GLOB kernels "${fetched}/xnnpack/src/*/*.c" "${fetched}/xnnpack/src/*/gen/*.c")
function(xnnpack_keeps_nan how)
  foreach(expression IN LISTS ARGN)
    set(found ${kernels})
    list(FILTER found INCLUDE REGEX "/src/${expression}")
    xnnpack_includes(nan_order.h microkernels-prod ${found})
    set_property(SOURCE ${found} TARGET_DIRECTORY microkernels-prod APPEND PROPERTY COMPILE_OPTIONS "-D${how}")
  endforeach()
endfunction()
if(is_x86)
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
# For all that knows operators.
set(XNNPACK_LIMITS "SHELL:$<IF:$<BOOL:${MSVC}>,/FI,-include> ${library}/limits.h" CACHE INTERNAL "")
foreach(part XNNPACK indirection operators operator-run operator-utils subgraph)
  target_compile_options(${part} PRIVATE "${XNNPACK_LIMITS}")
endforeach()
# Its runtime is compiled with macros of ours.
set_property(SOURCE "${fetched}/xnnpack/src/runtime.c" TARGET_DIRECTORY subgraph PROPERTY HEADER_FILE_ONLY ON)
target_sources(subgraph PRIVATE "${library}/runtime.c")
target_include_directories(subgraph PRIVATE "${fetched}/xnnpack" "${EXECUTORCH_ROOT}/src")
