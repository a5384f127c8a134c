# SPDX-License-Identifier: BSD-3-Clause
# Kernels of XNNPACK that lose NaN are compiled with a header of ours ahead of their sources. Other corrections are
# patches (third-party/patches/xnnpack). Included by third-party/xnnpack.cmake, with `library` (this folder), `fetched`
# and `is_x86`.

# xnnpack_keeps_nan(how expression...): kernels whose paths match keep NaN, as nan_order.h says.
file(GLOB kernels "${fetched}/xnnpack/src/*/*.c" "${fetched}/xnnpack/src/*/gen/*.c")
function(xnnpack_keeps_nan how)
  foreach(expression IN LISTS ARGN)
    set(found ${kernels})
    list(FILTER found INCLUDE REGEX "/src/${expression}")
    set_property(SOURCE ${found} TARGET_DIRECTORY microkernels-prod APPEND PROPERTY
      COMPILE_OPTIONS "$<IF:$<BOOL:${MSVC}>,/FI,-include>${library}/nan_order.h" "-D${how}")
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
