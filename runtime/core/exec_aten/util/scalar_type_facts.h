// SPDX-License-Identifier: BSD-3-Clause
// Facts about scalar types: C++ type, size, class. They derive from ET_FORALL_SCALAR_TYPES.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch {
namespace runtime {

// ---- C++ type <-> ScalarType

template <typename T>
struct CppTypeToScalarType;
template <::executorch::aten::ScalarType value>
struct ScalarTypeToCppType;

#define SPECIALIZE_CppTypeToScalarType(cpp_type, scalar_type)  \
  template <>                                                  \
  struct CppTypeToScalarType<cpp_type>                         \
      : std::integral_constant<::executorch::aten::ScalarType, \
                               ::executorch::aten::ScalarType::scalar_type> {};
ET_FORALL_SCALAR_TYPES(SPECIALIZE_CppTypeToScalarType)
#undef SPECIALIZE_CppTypeToScalarType

#define SPECIALIZE_ScalarTypeToCppType(cpp_type, scalar_type)               \
  template <>                                                               \
  struct ScalarTypeToCppType<::executorch::aten::ScalarType::scalar_type> { \
    using type = cpp_type;                                                  \
  };
ET_FORALL_SCALAR_TYPES(SPECIALIZE_ScalarTypeToCppType)
#undef SPECIALIZE_ScalarTypeToCppType

// ---- Facts

namespace internal {

enum class ScalarTypeClass : uint8_t {
  kNone,
  kIntegral,
  kUnsigned,  // UInt16, UInt32, UInt64: storage only, outside promotion.
  kBool,
  kFloating,
  kComplex,
  kQuantized,
  kBits,
  kFloat8,
};

struct ScalarTypeFacts {
  uint8_t element_size;
  ScalarTypeClass type_class;
  bool is_signed;
};

template <typename T>
constexpr ScalarTypeClass class_of(const char* name) {
  if constexpr (std::is_same_v<T, bool>) {
    return ScalarTypeClass::kBool;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_unsigned_v<T> && sizeof(T) > 1 ? ScalarTypeClass::kUnsigned
                                                  : ScalarTypeClass::kIntegral;
  } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, ::executorch::aten::Half> ||
                       std::is_same_v<T, ::executorch::aten::BFloat16>) {
    return ScalarTypeClass::kFloating;
  } else if (name[0] == 'C') {
    return ScalarTypeClass::kComplex;
  } else if (name[0] == 'Q') {
    return ScalarTypeClass::kQuantized;
  } else {
    return name[0] == 'B'   ? ScalarTypeClass::kBits
           : name[0] == 'F' ? ScalarTypeClass::kFloat8
                            : ScalarTypeClass::kNone;
  }
}

template <typename T>
constexpr ScalarTypeFacts facts_of(const char* name) {
  constexpr bool kIsSignedInteger = (std::is_integral_v<T> && std::is_signed_v<T>) ||
                                    std::is_same_v<T, ::executorch::aten::qint8> ||
                                    std::is_same_v<T, ::executorch::aten::qint32>;
  const ScalarTypeClass type_class = class_of<T>(name);
  return {sizeof(T), type_class,
          kIsSignedInteger || type_class == ScalarTypeClass::kFloating ||
              type_class == ScalarTypeClass::kComplex || type_class == ScalarTypeClass::kFloat8};
}

inline constexpr ScalarTypeFacts kScalarTypeFacts[] = {
#define ET_INTERNAL_FACTS(cpp_type, scalar_type) facts_of<cpp_type>(#scalar_type),
    ET_FORALL_SCALAR_TYPES(ET_INTERNAL_FACTS)
#undef ET_INTERNAL_FACTS
};

constexpr bool is_class(::executorch::aten::ScalarType t, ScalarTypeClass type_class) {
  return static_cast<uint8_t>(t) < std::size(kScalarTypeFacts) &&
         kScalarTypeFacts[static_cast<uint8_t>(t)].type_class == type_class;
}

template <typename T, ScalarTypeClass type_class>
using is_cpp_type_of_class =
    std::bool_constant<is_class(CppTypeToScalarType<T>::value, type_class)>;

}  // namespace internal

/// Whether `t` is a type of elements that programs may have: neither Undefined nor out of range.
/// PyTorch has more types behind them.
constexpr bool isValid(::executorch::aten::ScalarType t) {
  return static_cast<uint8_t>(t) <= static_cast<uint8_t>(::executorch::aten::ScalarType::UInt64);
}

template <typename T>
struct is_integral_type : internal::is_cpp_type_of_class<T, internal::ScalarTypeClass::kIntegral> {
};
template <typename T>
struct is_floating_point : internal::is_cpp_type_of_class<T, internal::ScalarTypeClass::kFloating> {
};
template <typename T>
struct is_complex_type : internal::is_cpp_type_of_class<T, internal::ScalarTypeClass::kComplex> {};
template <typename T>
struct is_qint_type : internal::is_cpp_type_of_class<T, internal::ScalarTypeClass::kQuantized> {};
template <typename T>
struct is_bits_type : internal::is_cpp_type_of_class<T, internal::ScalarTypeClass::kBits> {};
template <typename T>
struct is_float8_type : internal::is_cpp_type_of_class<T, internal::ScalarTypeClass::kFloat8> {};
template <typename T>
struct is_barebones_unsigned_type
    : internal::is_cpp_type_of_class<T, internal::ScalarTypeClass::kUnsigned> {};
template <typename T>
struct is_reduced_floating_point
    : std::bool_constant<std::is_same_v<T, ::executorch::aten::Half> ||
                         std::is_same_v<T, ::executorch::aten::BFloat16>> {};
template <typename T>
inline constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::CppTypeToScalarType;
using ::executorch::runtime::is_bits_type;
using ::executorch::runtime::is_complex_type;
using ::executorch::runtime::is_floating_point;
using ::executorch::runtime::is_integral_type;
using ::executorch::runtime::is_qint_type;
using ::executorch::runtime::is_reduced_floating_point;
using ::executorch::runtime::isValid;
using ::executorch::runtime::ScalarTypeToCppType;
}  // namespace torch::executor
