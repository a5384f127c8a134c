// SPDX-License-Identifier: BSD-3-Clause
// Products of bytes, added to sums of 32 bits: what matmuls of int8 and of blocks of a few bits are
// made of. Included once per target, as simd_math-inl.h is.
//
// A kind of dot products is a struct. A sum is a vector of kRows rows of the left matrix by
// lanes / kRows columns of the right one; a right vector has kDepth bytes of each of these columns,
// side by side. Left rows are taken kStretch bytes at a time: `load` gives those of kRows rows,
// `add` the products of kDepth of them. `turn` changes the sums of kRows rows between that order
// and one row a vector, in either direction.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_INT8_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_INT8_DOTS_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_INT8_DOTS_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_INT8_DOTS_INL_H_
#endif

#include <executorch/kernels/optimized/int8_dots/arm_dots.h>
#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <utility>

#if HWY_ARCH_ARM_A64 && !HWY_COMPILER_MSVC
#define EXECUTORCH_ARM_DOTS 1
#else
#define EXECUTORCH_ARM_DOTS 0
#endif

#ifndef EXECUTORCH_ARM_VECTOR_NUMBERS
// Assemblers take the instructions by name only in a file that is for such processors as a whole.
// So they are written as words, with the numbers of the vectors that the compiler chooses.
#define EXECUTORCH_ARM_VECTOR_NUMBERS                                     \
  ".ifndef .Let_v31\n\t"                                                  \
  ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23," \
  "24,25,26,27,28,29,30,31\n\t.set .Let_v\\r,\\r\n\t.endr\n\t.endif\n\t"
#endif

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using DSum = hn::CappedTag<int32_t, 16>;
using VSum = hn::Vec<DSum>;
using DRight = hn::Repartition<uint8_t, DSum>;
using VRight = hn::Vec<DRight>;
using DLeft = hn::Repartition<int8_t, DSum>;

// kDepth bytes of one row for all columns.
HWY_INLINE hn::Vec<DLeft> four_of(const int8_t* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof word);
  return hn::BitCast(DLeft(), hn::Set(DSum(), word));
}

// By Highway. Right bytes have no sign; x86 has instructions for that.
struct UnsignedDots {
  using OneRow = UnsignedDots;
  using Left = const int8_t*;
  static constexpr int kRows = 1, kDepth = 4, kStretch = 4;
  static constexpr bool kIsInstruction = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL;
  static HWY_INLINE Left load(const int8_t* row, const int8_t*) { return row; }
  template <int kStep>
  static HWY_INLINE VSum add(VRight right, Left left, VSum sum) {
    return hn::SumOfMulQuadAccumulate(DSum(), right, four_of(left), sum);
  }
  static HWY_INLINE void turn(VSum&, VSum&) {}
};

// The kinds for Arm: right bytes have a sign.
struct SignedDots {
  using OneRow = SignedDots;
  using Left = const int8_t*;
  static constexpr int kRows = 1, kDepth = 4, kStretch = 16;
  static constexpr bool kIsInstruction = false;
  static HWY_INLINE Left load(const int8_t* row, const int8_t*) { return row; }
  template <int kStep>
  static HWY_INLINE VSum add(VRight right, Left left, VSum sum) {
    const auto a = hn::BitCast(DLeft(), right), b = four_of(left + kStep * kDepth);
#if HWY_ARCH_ARM_A64  // Highway takes 11 instructions
    const int16x8_t low = vmull_s8(vget_low_s8(a.raw), vget_low_s8(b.raw));
    const int16x8_t high = vmull_high_s8(a.raw, b.raw);
    return VSum(vaddq_s32(sum.raw, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high))));
#else
    return hn::SumOfMulQuadAccumulate(DSum(), a, b, sum);
#endif
  }
  static HWY_INLINE void turn(VSum&, VSum&) {}
};

#if EXECUTORCH_ARM_DOTS

struct Sdot : SignedDots {
  static constexpr bool kIsInstruction = true;
  using OneRow = Sdot;
  using Left = hn::Vec<DLeft>;
  static HWY_INLINE Left load(const int8_t* row, const int8_t*) { return hn::LoadU(DLeft(), row); }
  template <int kStep>  // SDOT sum.4s, right.16b, left.4b[kStep]
  static HWY_INLINE VSum add(VRight right, Left left, VSum sum) {
    constexpr int kWord = 0x4F80E000 | (kStep & 1) << 21 | (kStep >> 1) << 11;
    asm volatile(EXECUTORCH_ARM_VECTOR_NUMBERS ".inst %c3 | .Let_%0 | .Let_%1 << 5 | .Let_%2 << 16"
                 : "+w"(sum.raw)
                 : "w"(right.raw), "w"(left.raw), "i"(kWord));
    return sum;
  }
};

// For one row it would waste half of what it does.
struct Smmla {
  using OneRow = Sdot;
  struct Left {
    HWY_INLINE Left() {}  // clang compiles one of its own making without the target's instructions
    hn::Vec<DLeft> eight[2];  // of one row, then of the other
  };
  static constexpr int kRows = 2, kDepth = 8, kStretch = 16;
  static constexpr bool kIsInstruction = true;
  static HWY_INLINE Left load(const int8_t* row, const int8_t* next) {
    const DLeft d;
    const hn::Repartition<int64_t, DSum> d64;
    const auto a = hn::BitCast(d64, hn::LoadU(d, row)), b = hn::BitCast(d64, hn::LoadU(d, next));
    Left left;
    left.eight[0] = hn::BitCast(d, hn::InterleaveLower(d64, a, b));
    left.eight[1] = hn::BitCast(d, hn::InterleaveUpper(d64, a, b));
    return left;
  }
  template <int kStep>  // SMMLA sum.4s, left.16b, right.16b
  static HWY_INLINE VSum add(VRight right, const Left& left, VSum sum) {
    asm volatile(EXECUTORCH_ARM_VECTOR_NUMBERS
                 ".inst 0x4E80A400 | .Let_%0 | .Let_%1 << 5 | .Let_%2 << 16"
                 : "+w"(sum.raw)
                 : "w"(left.eight[kStep].raw), "w"(right.raw));
    return sum;
  }
  static HWY_INLINE void turn(VSum& first, VSum& second) {
    const hn::Repartition<int64_t, DSum> d64;
    const auto a = hn::BitCast(d64, first), b = hn::BitCast(d64, second);
    first = hn::BitCast(DSum(), hn::InterleaveLower(d64, a, b));
    second = hn::BitCast(DSum(), hn::InterleaveUpper(d64, a, b));
  }
};

#endif  // EXECUTORCH_ARM_DOTS

#if HWY_ARCH_ARM
using TargetDots = SignedDots;
#else
using TargetDots = UnsignedDots;
#endif

// What `of` gives of the kind that the processor has: of(Dots()).
template <class Of>
HWY_INLINE auto with_dots(const Of& of) {
#if EXECUTORCH_ARM_DOTS
  switch (arm_dots()) {
    case ArmDots::kMatrix:
      return of(Smmla());
    case ArmDots::kDot:
      return of(Sdot());
    case ArmDots::kNone:
      break;
  }
#endif
  return of(TargetDots());
}

// Products of a stretch of kRows left rows, loaded in groups of Dots::kRows. right(step, i) is the
// i-th of the step's right vectors, of which Dots::kRows belong to a vector of a row's sums.
template <class Dots, int kStep = 0, int kRows, int kVectors, class Sum, class Right>
HWY_INLINE void add_stretch(const typename Dots::Left (&left)[kRows / Dots::kRows],
                            const Right& right, Sum (&sums)[kRows][kVectors]) {
  if constexpr (kStep < Dots::kStretch / Dots::kDepth) {
    constexpr int kOfSum = Dots::kRows, kRights = kVectors * kOfSum;
    decltype(right(0, 0)) vectors[kRights];
#pragma GCC unroll 8
    for (int i = 0; i < kRights; ++i) {
      vectors[i] = right(kStep, i);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        sums[r][i] = Dots::template add<kStep>(vectors[i * kOfSum + r % kOfSum], left[r / kOfSum],
                                               sums[r][i]);
      }
    }
    add_stretch<Dots, kStep + 1>(left, right, sums);
  }
}

// Sums of kRows rows, from a vector a row to the order of Dots or back.
template <class Dots, int kRows, int kVectors, class Sum>
HWY_INLINE void turn_sums(Sum (&sums)[kRows][kVectors]) {
  if constexpr (Dots::kRows == 2) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; r += 2) {
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        Dots::turn(sums[r][i], sums[r + 1][i]);
      }
    }
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif
