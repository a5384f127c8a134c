// SPDX-License-Identifier: BSD-3-Clause
// ET_SWITCH_*: code for each type of a set. For existing sources; our own kernels use
// dtype_dispatch.h.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_sets.h>
#include <executorch/runtime/platform/log.h>

// ---- ET_SWITCH_*(type, kernel context, op name, alias, lambda): calls the lambda with `alias` the
// C++ type of `type`; a type outside the set fails the context with InvalidArgument and gives a
// value-initialized result ----------------------------

namespace executorch {
namespace runtime {
namespace internal {

template <typename Context, typename Body>
auto unhandled_dtype(Context& context, ::executorch::aten::ScalarType type, const char* name,
                     const Body& body) -> decltype(body()) {
  ET_LOG(Error, "Unhandled dtype %s for %s", toString(type), name);
  context.fail(Error::InvalidArgument);
  return decltype(body())();
}

}  // namespace internal
}  // namespace runtime
}  // namespace executorch

#define ET_INTERNAL_CASE(ctype, name, CTYPE_ALIAS, ...) \
  case ::executorch::aten::ScalarType::name: {          \
    using CTYPE_ALIAS [[maybe_unused]] = ctype;         \
    return __VA_ARGS__();                               \
  }
#define ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME) [&] {                                                                    \
    const ::executorch::aten::ScalarType et_switch_type = (TYPE);          \
    constexpr const char* et_switch_name [[maybe_unused]] = NAME;          \
    switch (et_switch_type) {
#define ET_INTERNAL_SWITCH_END(FIRST, CONTEXT, CTYPE_ALIAS, ...)                          \
  default:                                                                                \
    break;                                                                                \
    }                                                                                     \
    using CTYPE_ALIAS [[maybe_unused]] = ET_INTERNAL_CPP_TYPE(FIRST);                     \
    return ::executorch::runtime::internal::unhandled_dtype(CONTEXT, et_switch_type,      \
                                                            et_switch_name, __VA_ARGS__); \
    }                                                                                     \
    ()

#define ET_SWITCH_REAL_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                              \
  ET_INTERNAL_REAL(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REALH_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                               \
  ET_INTERNAL_REALH(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REALB_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                               \
  ET_INTERNAL_REALB(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REALHB_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                \
  ET_INTERNAL_REALHB(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REALHBF16_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                   \
  ET_INTERNAL_REALHBF16(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REALHBBF16_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                    \
  ET_INTERNAL_REALHBBF16(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REALHBBF16_AND_UINT_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                             \
  ET_INTERNAL_REALHBBF16_AND_UINT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_INT_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                             \
  ET_INTERNAL_INT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_FLOAT_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                               \
  ET_INTERNAL_FLOAT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Float, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_FLOATH_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                \
  ET_INTERNAL_FLOATH(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Float, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_FLOATHBF16_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                    \
  ET_INTERNAL_FLOATHBF16(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Float, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_COMPLEX_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                 \
  ET_INTERNAL_COMPLEX(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(ComplexFloat, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_COMPLEXH_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                  \
  ET_INTERNAL_COMPLEXH(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(ComplexFloat, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_QINT_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                              \
  ET_INTERNAL_QINT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(QInt8, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_SCALAR_OBJ_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                    \
  ET_INTERNAL_SCALAR_OBJ(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Long, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_SCALAR_OBJ_REAL_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                         \
  ET_INTERNAL_SCALAR_OBJ_REAL(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Long, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_SCALAR_OBJ_INTB_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                         \
  ET_INTERNAL_SCALAR_OBJ_INTB(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Long, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_SCALAR_OBJ_FLOATB_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                           \
  ET_INTERNAL_SCALAR_OBJ_FLOATB(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)      \
  ET_INTERNAL_SWITCH_END(Double, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_INT_TYPES_AND(ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                             \
  ET_INTERNAL_INT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                      \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)          \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REAL_TYPES_AND(ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                              \
  ET_INTERNAL_REAL(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                      \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)           \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REAL_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                                             \
  ET_INTERNAL_REAL(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                                     \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)                         \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)                         \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_REAL_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3, TYPE, CONTEXT, NAME, \
                                  CTYPE_ALIAS, ...)                                           \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                                        \
  ET_INTERNAL_REAL(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                                \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)                    \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)                    \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL3, CTYPE_ALIAS, __VA_ARGS__)                    \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_FLOAT_TYPES_AND(ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                               \
  ET_INTERNAL_FLOAT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                      \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)            \
  ET_INTERNAL_SWITCH_END(Float, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_FLOAT_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, TYPE, CONTEXT, NAME, CTYPE_ALIAS, \
                                   ...)                                                        \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                                         \
  ET_INTERNAL_FLOAT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                                \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)                     \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)                     \
  ET_INTERNAL_SWITCH_END(Float, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_FLOAT_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3, TYPE, CONTEXT, NAME, \
                                   CTYPE_ALIAS, ...)                                           \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                                         \
  ET_INTERNAL_FLOAT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                                \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)                     \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)                     \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL3, CTYPE_ALIAS, __VA_ARGS__)                     \
  ET_INTERNAL_SWITCH_END(Float, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_FLOATHBF16_TYPES_AND(ADDITIONAL, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                                    \
  ET_INTERNAL_FLOATHBF16(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                      \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)                 \
  ET_INTERNAL_SWITCH_END(Float, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_TWO_TYPES(T1, T2, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                     \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T1, CTYPE_ALIAS, __VA_ARGS__)          \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T2, CTYPE_ALIAS, __VA_ARGS__)          \
  ET_INTERNAL_SWITCH_END(T1, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_THREE_TYPES(T1, T2, T3, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                           \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T1, CTYPE_ALIAS, __VA_ARGS__)                \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T2, CTYPE_ALIAS, __VA_ARGS__)                \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T3, CTYPE_ALIAS, __VA_ARGS__)                \
  ET_INTERNAL_SWITCH_END(T1, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_FOUR_TYPES(T1, T2, T3, T4, TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                              \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T1, CTYPE_ALIAS, __VA_ARGS__)                   \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T2, CTYPE_ALIAS, __VA_ARGS__)                   \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T3, CTYPE_ALIAS, __VA_ARGS__)                   \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, T4, CTYPE_ALIAS, __VA_ARGS__)                   \
  ET_INTERNAL_SWITCH_END(T1, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)
#define ET_SWITCH_ALL_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...)            \
  ET_INTERNAL_SWITCH_BEGIN(TYPE, NAME)                                        \
  ET_INTERNAL_REALHBBF16_AND_UINT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__) \
  ET_INTERNAL_COMPLEXH(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)            \
  ET_INTERNAL_QINT(ET_INTERNAL_CASE, CTYPE_ALIAS, __VA_ARGS__)                \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, Bits1x8, CTYPE_ALIAS, __VA_ARGS__)        \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, Bits2x4, CTYPE_ALIAS, __VA_ARGS__)        \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, Bits4x2, CTYPE_ALIAS, __VA_ARGS__)        \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, Bits8, CTYPE_ALIAS, __VA_ARGS__)          \
  ET_INTERNAL_ONE(ET_INTERNAL_CASE, Bits16, CTYPE_ALIAS, __VA_ARGS__)         \
  ET_INTERNAL_SWITCH_END(Byte, CONTEXT, CTYPE_ALIAS, __VA_ARGS__)

// ---- The parts that switches of one's own are made of: ET_INTERNAL_SWITCH(type, context, name,
// cases). In a case, `et_switch_name` is the name of the operator. A type without a case fails the
// context with InvalidArgument; lambdas return nothing.

// See kernels/portable/cpu/selective_build.h.
#ifndef ET_INTERNAL_CHECK_SELECTIVE_BUILD
#define ET_INTERNAL_CHECK_SELECTIVE_BUILD(enum_type) ((void)0)
#endif

#define ET_INTERNAL_SWITCH_CASE(enum_type, CTYPE_ALIAS, ...)         \
  case enum_type: {                                                  \
    ET_INTERNAL_CHECK_SELECTIVE_BUILD(enum_type);                    \
    using CTYPE_ALIAS [[maybe_unused]] =                             \
        ::executorch::runtime::ScalarTypeToCppType<enum_type>::type; \
    return __VA_ARGS__();                                            \
  }
#define ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME, ...)                             \
  [&] {                                                                          \
    const ::executorch::aten::ScalarType et_switch_type = (TYPE);                \
    constexpr const char* et_switch_name [[maybe_unused]] = NAME;                \
    switch (et_switch_type) {                                                    \
      __VA_ARGS__                                                                \
      default:                                                                   \
        ET_LOG(Error, "Unhandled dtype %s for %s",                               \
               ::executorch::runtime::toString(et_switch_type), et_switch_name); \
        CONTEXT.fail(::executorch::runtime::Error::InvalidArgument);             \
    }                                                                            \
  }()

// Cases for the types of a set.
#define ET_INTERNAL_SET_CASE(ctype, name, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE(::executorch::aten::ScalarType::name, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_INT_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_INT(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_UINT_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_UINT(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_FLOAT(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_REAL_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_REAL(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_COMPLEX_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_COMPLEX(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_COMPLEXH_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_COMPLEXH(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_QINT_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_QINT(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_BITS_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_BITS(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_SCALAR_OBJ(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_REAL_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_SCALAR_OBJ_REAL(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_INTB_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_SCALAR_OBJ_INTB(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_SCALAR_OBJ_FLOATB_TYPES(CTYPE_ALIAS, ...) \
  ET_INTERNAL_SCALAR_OBJ_FLOATB(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_ALL_TYPES(CTYPE_ALIAS, ...)                       \
  ET_INTERNAL_REALHBBF16_AND_UINT(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__) \
  ET_INTERNAL_COMPLEXH(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)            \
  ET_INTERNAL_QINT(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)                \
  ET_INTERNAL_BITS(ET_INTERNAL_SET_CASE, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_INT_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_INT_TYPES(CTYPE_ALIAS, __VA_ARGS__)               \
  ET_INTERNAL_SET_CASE(_, ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, __VA_ARGS__)               \
  ET_INTERNAL_SET_CASE(_, ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND(ADDITIONAL, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_REAL_TYPES(CTYPE_ALIAS, __VA_ARGS__)               \
  ET_INTERNAL_SET_CASE(_, ADDITIONAL, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND(ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)             \
  ET_INTERNAL_SET_CASE(_, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3,        \
                                                 CTYPE_ALIAS, ...)                             \
  ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__) \
  ET_INTERNAL_SET_CASE(_, ADDITIONAL3, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND(ADDITIONAL1, CTYPE_ALIAS, __VA_ARGS__)             \
  ET_INTERNAL_SET_CASE(_, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__)
#define ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND3(ADDITIONAL1, ADDITIONAL2, ADDITIONAL3,        \
                                                CTYPE_ALIAS, ...)                             \
  ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND2(ADDITIONAL1, ADDITIONAL2, CTYPE_ALIAS, __VA_ARGS__) \
  ET_INTERNAL_SET_CASE(_, ADDITIONAL3, CTYPE_ALIAS, __VA_ARGS__)
