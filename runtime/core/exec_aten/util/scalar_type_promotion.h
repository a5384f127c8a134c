// SPDX-License-Identifier: BSD-3-Clause
// Which scalar type a result may be stored in, and which one an operation on two types has: tables
// and the templates over C++ types. canCast() and promoteTypes() are in scalar_type_functions.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <executorch/runtime/core/exec_aten/util/scalar_type_facts.h>

namespace executorch {
namespace runtime {

namespace internal {
constexpr bool can_store(::executorch::aten::ScalarType from, ::executorch::aten::ScalarType to) {
  return !(is_class(from, ScalarTypeClass::kComplex) && !is_class(to, ScalarTypeClass::kComplex)) &&
         !(is_class(from, ScalarTypeClass::kFloating) &&
           is_class(to, ScalarTypeClass::kIntegral)) &&
         !(!is_class(from, ScalarTypeClass::kBool) && is_class(to, ScalarTypeClass::kBool));
}
}  // namespace internal

template <typename From, typename To>
struct can_cast : std::bool_constant<internal::can_store(CppTypeToScalarType<From>::value,
                                                         CppTypeToScalarType<To>::value)> {};

/// `val` as a To. From floating point to an integer by way of int64_t, as PyTorch does.
template <typename To, typename From>
To convert(From val) {
  constexpr bool kIsFloating = std::is_floating_point_v<From> || is_reduced_floating_point_v<From>;
  if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool> && kIsFloating) {
    return static_cast<To>(static_cast<int64_t>(val));
  } else {
    return static_cast<To>(val);
  }
}

namespace internal {

// The types of the promotion table, in its order: constants and C++ types.
#define ET_INTERNAL_PROMOTED_TYPES(_) \
  _(u1, U1, Byte)                     \
  _(i1, I1, Char)                     \
  _(i2, I2, Short)                    \
  _(i4, I4, Int)                      \
  _(i8, I8, Long)                     \
  _(f2, F2, Half)                     \
  _(f4, F4, Float)                    \
  _(f8, F8, Double)                   \
  _(c2, C2, ComplexHalf)              \
  _(c4, C4, ComplexFloat)             \
  _(c8, C8, ComplexDouble)            \
  _(b1, B1, Bool)                     \
  _(bf, BF, BFloat16)

#define ET_INTERNAL_DEFINE(constant, ctype, name)                                                  \
  inline constexpr ::executorch::aten::ScalarType constant = ::executorch::aten::ScalarType::name; \
  using ctype = ScalarTypeToCppType<::executorch::aten::ScalarType::name>::type;
ET_INTERNAL_PROMOTED_TYPES(ET_INTERNAL_DEFINE)
#undef ET_INTERNAL_DEFINE

inline constexpr ::executorch::aten::ScalarType index2dtype[] = {
#define ET_INTERNAL_CONSTANT(constant, type, name) constant,
    ET_INTERNAL_PROMOTED_TYPES(ET_INTERNAL_CONSTANT)
#undef ET_INTERNAL_CONSTANT
};
#undef ET_INTERNAL_PROMOTED_TYPES
inline constexpr int NUM_PROMOTE_TYPES = std::size(index2dtype);

/// Where a type stands in index2dtype; -1: it promotes with itself only.
struct DtypeToIndex {
  int8_t index[static_cast<size_t>(::executorch::aten::ScalarType::NumOptions)];
  constexpr int operator[](size_t dtype) const {
    return dtype < std::size(index) ? index[dtype] : -1;
  }
};
constexpr DtypeToIndex make_dtype2index() {
  DtypeToIndex result{};
  for (int8_t& index : result.index) {
    index = -1;
  }
  for (int8_t i = 0; i < NUM_PROMOTE_TYPES; ++i) {
    result.index[static_cast<size_t>(index2dtype[i])] = i;
  }
  return result;
}
inline constexpr DtypeToIndex dtype2index = make_dtype2index();

/// The type of an operation on both, by their places in index2dtype: PyTorch's rules.
inline constexpr ::executorch::aten::ScalarType
    promoteTypesLookup[NUM_PROMOTE_TYPES][NUM_PROMOTE_TYPES] = {
        // clang-format off
      {u1, i2, i2, i4, i8, f2, f4, f8, c2, c4, c8, u1, bf},
      {i2, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, i1, bf},
      {i2, i2, i2, i4, i8, f2, f4, f8, c2, c4, c8, i2, bf},
      {i4, i4, i4, i4, i8, f2, f4, f8, c2, c4, c8, i4, bf},
      {i8, i8, i8, i8, i8, f2, f4, f8, c2, c4, c8, i8, bf},
      {f2, f2, f2, f2, f2, f2, f4, f8, c2, c4, c8, f2, f4},
      {f4, f4, f4, f4, f4, f4, f4, f8, c4, c4, c8, f4, f4},
      {f8, f8, f8, f8, f8, f8, f8, f8, c8, c8, c8, f8, f8},
      {c2, c2, c2, c2, c2, c2, c4, c8, c2, c4, c8, c2, c4},
      {c4, c4, c4, c4, c4, c4, c4, c8, c4, c4, c8, c4, c4},
      {c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8},
      {u1, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, b1, bf},
      {bf, bf, bf, bf, bf, f4, f4, f8, c4, c4, c8, bf, bf},
        // clang-format on
};

/// The type of an operation on both; Undefined where there is none.
constexpr ::executorch::aten::ScalarType promote_or_undefined(::executorch::aten::ScalarType a,
                                                              ::executorch::aten::ScalarType b) {
  if (a == b && isValid(a)) {
    return a;
  }
  const int row = dtype2index[static_cast<uint8_t>(a)];
  const int column = dtype2index[static_cast<uint8_t>(b)];
  return row < 0 || column < 0 ? ::executorch::aten::ScalarType::Undefined
                               : promoteTypesLookup[row][column];
}

}  // namespace internal

template <typename T1, typename T2, bool half_to_float = false>
struct promote_types {
 private:
  static constexpr ::executorch::aten::ScalarType widen(::executorch::aten::ScalarType t) {
    return half_to_float && (t == ::executorch::aten::ScalarType::Half ||
                             t == ::executorch::aten::ScalarType::BFloat16)
               ? ::executorch::aten::ScalarType::Float
               : t;
  }
  static constexpr ::executorch::aten::ScalarType kResult = internal::promote_or_undefined(
      widen(CppTypeToScalarType<T1>::value), widen(CppTypeToScalarType<T2>::value));

 public:
  using type = typename ScalarTypeToCppType<kResult>::type;
};

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::can_cast;
using ::executorch::runtime::convert;
using ::executorch::runtime::promote_types;
}  // namespace torch::executor
namespace torch::executor::internal {
using ::executorch::runtime::internal::B1;
using ::executorch::runtime::internal::C2;
using ::executorch::runtime::internal::C4;
using ::executorch::runtime::internal::C8;
using ::executorch::runtime::internal::F2;
using ::executorch::runtime::internal::F4;
using ::executorch::runtime::internal::F8;
using ::executorch::runtime::internal::I1;
using ::executorch::runtime::internal::I2;
using ::executorch::runtime::internal::I4;
using ::executorch::runtime::internal::I8;
using ::executorch::runtime::internal::U1;
}  // namespace torch::executor::internal
