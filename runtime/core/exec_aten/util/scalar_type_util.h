// SPDX-License-Identifier: BSD-3-Clause
// Facts about scalar types, and the sets of types that kernels accept. Facts derive from
// ET_FORALL_SCALAR_TYPES (portable_type/scalar_type.h); every set is written once below and serves
// the ET_FORALL_* and ET_SWITCH_* macros and dtype_dispatch.h. Our own kernels use
// dtype_dispatch.h; the macros are for existing sources.
#pragma once

#include <cinttypes>
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
// ------------------------------------------------------------------------------------------

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
// ------------------------------------------------------------------------------------------------------------

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

// ---- Casts and promotion
// ----------------------------------------------------------------------------------------------

/// Whether a result of type `from` may be stored in an output of type `to`: no complex to real, no
/// floating to integer, nothing but bool to bool.
inline constexpr bool canCast(const ::executorch::aten::ScalarType from,
                              const ::executorch::aten::ScalarType to) {
  return !(isComplexType(from) && !isComplexType(to)) &&
         !(isFloatingType(from) && isIntegralType(to, /*includeBool=*/false)) &&
         !(from != ::executorch::aten::ScalarType::Bool &&
           to == ::executorch::aten::ScalarType::Bool);
}

template <typename From, typename To>
struct can_cast : std::bool_constant<canCast(CppTypeToScalarType<From>::value,
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

namespace executorch {
namespace aten {
using ::executorch::runtime::elementSize;
}  // namespace aten
}  // namespace executorch

// ---- Sets of types: ET_INTERNAL_<SET>(X, ...) calls X(C++ type, name, ...) for each type
// ---------------------------------

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
#define ET_INTERNAL_BITS(X, ...)                                   \
  X(::executorch::runtime::etensor::bits1x8, Bits1x8, __VA_ARGS__) \
  X(::executorch::runtime::etensor::bits2x4, Bits2x4, __VA_ARGS__) \
  X(::executorch::runtime::etensor::bits4x2, Bits4x2, __VA_ARGS__) \
  X(::executorch::runtime::etensor::bits8, Bits8, __VA_ARGS__)     \
  X(::executorch::runtime::etensor::bits16, Bits16, __VA_ARGS__)
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
// -----------------------------

#define ET_INTERNAL_EACH(ctype, name, _) _(ctype, name)
#define ET_INTERNAL_EACH_WITH(ctype, name, _, a) _(a, ctype, name)
#define ET_INTERNAL_EACH_WITH2(ctype, name, _, a, b) _(a, b, ctype, name)

#define ET_FORALL_INT_TYPES(_) ET_INTERNAL_INT(ET_INTERNAL_EACH, _)
#define ET_FORALL_FLOAT_TYPES(_) ET_INTERNAL_FLOAT(ET_INTERNAL_EACH, _)
#define ET_FORALL_FLOATH_TYPES(_) ET_INTERNAL_FLOATH(ET_INTERNAL_EACH, _)
#define ET_FORALL_FLOATHBF16_TYPES(_) ET_INTERNAL_FLOATHBF16(ET_INTERNAL_EACH, _)
#define ET_FORALL_REAL_TYPES(_) ET_INTERNAL_REAL(ET_INTERNAL_EACH, _)
#define ET_FORALL_REALH_TYPES(_) ET_INTERNAL_REALH(ET_INTERNAL_EACH, _)
#define ET_FORALL_REALHBF16_TYPES(_) ET_INTERNAL_REALHBF16(ET_INTERNAL_EACH, _)
#define ET_FORALL_REALHBBF16_TYPES(_) ET_INTERNAL_REALHBBF16(ET_INTERNAL_EACH, _)
#define ET_FORALL_COMPLEX_TYPES(_) ET_INTERNAL_COMPLEX(ET_INTERNAL_EACH, _)
#define ET_FORALL_COMPLEXH_TYPES(_) ET_INTERNAL_COMPLEXH(ET_INTERNAL_EACH, _)
#define ET_FORALL_QINT_TYPES(_) ET_INTERNAL_QINT(ET_INTERNAL_EACH, _)

#define ET_FORALL_INT_TYPES_WITH(ANOTHER_INPUT, _) \
  ET_INTERNAL_INT(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT)
#define ET_FORALL_FLOAT_TYPES_WITH(ANOTHER_INPUT, _) \
  ET_INTERNAL_FLOAT(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT)
#define ET_FORALL_FLOATH_TYPES_WITH(ANOTHER_INPUT, _) \
  ET_INTERNAL_FLOATH(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT)
#define ET_FORALL_REAL_TYPES_WITH(ANOTHER_INPUT, _) \
  ET_INTERNAL_REAL(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT)
#define ET_FORALL_INT_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_INT(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2)
#define ET_FORALL_FLOAT_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_FLOAT(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2)
#define ET_FORALL_FLOATHBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_FLOATHBF16(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2)
#define ET_FORALL_REAL_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_REAL(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2)
#define ET_FORALL_REALHBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_REALHBF16(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2)
#define ET_FORALL_REALHBBF16_TYPES_WITH2(ANOTHER_INPUT1, ANOTHER_INPUT2, _) \
  ET_INTERNAL_REALHBBF16(ET_INTERNAL_EACH_WITH2, _, ANOTHER_INPUT1, ANOTHER_INPUT2)

#define ET_FORALL_INT_TYPES_AND(SCALARTYPE, _) \
  ET_INTERNAL_INT(ET_INTERNAL_EACH, _)         \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE, _)
#define ET_FORALL_FLOAT_TYPES_AND(SCALARTYPE, _) \
  ET_INTERNAL_FLOAT(ET_INTERNAL_EACH, _)         \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE, _)
#define ET_FORALL_FLOAT_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _) \
  ET_INTERNAL_FLOAT(ET_INTERNAL_EACH, _)                        \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE1, _)             \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE2, _)
#define ET_FORALL_REAL_TYPES_AND(SCALARTYPE, _) \
  ET_INTERNAL_REAL(ET_INTERNAL_EACH, _)         \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE, _)
#define ET_FORALL_REAL_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _) \
  ET_INTERNAL_REAL(ET_INTERNAL_EACH, _)                        \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE1, _)            \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE2, _)
#define ET_FORALL_REAL_TYPES_AND3(SCALARTYPE1, SCALARTYPE2, SCALARTYPE3, _) \
  ET_INTERNAL_REAL(ET_INTERNAL_EACH, _)                                     \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE1, _)                         \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE2, _)                         \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH, SCALARTYPE3, _)
#define ET_FORALL_REAL_TYPES_AND_WITH(SCALARTYPE, ANOTHER_INPUT, _) \
  ET_INTERNAL_REAL(ET_INTERNAL_EACH_WITH, _, ANOTHER_INPUT)         \
  ET_INTERNAL_ONE(ET_INTERNAL_EACH_WITH, SCALARTYPE, _, ANOTHER_INPUT)

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
