// SPDX-License-Identifier: BSD-3-Clause
// The sets of scalar types that kernels accept, each written once, for the ET_FORALL_* and
// ET_SWITCH_* macros and dtype_dispatch.h.
#pragma once

#include <executorch/runtime/core/exec_aten/util/scalar_type_facts.h>

// ---- Sets of types: ET_INTERNAL_<SET>(X, ...) calls X(C++ type, name, ...) for each type

#define ET_INTERNAL_INT(X, ...)  \
  X(uint8_t, Byte, __VA_ARGS__)  \
  X(int8_t, Char, __VA_ARGS__)   \
  X(int16_t, Short, __VA_ARGS__) \
  X(int32_t, Int, __VA_ARGS__)   \
  X(int64_t, Long, __VA_ARGS__)
#define ET_INTERNAL_FLOAT(X, ...) \
  X(float, Float, __VA_ARGS__)    \
  X(double, Double, __VA_ARGS__)
#define ET_INTERNAL_HALF(X, ...) X(::executorch::aten::Half, Half, __VA_ARGS__)
#define ET_INTERNAL_BF16(X, ...) X(::executorch::aten::BFloat16, BFloat16, __VA_ARGS__)
#define ET_INTERNAL_BOOL(X, ...) X(bool, Bool, __VA_ARGS__)
#define ET_INTERNAL_UINT(X, ...)   \
  X(uint16_t, UInt16, __VA_ARGS__) \
  X(uint32_t, UInt32, __VA_ARGS__) \
  X(uint64_t, UInt64, __VA_ARGS__)
#define ET_INTERNAL_COMPLEX(X, ...)                                \
  X(::executorch::aten::complex<float>, ComplexFloat, __VA_ARGS__) \
  X(::executorch::aten::complex<double>, ComplexDouble, __VA_ARGS__)
#define ET_INTERNAL_COMPLEXH(X, ...)                                                 \
  X(::executorch::aten::complex<::executorch::aten::Half>, ComplexHalf, __VA_ARGS__) \
  ET_INTERNAL_COMPLEX(X, __VA_ARGS__)
#define ET_INTERNAL_QINT(X, ...)                         \
  X(::executorch::aten::qint8, QInt8, __VA_ARGS__)       \
  X(::executorch::aten::quint8, QUInt8, __VA_ARGS__)     \
  X(::executorch::aten::qint32, QInt32, __VA_ARGS__)     \
  X(::executorch::aten::quint4x2, QUInt4x2, __VA_ARGS__) \
  X(::executorch::aten::quint2x4, QUInt2x4, __VA_ARGS__)
#define ET_INTERNAL_BITS(X, ...)                       \
  X(::executorch::aten::bits1x8, Bits1x8, __VA_ARGS__) \
  X(::executorch::aten::bits2x4, Bits2x4, __VA_ARGS__) \
  X(::executorch::aten::bits4x2, Bits4x2, __VA_ARGS__) \
  X(::executorch::aten::bits8, Bits8, __VA_ARGS__)     \
  X(::executorch::aten::bits16, Bits16, __VA_ARGS__)
#define ET_INTERNAL_FLOATH(X, ...) \
  ET_INTERNAL_FLOAT(X, __VA_ARGS__) ET_INTERNAL_HALF(X, __VA_ARGS__)
#define ET_INTERNAL_FLOATHBF16(X, ...) \
  ET_INTERNAL_FLOATH(X, __VA_ARGS__) ET_INTERNAL_BF16(X, __VA_ARGS__)
#define ET_INTERNAL_REAL(X, ...) ET_INTERNAL_INT(X, __VA_ARGS__) ET_INTERNAL_FLOAT(X, __VA_ARGS__)
#define ET_INTERNAL_REALB(X, ...) ET_INTERNAL_REAL(X, __VA_ARGS__) ET_INTERNAL_BOOL(X, __VA_ARGS__)
#define ET_INTERNAL_REALH(X, ...) ET_INTERNAL_REAL(X, __VA_ARGS__) ET_INTERNAL_HALF(X, __VA_ARGS__)
#define ET_INTERNAL_REALHB(X, ...) \
  ET_INTERNAL_REALH(X, __VA_ARGS__) ET_INTERNAL_BOOL(X, __VA_ARGS__)
#define ET_INTERNAL_REALHBF16(X, ...) \
  ET_INTERNAL_REALH(X, __VA_ARGS__) ET_INTERNAL_BF16(X, __VA_ARGS__)
#define ET_INTERNAL_REALHBBF16(X, ...) \
  ET_INTERNAL_REALHB(X, __VA_ARGS__) ET_INTERNAL_BF16(X, __VA_ARGS__)
#define ET_INTERNAL_REALHBBF16_AND_UINT(X, ...) \
  ET_INTERNAL_REALHBBF16(X, __VA_ARGS__) ET_INTERNAL_UINT(X, __VA_ARGS__)
// The types a Scalar holds.
#define ET_INTERNAL_SCALAR_OBJ_REAL(X, ...) \
  X(int64_t, Long, __VA_ARGS__) X(double, Double, __VA_ARGS__)
#define ET_INTERNAL_SCALAR_OBJ_INTB(X, ...) X(int64_t, Long, __VA_ARGS__) X(bool, Bool, __VA_ARGS__)
#define ET_INTERNAL_SCALAR_OBJ_FLOATB(X, ...) \
  X(double, Double, __VA_ARGS__) X(bool, Bool, __VA_ARGS__)
#define ET_INTERNAL_SCALAR_OBJ(X, ...) \
  ET_INTERNAL_SCALAR_OBJ_REAL(X, __VA_ARGS__) X(bool, Bool, __VA_ARGS__)
// One more type by its name.
#define ET_INTERNAL_ONE(X, name, ...) X(ET_INTERNAL_CPP_TYPE(name), name, __VA_ARGS__)
#define ET_INTERNAL_CPP_TYPE(name) \
  ::executorch::runtime::ScalarTypeToCppType<::executorch::aten::ScalarType::name>::type

// ---- ET_FORALL_*: _(C++ type, name) for each; _WITH and _WITH2 put one or two arguments before

// A preprocessor expands no macro inside its own expansion, and these must work inside one another.
// So the sets above are written out first, as the argument of a macro that each ET_FORALL_* has for
// itself. `_`, which an empty macro keeps apart from its arguments until then, is called when that
// is scanned again, outside of any macro that two of them share.
#define ET_INTERNAL_APART()
#define ET_INTERNAL_EACH(ctype, name, _) _ ET_INTERNAL_APART()(ctype, name)
#define ET_INTERNAL_EACH_WITH(ctype, name, _, a) _ ET_INTERNAL_APART()(a, ctype, name)
#define ET_INTERNAL_EACH_WITH2(ctype, name, _, a, b) _ ET_INTERNAL_APART()(a, b, ctype, name)

#define ET_INTERNAL_SCAN_INT_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOAT_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOATH_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOATHBF16_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REAL_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REALH_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REALHBF16_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REALHBBF16_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_COMPLEX_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_COMPLEXH_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_QINT_TYPES(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_INT_TYPES_WITH(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOAT_TYPES_WITH(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOATH_TYPES_WITH(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REAL_TYPES_WITH(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_INT_TYPES_WITH2(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOAT_TYPES_WITH2(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOATHBF16_TYPES_WITH2(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REAL_TYPES_WITH2(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REALHBF16_TYPES_WITH2(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REALHBBF16_TYPES_WITH2(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_INT_TYPES_AND(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOAT_TYPES_AND(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_FLOAT_TYPES_AND2(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REAL_TYPES_AND(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REAL_TYPES_AND2(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REAL_TYPES_AND3(...) __VA_ARGS__
#define ET_INTERNAL_SCAN_REAL_TYPES_AND_WITH(...) __VA_ARGS__

#define ET_FORALL_INT_TYPES(_) ET_INTERNAL_SCAN_INT_TYPES(ET_INTERNAL_INT(ET_INTERNAL_EACH, _))
#define ET_FORALL_FLOAT_TYPES(_) \
  ET_INTERNAL_SCAN_FLOAT_TYPES(ET_INTERNAL_FLOAT(ET_INTERNAL_EACH, _))
#define ET_FORALL_FLOATH_TYPES(_) \
  ET_INTERNAL_SCAN_FLOATH_TYPES(ET_INTERNAL_FLOATH(ET_INTERNAL_EACH, _))
#define ET_FORALL_FLOATHBF16_TYPES(_) \
  ET_INTERNAL_SCAN_FLOATHBF16_TYPES(ET_INTERNAL_FLOATHBF16(ET_INTERNAL_EACH, _))
#define ET_FORALL_REAL_TYPES(_) ET_INTERNAL_SCAN_REAL_TYPES(ET_INTERNAL_REAL(ET_INTERNAL_EACH, _))
#define ET_FORALL_REALH_TYPES(_) \
  ET_INTERNAL_SCAN_REALH_TYPES(ET_INTERNAL_REALH(ET_INTERNAL_EACH, _))
#define ET_FORALL_REALHBF16_TYPES(_) \
  ET_INTERNAL_SCAN_REALHBF16_TYPES(ET_INTERNAL_REALHBF16(ET_INTERNAL_EACH, _))
#define ET_FORALL_REALHBBF16_TYPES(_) \
  ET_INTERNAL_SCAN_REALHBBF16_TYPES(ET_INTERNAL_REALHBBF16(ET_INTERNAL_EACH, _))
#define ET_FORALL_COMPLEX_TYPES(_) \
  ET_INTERNAL_SCAN_COMPLEX_TYPES(ET_INTERNAL_COMPLEX(ET_INTERNAL_EACH, _))
#define ET_FORALL_COMPLEXH_TYPES(_) \
  ET_INTERNAL_SCAN_COMPLEXH_TYPES(ET_INTERNAL_COMPLEXH(ET_INTERNAL_EACH, _))
#define ET_FORALL_QINT_TYPES(_) ET_INTERNAL_SCAN_QINT_TYPES(ET_INTERNAL_QINT(ET_INTERNAL_EACH, _))
#define ET_FORALL_INT_TYPES_WITH(ANOTHER_INPUT, _) \
  ET_INTERNAL_SCAN_INT_TYPES_WITH(ET_INTERNAL_INT(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT))
#define ET_FORALL_FLOAT_TYPES_WITH(ANOTHER_INPUT, _) \
  ET_INTERNAL_SCAN_FLOAT_TYPES_WITH(ET_INTERNAL_FLOAT(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT))
#define ET_FORALL_FLOATH_TYPES_WITH(ANOTHER_INPUT, _) \
  ET_INTERNAL_SCAN_FLOATH_TYPES_WITH(ET_INTERNAL_FLOATH(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT))
#define ET_FORALL_REAL_TYPES_WITH(ANOTHER_INPUT, _) \
  ET_INTERNAL_SCAN_REAL_TYPES_WITH(ET_INTERNAL_REAL(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT))
#define ET_FORALL_INT_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_SCAN_INT_TYPES_WITH2(                                  \
      ET_INTERNAL_INT(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2))
#define ET_FORALL_FLOAT_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_SCAN_FLOAT_TYPES_WITH2(                                  \
      ET_INTERNAL_FLOAT(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2))
#define ET_FORALL_FLOATHBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_SCAN_FLOATHBF16_TYPES_WITH2(                                  \
      ET_INTERNAL_FLOATHBF16(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2))
#define ET_FORALL_REAL_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_SCAN_REAL_TYPES_WITH2(                                  \
      ET_INTERNAL_REAL(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2))
#define ET_FORALL_REALHBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_SCAN_REALHBF16_TYPES_WITH2(                                  \
      ET_INTERNAL_REALHBF16(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2))
#define ET_FORALL_REALHBBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_SCAN_REALHBBF16_TYPES_WITH2(                                  \
      ET_INTERNAL_REALHBBF16(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2))
#define ET_FORALL_INT_TYPES_AND(SCALARTYPE, _)                        \
  ET_INTERNAL_SCAN_INT_TYPES_AND(ET_INTERNAL_INT(ET_INTERNAL_EACH, _) \
                                     ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE, _))
#define ET_FORALL_FLOAT_TYPES_AND(SCALARTYPE, _)                          \
  ET_INTERNAL_SCAN_FLOAT_TYPES_AND(ET_INTERNAL_FLOAT(ET_INTERNAL_EACH, _) \
                                       ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE, _))
#define ET_FORALL_FLOAT_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _)                             \
  ET_INTERNAL_SCAN_FLOAT_TYPES_AND2(ET_INTERNAL_FLOAT(ET_INTERNAL_EACH, _) ET_INTERNAL_ONE( \
      ET_INTERNAL_EACH, SCALARTYPE1, _) ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE2, _))
#define ET_FORALL_REAL_TYPES_AND(SCALARTYPE, _)                         \
  ET_INTERNAL_SCAN_REAL_TYPES_AND(ET_INTERNAL_REAL(ET_INTERNAL_EACH, _) \
                                      ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE, _))
#define ET_FORALL_REAL_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _)                            \
  ET_INTERNAL_SCAN_REAL_TYPES_AND2(ET_INTERNAL_REAL(ET_INTERNAL_EACH, _) ET_INTERNAL_ONE( \
      ET_INTERNAL_EACH, SCALARTYPE1, _) ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE2, _))
#define ET_FORALL_REAL_TYPES_AND3(SCALARTYPE1, SCALARTYPE2, SCALARTYPE3, _)               \
  ET_INTERNAL_SCAN_REAL_TYPES_AND3(ET_INTERNAL_REAL(ET_INTERNAL_EACH, _) ET_INTERNAL_ONE( \
      ET_INTERNAL_EACH, SCALARTYPE1, _) ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE2, _) \
                                       ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE3, _))
#define ET_FORALL_REAL_TYPES_AND_WITH(SCALARTYPE, ANOTHER_INPUT, _) \
  ET_INTERNAL_SCAN_REAL_TYPES_AND_WITH(                             \
      ET_INTERNAL_REAL(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT)     \
          ET_INTERNAL_ONE(ET_INTERNAL_EACH_WITH, SCALARTYPE, _, ANOTHER_INPUT))
