// SPDX-License-Identifier: BSD-3-Clause
// Functions of scalar types. PyTorch has most of them beside its ScalarType, where
// argument-dependent lookup finds them, so that in ATen mode these are PyTorch's: a second one of
// the same name would be ambiguous.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/exec_aten/util/scalar_type_facts.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_promotion.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch {
namespace runtime {

#ifdef USE_ATEN_LIB
using c10::canCast;
using c10::elementSize;
using c10::isBarebonesUnsignedType;
using c10::isBitsType;
using c10::isComplexType;
using c10::isFloat8Type;
using c10::isFloatingType;
using c10::isIntegralType;
using c10::isQIntType;
using c10::isSignedType;
using c10::isUnderlying;
using c10::promoteTypes;
using c10::toComplexType;
using c10::toQIntType;
using c10::toRealValueType;
using c10::toString;
using c10::toUnderlying;

/// As c10::promoteTypes(); with half_to_float, Half and BFloat16 count as Float.
inline c10::ScalarType promoteTypes(c10::ScalarType a, c10::ScalarType b, bool half_to_float) {
  const auto widen = [half_to_float](c10::ScalarType t) {
    return half_to_float && (t == c10::ScalarType::Half || t == c10::ScalarType::BFloat16)
               ? c10::ScalarType::Float
               : t;
  };
  return c10::promoteTypes(widen(a), widen(b));
}

#else
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

/// Whether a result of type `from` may be stored in an output of type `to`: no complex to real, no
/// floating to integer, nothing but bool to bool.
inline constexpr bool canCast(const ::executorch::aten::ScalarType from,
                              const ::executorch::aten::ScalarType to) {
  return internal::can_store(from, to);
}

/// The type of an operation on `a` and `b`. Quantized, bits, float8 and UInt16/32/64 types go only
/// with themselves: check untrusted types first. With half_to_float, Half and BFloat16 count as
/// Float.
inline ::executorch::aten::ScalarType promoteTypes(::executorch::aten::ScalarType a,
                                                   ::executorch::aten::ScalarType b,
                                                   bool half_to_float = false) {
  using ::executorch::aten::ScalarType;
  const auto widen = [half_to_float](ScalarType t) {
    return half_to_float && (t == ScalarType::Half || t == ScalarType::BFloat16) ? ScalarType::Float
                                                                                 : t;
  };
  const ScalarType result = internal::promote_or_undefined(widen(a), widen(b));
  ET_CHECK_MSG(result != ScalarType::Undefined, "no common type of %s and %s", toString(a),
               toString(b));
  return result;
}
#endif  // USE_ATEN_LIB

/// Byte, Char, Short, Int, Long, Float, Double.
inline constexpr bool isRealType(::executorch::aten::ScalarType t) {
  return internal::is_class(t, internal::ScalarTypeClass::kIntegral) ||
         t == ::executorch::aten::ScalarType::Float || t == ::executorch::aten::ScalarType::Double;
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

}  // namespace runtime
}  // namespace executorch

namespace executorch {
namespace aten {
using ::executorch::runtime::elementSize;
}  // namespace aten
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::canCast;
using ::executorch::runtime::elementSize;
using ::executorch::runtime::isBitsType;
using ::executorch::runtime::isComplexType;
using ::executorch::runtime::isFloatingType;
using ::executorch::runtime::isIntegralType;
using ::executorch::runtime::isQIntType;
using ::executorch::runtime::isRealHBType;
using ::executorch::runtime::isRealHType;
using ::executorch::runtime::isRealType;
using ::executorch::runtime::promoteTypes;
using ::executorch::runtime::toString;
}  // namespace torch::executor
