// SPDX-License-Identifier: BSD-3-Clause
// Bit counting, powers of two, alignment and saturating arithmetic under the names that sources of
// c10 use.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <torch/headeronly/util/bit_cast.h>

namespace c10 {
namespace llvm {

/// What to answer for 0, where the true answer is the type's width, its largest value, or nothing
/// in particular.
enum ZeroBehavior { ZB_Undefined, ZB_Max, ZB_Width };

namespace detail {
template <typename T>
inline constexpr unsigned kBits = std::numeric_limits<T>::digits;
template <typename T>
inline constexpr bool kIsUnsigned = std::numeric_limits<T>::is_integer && std::is_unsigned_v<T>;
}  // namespace detail

template <typename T>
std::size_t countTrailingZeros(T Val, [[maybe_unused]] ZeroBehavior ZB = ZB_Width) {
  static_assert(detail::kIsUnsigned<T>, "unsigned integers only");
  std::size_t count = 0;
  while (count < detail::kBits<T> && (Val >> count & 1) == 0) {
    ++count;
  }
  return count;
}
template <typename T>
std::size_t countLeadingZeros(T Val, [[maybe_unused]] ZeroBehavior ZB = ZB_Width) {
  static_assert(detail::kIsUnsigned<T>, "unsigned integers only");
  std::size_t count = 0;
  while (count < detail::kBits<T> && (Val >> (detail::kBits<T> - 1 - count) & 1) == 0) {
    ++count;
  }
  return count;
}
template <typename T>
std::size_t countLeadingOnes(T Value, ZeroBehavior ZB = ZB_Width) {
  return countLeadingZeros<T>(static_cast<T>(~Value), ZB);
}
template <typename T>
std::size_t countTrailingOnes(T Value, ZeroBehavior ZB = ZB_Width) {
  return countTrailingZeros<T>(static_cast<T>(~Value), ZB);
}
template <typename T>
inline unsigned countPopulation(T Value) {
  static_assert(detail::kIsUnsigned<T>, "unsigned integers only");
  unsigned count = 0;
  for (; Value != 0; Value &= static_cast<T>(Value - 1)) {
    ++count;
  }
  return count;
}

/// Index of the lowest or highest set bit; for 0 the type's largest value with ZB_Max.
template <typename T>
T findFirstSet(T Val, ZeroBehavior ZB = ZB_Max) {
  if (ZB == ZB_Max && Val == 0) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(countTrailingZeros(Val, ZB_Undefined));
}
template <typename T>
T findLastSet(T Val, ZeroBehavior ZB = ZB_Max) {
  if (ZB == ZB_Max && Val == 0) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(detail::kBits<T> - 1 - countLeadingZeros(Val, ZB_Undefined));
}

/// N ones at the low or high end, or the complement; N at most the width.
template <typename T>
T maskTrailingOnes(unsigned N) {
  static_assert(std::is_unsigned_v<T>, "unsigned integers only");
  return N == 0 ? T(0) : static_cast<T>(T(-1) >> (detail::kBits<T> - N));
}
template <typename T>
T maskLeadingOnes(unsigned N) {
  return static_cast<T>(~maskTrailingOnes<T>(detail::kBits<T> - N));
}
template <typename T>
T maskTrailingZeros(unsigned N) {
  return maskLeadingOnes<T>(detail::kBits<T> - N);
}
template <typename T>
T maskLeadingZeros(unsigned N) {
  return maskTrailingOnes<T>(detail::kBits<T> - N);
}
template <typename T>
T reverseBits(T Val) {
  T reversed = 0;
  for (unsigned i = 0; i < detail::kBits<T>; ++i) {
    reversed = static_cast<T>(reversed << 1 | (Val >> i & 1));
  }
  return reversed;
}

inline uint32_t Hi_32(uint64_t Value) {
  return static_cast<uint32_t>(Value >> 32);
}
inline uint32_t Lo_32(uint64_t Value) {
  return static_cast<uint32_t>(Value);
}
inline uint64_t Make_64(uint32_t High, uint32_t Low) {
  return static_cast<uint64_t>(High) << 32 | Low;
}

/// Whether x is an N-bit integer, possibly shifted left by S.
inline uint64_t maxUIntN(uint64_t N) {
  return N == 0 ? 0 : UINT64_MAX >> (64 - N);
}
inline int64_t minIntN(int64_t N) {
  return N == 0 ? 0 : -static_cast<int64_t>(maxUIntN(static_cast<uint64_t>(N - 1))) - 1;
}
inline int64_t maxIntN(int64_t N) {
  return N == 0 ? 0 : static_cast<int64_t>(maxUIntN(static_cast<uint64_t>(N - 1)));
}
inline bool isUIntN(unsigned N, uint64_t x) {
  return N >= 64 || x <= maxUIntN(N);
}
inline bool isIntN(unsigned N, int64_t x) {
  return N >= 64 || (minIntN(N) <= x && x <= maxIntN(N));
}
template <unsigned N>
constexpr inline bool isInt(int64_t x) {
  return N >= 64 || (-(INT64_C(1) << (N - 1)) <= x && x < (INT64_C(1) << (N - 1)));
}
template <unsigned N>
constexpr inline bool isUInt(uint64_t X) {
  if constexpr (N >= 64) {
    return true;
  } else {
    return X < (UINT64_C(1) << N);
  }
}
template <unsigned N, unsigned S>
constexpr inline bool isShiftedInt(int64_t x) {
  static_assert(N > 0 && N + S <= 64, "at most 64 bits");
  return isInt<N + S>(x) && x % (INT64_C(1) << S) == 0;
}
template <unsigned N, unsigned S>
constexpr inline bool isShiftedUInt(uint64_t x) {
  static_assert(N > 0 && N + S <= 64, "at most 64 bits");
  return isUInt<N + S>(x) && x % (UINT64_C(1) << S) == 0;
}

/// A mask is a run of ones from bit 0 on; a shifted mask a run anywhere.
constexpr inline bool isMask_64(uint64_t Value) {
  return Value != 0 && ((Value + 1) & Value) == 0;
}
constexpr inline bool isMask_32(uint32_t Value) {
  return Value != 0 && ((Value + 1) & Value) == 0;
}
constexpr inline bool isShiftedMask_64(uint64_t Value) {
  return Value != 0 && isMask_64((Value - 1) | Value);
}
constexpr inline bool isShiftedMask_32(uint32_t Value) {
  return Value != 0 && isMask_32((Value - 1) | Value);
}
constexpr inline bool isPowerOf2_64(uint64_t Value) {
  return Value != 0 && (Value & (Value - 1)) == 0;
}
constexpr inline bool isPowerOf2_32(uint32_t Value) {
  return isPowerOf2_64(Value);
}

/// Floor and ceiling of the logarithm; for 0 the floor is the type's largest value.
inline unsigned Log2_32(uint32_t Value) {
  return 31u - static_cast<unsigned>(countLeadingZeros(Value));
}
inline unsigned Log2_64(uint64_t Value) {
  return 63u - static_cast<unsigned>(countLeadingZeros(Value));
}
inline unsigned Log2_32_Ceil(uint32_t Value) {
  return 32u - static_cast<unsigned>(countLeadingZeros(Value - 1));
}
inline unsigned Log2_64_Ceil(uint64_t Value) {
  return 64u - static_cast<unsigned>(countLeadingZeros(Value - 1));
}
inline double Log2(double Value) {
  return std::log2(Value);
}

inline uint64_t GreatestCommonDivisor64(uint64_t A, uint64_t B) {
  while (B != 0) {
    const uint64_t rest = A % B;
    A = B;
    B = rest;
  }
  return A;
}

inline double BitsToDouble(uint64_t Bits) {
  return bit_cast<double>(Bits);
}
inline float BitsToFloat(uint32_t Bits) {
  return bit_cast<float>(Bits);
}
inline uint64_t DoubleToBits(double Double) {
  return bit_cast<uint64_t>(Double);
}
inline uint32_t FloatToBits(float Float) {
  return bit_cast<uint32_t>(Float);
}

/// The largest power of two that divides both.
constexpr inline uint64_t MinAlign(uint64_t A, uint64_t B) {
  return (A | B) & (1 + ~(A | B));
}
/// The next power of two: greater than A, at least A, at most A. 0 when it does not fit or A is 0.
inline uint64_t NextPowerOf2(uint64_t A) {
  return A == UINT64_MAX || A >> 63 != 0 ? 0 : UINT64_C(1) << (64 - countLeadingZeros(A));
}
inline uint64_t PowerOf2Ceil(uint64_t A) {
  return A == 0 ? 0 : NextPowerOf2(A - 1);
}
inline uint64_t PowerOf2Floor(uint64_t A) {
  return A == 0 ? 0 : UINT64_C(1) << Log2_64(A);
}

/// Multiples of Align shifted by Skew: the next at or after Value, and the last at or before it.
inline uint64_t alignDown(uint64_t Value, uint64_t Align, uint64_t Skew = 0) {
  Skew %= Align;
  return (Value - Skew) / Align * Align + Skew;
}
inline uint64_t alignTo(uint64_t Value, uint64_t Align, uint64_t Skew = 0) {
  Skew %= Align;
  return (Value + Align - 1 - Skew) / Align * Align + Skew;
}
template <uint64_t Align>
constexpr inline uint64_t alignTo(uint64_t Value) {
  static_assert(Align != 0, "no alignment");
  return (Value + Align - 1) / Align * Align;
}
template <uint64_t Align>
struct AlignTo {
  static_assert(Align != 0, "no alignment");
  template <uint64_t Value>
  struct from_value {
    static const uint64_t value = (Value + Align - 1) / Align * Align;
  };
};
inline uint64_t divideCeil(uint64_t Numerator, uint64_t Denominator) {
  return alignTo(Numerator, Denominator) / Denominator;
}
inline uint64_t OffsetToAlignment(uint64_t Value, uint64_t Align) {
  return alignTo(Value, Align) - Value;
}
/// Alignment is a power of two.
inline uintptr_t alignAddr(const void* Addr, size_t Alignment) {
  return (reinterpret_cast<uintptr_t>(Addr) + Alignment - 1) &
         ~static_cast<uintptr_t>(Alignment - 1);
}
inline size_t alignmentAdjustment(const void* Ptr, size_t Alignment) {
  return alignAddr(Ptr, Alignment) - reinterpret_cast<uintptr_t>(Ptr);
}

/// The low B bits as a signed number.
inline int32_t SignExtend32(uint32_t X, unsigned B) {
  return static_cast<int32_t>(X << (32 - B)) >> (32 - B);
}
inline int64_t SignExtend64(uint64_t X, unsigned B) {
  return static_cast<int64_t>(X << (64 - B)) >> (64 - B);
}
template <unsigned B>
constexpr inline int32_t SignExtend32(uint32_t X) {
  static_assert(B > 0 && B <= 32, "1 to 32 bits");
  return static_cast<int32_t>(X << (32 - B)) >> (32 - B);
}
template <unsigned B>
constexpr inline int64_t SignExtend64(uint64_t x) {
  static_assert(B > 0 && B <= 64, "1 to 64 bits");
  return static_cast<int64_t>(x << (64 - B)) >> (64 - B);
}

/// |X - Y|, and arithmetic that stops at the largest value and tells so.
template <typename T>
std::enable_if_t<std::is_unsigned_v<T>, T> AbsoluteDifference(T X, T Y) {
  return X > Y ? X - Y : Y - X;
}
template <typename T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingAdd(T X, T Y,
                                                         bool* ResultOverflowed = nullptr) {
  const bool overflowed = X > static_cast<T>(std::numeric_limits<T>::max() - Y);
  if (ResultOverflowed != nullptr) {
    *ResultOverflowed = overflowed;
  }
  return overflowed ? std::numeric_limits<T>::max() : static_cast<T>(X + Y);
}
template <typename T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingMultiply(T X, T Y,
                                                              bool* ResultOverflowed = nullptr) {
  const bool overflowed = Y != 0 && X > std::numeric_limits<T>::max() / Y;
  if (ResultOverflowed != nullptr) {
    *ResultOverflowed = overflowed;
  }
  return overflowed ? std::numeric_limits<T>::max() : static_cast<T>(X * Y);
}
template <typename T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingMultiplyAdd(T X, T Y, T A,
                                                                 bool* ResultOverflowed = nullptr) {
  bool overflowed = false;
  const T product = SaturatingMultiply(X, Y, &overflowed);
  if (overflowed) {
    if (ResultOverflowed != nullptr) {
      *ResultOverflowed = true;
    }
    return product;
  }
  return SaturatingAdd(product, A, ResultOverflowed);
}

}  // namespace llvm
}  // namespace c10
