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
if(EMSCRIPTEN)  # which it does not know
  set(CMAKE_SYSTEM_NAME Linux)
endif()
add_subdirectory("${fetched}/xnnpack" xnnpack EXCLUDE_FROM_ALL)
if(EMSCRIPTEN)
  set(CMAKE_SYSTEM_NAME Emscripten)
endif()
if(NOT EXECUTORCH_XNNPACK_LOG_LEVEL STREQUAL "")
  set_target_properties(logging PROPERTIES COMPILE_DEFINITIONS "XNN_LOG_LEVEL=${EXECUTORCH_XNNPACK_LOG_LEVEL}"
    INTERFACE_COMPILE_DEFINITIONS "XNN_LOG_LEVEL=${EXECUTORCH_XNNPACK_LOG_LEVEL}")
endif()

# Its own build knows no WebAssembly; its sources do.
if(EMSCRIPTEN)
  set(kernels "")
  foreach(family wasm wasmsimd)
    include("${fetched}/xnnpack/cmake/gen/${family}_microkernels.cmake")
    string(TOUPPER ${family} family)
    list(APPEND kernels ${PROD_${family}_MICROKERNEL_SRCS})
  endforeach()
  list(TRANSFORM kernels PREPEND "${fetched}/xnnpack/")
  target_sources(microkernels-prod PRIVATE ${kernels})
  # Two include Arm's header, of which they use nothing and Debian's Emscripten has a part: as if it were there.
  set_property(SOURCE ${kernels} TARGET_DIRECTORY microkernels-prod APPEND PROPERTY COMPILE_OPTIONS
    -fno-math-errno -DSIMDE_ARM_NEON_H)
endif()

set(library "${EXECUTORCH_ROOT}/backends/xnnpack/library")
set(is_x86 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(is_x86 ON)
endif()
# pthreadpool is built without cpuinfo, so a thread does not know which kind of core it is on: one kernel for all of them.
target_compile_definitions(xnnpack-base INTERFACE XNN_MAX_UARCH_TYPES=1)
include("${library}/nan_order.cmake")
# Five rows of 16 columns are ten sums. g++ 12 loads all five factors ahead of them, one register more than AVX has,
# and keeps a sum in memory: half the speed. Scheduled for few registers, the loop has all in registers.
if(is_x86 AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  file(GLOB five_rows "${fetched}/xnnpack/src/f32-*gemm/gen/f32-*gemm-5x16-minmax-*-broadcast*.c")
  list(FILTER five_rows EXCLUDE REGEX "avx512")
  set_property(SOURCE ${five_rows} TARGET_DIRECTORY microkernels-prod APPEND PROPERTY
    COMPILE_OPTIONS -fno-gcse -fschedule-insns -fsched-pressure)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/unity.cmake")
et_join_sources(microkernels-prod 48 APART "include.*xnnpack/simd/|^extern.*xnn_table")
# XNNPACK asks for small code where speed does not matter, and then for -O2 everywhere, which comes last.
get_target_property(options xnnpack-base INTERFACE_COMPILE_OPTIONS)
list(FILTER options EXCLUDE REGEX "O2")
set_property(TARGET xnnpack-base PROPERTY INTERFACE_COMPILE_OPTIONS "${options}")
set(XNNPACK_INTERNAL_INCLUDE_DIR "${fetched}/xnnpack/src" CACHE INTERNAL "of its tables of kernels")

# All its parts are object libraries inside these two archives; say so to those who link an installed copy.
set_target_properties(XNNPACK PROPERTIES PUBLIC_HEADER ""
  INTERFACE_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${fetched}/xnnpack/include>"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${fetched}/xnnpack/include>"
  INTERFACE_LINK_LIBRARIES "microkernels-prod;pthreadpool;cpuinfo;m")
set_target_properties(microkernels-prod PROPERTIES INTERFACE_LINK_LIBRARIES "" INTERFACE_INCLUDE_DIRECTORIES "")
# Not under XNNPACK's own names: who links those wants its own functions.
set_target_properties(XNNPACK PROPERTIES OUTPUT_NAME executorch_xnnpack)
set_target_properties(microkernels-prod PROPERTIES OUTPUT_NAME executorch_xnnpack_microkernels)
et_install_third_party(XNNPACK)
et_install_third_party(microkernels-prod)

# Kernels read past the ends of their inputs on purpose: sanitizers see the rest of XNNPACK and our code, not these.
if(EXECUTORCH_SANITIZER OR EXECUTORCH_USE_SANITIZER)
  get_target_property(options microkernels-prod COMPILE_OPTIONS)
  list(FILTER options EXCLUDE REGEX "^-(fsanitize|fno-sanitize|fno-omit-frame-pointer|g1|Wno-maybe|Wno-stringop)")
  set_property(TARGET microkernels-prod PROPERTY COMPILE_OPTIONS "${options}")
endif()
