// SPDX-License-Identifier: BSD-3-Clause
// Dtype dispatch as functions: dispatch_real_hb_bf16(dtype, [&](auto tag) { using T = typename
// decltype(tag)::type; ... }) calls the lambda with the C++ type of `dtype` and returns true, or
// returns false when the set has no such type. The sets are those of scalar_type_util.h.
#pragma once

#include <executorch/runtime/core/exec_aten/util/dtype_selection.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_sets.h>

namespace executorch {
namespace runtime {

/// Carries a type to a generic lambda.
template <typename T>
struct DtypeTag {
  using type = T;
  static constexpr ::executorch::aten::ScalarType value = CppTypeToScalarType<T>::value;
};

// A dtype that this build leaves out is one that the set does not have.
#define ET_INTERNAL_DISPATCH_CASE(ctype, name, body)                            \
  case ::executorch::aten::ScalarType::name:                                    \
    if constexpr (should_include_dtype(::executorch::aten::ScalarType::name)) { \
      body(DtypeTag<ctype>{});                                                  \
      return true;                                                              \
    } else {                                                                    \
      return false;                                                             \
    }
#define ET_INTERNAL_DISPATCH(function, SET)                                 \
  template <typename Body>                                                  \
  inline bool function(::executorch::aten::ScalarType dtype, Body&& body) { \
    switch (dtype) {                                                        \
      SET(ET_INTERNAL_DISPATCH_CASE, body)                                  \
      default:                                                              \
        return false;                                                       \
    }                                                                       \
  }

/// Byte, Char, Short, Int, Long.
ET_INTERNAL_DISPATCH(dispatch_integral, ET_INTERNAL_INT)
/// Float, Double.
ET_INTERNAL_DISPATCH(dispatch_float, ET_INTERNAL_FLOAT)
/// Float, Double, Half.
ET_INTERNAL_DISPATCH(dispatch_float_h, ET_INTERNAL_FLOATH)
/// All floating types: Float, Double, Half, BFloat16.
ET_INTERNAL_DISPATCH(dispatch_float_h_bf16, ET_INTERNAL_FLOATHBF16)
/// Integral and Float, Double.
ET_INTERNAL_DISPATCH(dispatch_real, ET_INTERNAL_REAL)
/// Real and Bool.
ET_INTERNAL_DISPATCH(dispatch_real_b, ET_INTERNAL_REALB)
/// Real and Half.
ET_INTERNAL_DISPATCH(dispatch_real_h, ET_INTERNAL_REALH)
/// Real, Half, Bool.
ET_INTERNAL_DISPATCH(dispatch_real_hb, ET_INTERNAL_REALHB)
/// Real, Half, BFloat16.
ET_INTERNAL_DISPATCH(dispatch_real_h_bf16, ET_INTERNAL_REALHBF16)
/// Real, Half, Bool, BFloat16.
ET_INTERNAL_DISPATCH(dispatch_real_hb_bf16, ET_INTERNAL_REALHBBF16)
/// The same and UInt16, UInt32, UInt64.
ET_INTERNAL_DISPATCH(dispatch_real_hb_bf16_uint, ET_INTERNAL_REALHBBF16_AND_UINT)
/// ComplexFloat, ComplexDouble.
ET_INTERNAL_DISPATCH(dispatch_complex, ET_INTERNAL_COMPLEX)
/// All complex types.
ET_INTERNAL_DISPATCH(dispatch_complex_h, ET_INTERNAL_COMPLEXH)
/// Quantized types.
ET_INTERNAL_DISPATCH(dispatch_qint, ET_INTERNAL_QINT)

#undef ET_INTERNAL_DISPATCH
#undef ET_INTERNAL_DISPATCH_CASE

/// By the size of an element, for kernels that only move data: uint8_t, uint16_t, uint32_t,
/// uint64_t, and complex<double> for 16 bytes. Every valid dtype has a case.
template <typename Body>
inline bool dispatch_by_element_size(::executorch::aten::ScalarType dtype, Body&& body) {
  if (!isValid(dtype)) {
    return false;
  }
  switch (elementSize(dtype)) {
    case 1:
      body(DtypeTag<uint8_t>{});
      return true;
    case 2:
      body(DtypeTag<uint16_t>{});
      return true;
    case 4:
      body(DtypeTag<uint32_t>{});
      return true;
    case 8:
      body(DtypeTag<uint64_t>{});
      return true;
    case 16:
      body(DtypeTag<::executorch::aten::complex<double>>{});
      return true;
    default:
      return false;
  }
}

}  // namespace runtime
}  // namespace executorch
