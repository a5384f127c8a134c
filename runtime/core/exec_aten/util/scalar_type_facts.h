// SPDX-License-Identifier: BSD-3-Clause
// Facts about scalar types: C++ type, size, name, class. They derive from ET_FORALL_SCALAR_TYPES
// (portable_type/scalar_type.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/portable_type/bits_types.h>
#include <executorch/runtime/platform/assert.h>

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
    return name[0] == 'B' ? ScalarTypeClass::kBits : ScalarTypeClass::kFloat8;
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

/// Whether `t` is a type of elements: neither Undefined nor out of range.
constexpr bool isValid(::executorch::aten::ScalarType t) {
  return static_cast<uint8_t>(t) < std::size(internal::kScalarTypeFacts);
}

/// The name, "Byte"; "UNKNOWN_SCALAR" when not valid.
inline const char* toString(::executorch::aten::ScalarType t) {
  switch (t) {
#define DEFINE_CASE(_, name)                 \
  case ::executorch::aten::ScalarType::name: \
    return #name;
    ET_FORALL_SCALAR_TYPES(DEFINE_CASE)
#undef DEFINE_CASE
    case ::executorch::aten::ScalarType::Undefined:
      return "Undefined";
    default:
      return "UNKNOWN_SCALAR";
  }
}

/// Bytes of an element; `t` must be valid.
inline size_t elementSize(::executorch::aten::ScalarType t) {
  ET_CHECK_MSG(isValid(t), "Unknown ScalarType %d", static_cast<int>(t));
  return internal::kScalarTypeFacts[static_cast<uint8_t>(t)].element_size;
}

/// Byte, Char, Short, Int, Long, and Bool on request.
inline constexpr bool isIntegralType(::executorch::aten::ScalarType t, bool includeBool) {
  return internal::is_class(t, internal::ScalarTypeClass::kIntegral) ||
         (includeBool && internal::is_class(t, internal::ScalarTypeClass::kBool));
}
/// Half, Float, Double, BFloat16.
inline constexpr bool isFloatingType(::executorch::aten::ScalarType t) {
  return internal::is_class(t, internal::ScalarTypeClass::kFloating);
}
inline constexpr bool isComplexType(::executorch::aten::ScalarType t) {
  return internal::is_class(t, internal::ScalarTypeClass::kComplex);
}
constexpr bool isQIntType(::executorch::aten::ScalarType t) {
  return internal::is_class(t, internal::ScalarTypeClass::kQuantized);
}
constexpr bool isBitsType(::executorch::aten::ScalarType t) {
  return internal::is_class(t, internal::ScalarTypeClass::kBits);
}
constexpr bool isFloat8Type(::executorch::aten::ScalarType t) {
  return internal::is_class(t, internal::ScalarTypeClass::kFloat8);
}
/// UInt16, UInt32, UInt64.
constexpr bool isBarebonesUnsignedType(::executorch::aten::ScalarType t) {
  return internal::is_class(t, internal::ScalarTypeClass::kUnsigned);
}
/// `t` must be valid and not quantized.
inline bool isSignedType(::executorch::aten::ScalarType t) {
  ET_CHECK_MSG(isValid(t) && !isQIntType(t), "ScalarType %d has no sign of its own",
               static_cast<int>(t));
  return internal::kScalarTypeFacts[static_cast<uint8_t>(t)].is_signed;
}
/// Byte, Char, Short, Int, Long, Float, Double.
inline constexpr bool isRealType(::executorch::aten::ScalarType t) {
  return isIntegralType(t, false) || t == ::executorch::aten::ScalarType::Float ||
         t == ::executorch::aten::ScalarType::Double;
}
/// Real and Half.
inline constexpr bool isRealHType(::executorch::aten::ScalarType t) {
  return isRealType(t) || t == ::executorch::aten::ScalarType::Half;
}
inline constexpr bool isRealHBType(::executorch::aten::ScalarType t) {
  return isRealHType(t) || t == ::executorch::aten::ScalarType::Bool;
}
inline constexpr bool isRealHBF16Type(::executorch::aten::ScalarType t) {
  return isRealHType(t) || t == ::executorch::aten::ScalarType::BFloat16;
}
inline constexpr bool isRealHBBF16Type(::executorch::aten::ScalarType t) {
  return isRealHBF16Type(t) || t == ::executorch::aten::ScalarType::Bool;
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

/// The quantized type over an integer type, and back; other types are returned as they are.
inline constexpr ::executorch::aten::ScalarType toQIntType(::executorch::aten::ScalarType t) {
  using ::executorch::aten::ScalarType;
  return t == ScalarType::Byte   ? ScalarType::QUInt8
         : t == ScalarType::Char ? ScalarType::QInt8
         : t == ScalarType::Int  ? ScalarType::QInt32
                                 : t;
}
inline constexpr ::executorch::aten::ScalarType toUnderlying(::executorch::aten::ScalarType t) {
  using ::executorch::aten::ScalarType;
  switch (t) {
    case ScalarType::QUInt8:
    case ScalarType::QUInt4x2:
    case ScalarType::QUInt2x4:
      return ScalarType::Byte;
    case ScalarType::QInt8:
      return ScalarType::Char;
    case ScalarType::QInt32:
      return ScalarType::Int;
    default:
      return t;
  }
}
inline constexpr bool isUnderlying(::executorch::aten::ScalarType type,
                                   ::executorch::aten::ScalarType qtype) {
  return type == toUnderlying(qtype);
}

/// The type of the parts of a complex type; other types are returned as they are.
inline constexpr ::executorch::aten::ScalarType toRealValueType(::executorch::aten::ScalarType t) {
  using ::executorch::aten::ScalarType;
  return t == ScalarType::ComplexHalf     ? ScalarType::Half
         : t == ScalarType::ComplexFloat  ? ScalarType::Float
         : t == ScalarType::ComplexDouble ? ScalarType::Double
                                          : t;
}
/// The complex type that holds numbers of type `t`; `t` must be floating, complex or an integer (as
/// Float).
inline ::executorch::aten::ScalarType toComplexType(::executorch::aten::ScalarType t) {
  using ::executorch::aten::ScalarType;
  switch (t) {
    case ScalarType::Half:
    case ScalarType::ComplexHalf:
      return ScalarType::ComplexHalf;
    case ScalarType::Double:
    case ScalarType::ComplexDouble:
      return ScalarType::ComplexDouble;
    case ScalarType::BFloat16:
    case ScalarType::Float:
    case ScalarType::ComplexFloat:
      return ScalarType::ComplexFloat;
    default:
      ET_CHECK_MSG(false, "no complex type for %s", toString(t));
      return ScalarType::Undefined;
  }
}

}  // namespace runtime
}  // namespace executorch

namespace executorch {
namespace aten {
using ::executorch::runtime::elementSize;
}  // namespace aten
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::CppTypeToScalarType;
using ::executorch::runtime::elementSize;
using ::executorch::runtime::is_bits_type;
using ::executorch::runtime::is_complex_type;
using ::executorch::runtime::is_floating_point;
using ::executorch::runtime::is_integral_type;
using ::executorch::runtime::is_qint_type;
using ::executorch::runtime::is_reduced_floating_point;
using ::executorch::runtime::isBitsType;
using ::executorch::runtime::isComplexType;
using ::executorch::runtime::isFloatingType;
using ::executorch::runtime::isIntegralType;
using ::executorch::runtime::isQIntType;
using ::executorch::runtime::isRealHBType;
using ::executorch::runtime::isRealHType;
using ::executorch::runtime::isRealType;
using ::executorch::runtime::isValid;
using ::executorch::runtime::ScalarTypeToCppType;
using ::executorch::runtime::toString;
}  // namespace torch::executor
