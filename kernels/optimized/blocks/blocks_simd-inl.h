// SPDX-License-Identifier: BSD-3-Clause
// A panel's 16 rows are lanes: one instruction multiplies 4 codes of each with 4 activations, which
// are broadcast. A few rows of activations take codes out of their bits as they go, since memory
// sets the pace; many take bytes that were unpacked once. Included once per target, as
// simd_math-inl.h is.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_BLOCKS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_BLOCKS_SIMD_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_BLOCKS_SIMD_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_BLOCKS_SIMD_INL_H_
#endif

#include <executorch/kernels/optimized/blocks/block_rows-inl.h>
#include <executorch/kernels/optimized/blocks/block_tiles-inl.h>
#include <executorch/kernels/optimized/int8_dots/int8_dots-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using DB = hn::Repartition<uint8_t, DF>;
using DS = hn::Repartition<int8_t, DF>;
using D16 = hn::Repartition<uint16_t, DF>;
using VI = hn::Vec<DI>;
using VB = hn::Vec<DB>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(DF()));
constexpr int kParts = static_cast<int>(kPanelRows) / kLanes;  // vectors of a panel's rows

HWY_INLINE VF load_halves(const uint8_t* from, int part) {
  const hn::Rebind<hwy::float16_t, DF> d;
  hwy::float16_t halves[kLanes];
  std::memcpy(halves, from + part * 2 * kLanes, sizeof halves);
  return hn::PromoteTo(DF(), hn::LoadU(d, halves));
}

HWY_INLINE VF load_bfloat16(const uint8_t* from, int part) {
  const hn::Rebind<uint16_t, DF> d;
  uint16_t bits[kLanes];
  std::memcpy(bits, from + part * 2 * kLanes, sizeof bits);
  return hn::BitCast(DF(), hn::ShiftLeft<16>(hn::PromoteTo(DI(), hn::LoadU(d, bits))));
}

template <bool kSigned>
HWY_INLINE VF load_bytes(const uint8_t* from, int part) {
#if HWY_ARCH_ARM_A64  // loads the bytes of all parts once
  using Wide = std::conditional_t<kSigned, int16_t, uint16_t>;
  const hn::Repartition<std::conditional_t<kSigned, int8_t, uint8_t>, DF> d;
  const hn::Repartition<Wide, DF> d16;
  const auto bytes = hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, DF>(), from));
  const auto wide = part < 2 ? hn::PromoteLowerTo(d16, bytes) : hn::PromoteUpperTo(d16, bytes);
  const auto words =
      part % 2 == 0 ? hn::PromoteLowerTo(DI(), wide) : hn::PromoteUpperTo(DI(), wide);
  return hn::ConvertTo(DF(), words);
#else
  const hn::Rebind<std::conditional_t<kSigned, int8_t, uint8_t>, DF> d;
  const auto* bytes = reinterpret_cast<const hn::TFromD<decltype(d)>*>(from + part * kLanes);
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(d, bytes)));
#endif
}

// The field of a quad in a plane of kBits, moved to begin at bit kTo. kAny: what the other bits are
// does not matter.
template <int kBits, int kQuad, int kTo, bool kAny = false>
HWY_INLINE VB field(const uint8_t* plane, int part) {
  constexpr int kPerByte = 8 / kBits, kShift = kQuad % kPerByte * kBits - kTo;
  const DB d;
  VB bytes = hn::LoadU(d, plane + kQuad / kPerByte * kQuadBytes + part * 4 * kLanes);
  if constexpr (kBits == 8) {
    return bytes;
  } else if constexpr (HWY_ARCH_ARM && (kAny || kShift == 8 - kBits)) {  // shifts within bytes
    if constexpr (kShift > 0) {
      return hn::ShiftRight<kShift>(bytes);
    } else {
      return hn::ShiftLeft<-kShift>(bytes);
    }
  } else {
    if constexpr (kShift > 0) {
      bytes = hn::BitCast(d, hn::ShiftRight<kShift>(hn::BitCast(D16(), bytes)));
    } else if constexpr (kShift < 0) {
      bytes = hn::BitCast(d, hn::ShiftLeft<-kShift>(hn::BitCast(D16(), bytes)));
    }
    return hn::And(bytes, hn::Set(d, static_cast<uint8_t>(((1 << kBits) - 1) << kTo)));
  }
}

template <int kFormat>
constexpr bool kIsSmall = kBlockFormats[kFormat].low_bits < 8 && !kBlockFormats[kFormat].is_table;

// Codes that are not small have the offset 128. Arm's are less that, bytes with a sign.
constexpr bool kIsSigned = HWY_ARCH_ARM;

template <int kFormat, int kQuad>
HWY_INLINE VB codes_of(const uint8_t* planes, int part) {
  constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  VB codes = field<kFacts.low_bits, kQuad, 0>(planes, part);
  if constexpr (kFacts.high_bits != 0) {
    const uint8_t* high = planes + plane_bytes(kFacts.low_bits);
    constexpr int kTo = kFacts.low_bits, kMask = ((1 << kFacts.high_bits) - 1) << kTo;
    const VB bits = field<kFacts.high_bits, kQuad, kTo, HWY_ARCH_ARM>(high, part);
    codes = HWY_ARCH_ARM ? hn::BitwiseIfThenElse(hn::Set(DB(), uint8_t{kMask}), bits, codes)
                         : hn::Or(codes, bits);
  }
  if constexpr (kFacts.is_table) {
    const VB values = hn::LoadDup128(DB(), kTableValues);
    codes =
        hn::TableLookupBytes(kIsSigned ? hn::Xor(values, hn::Set(DB(), kHigher)) : values, codes);
  } else if constexpr (kIsSigned && !kIsSmall<kFormat>) {
    codes = hn::Xor(codes, hn::Set(DB(), kHigher));
  }
  return codes;
}

#if HWY_ARCH_ARM
template <class Dots, bool kSmall>
using DotsOf = Dots;
template <bool kSmall>
constexpr bool kTakesOffset = !kSmall;
#else
// Whether products are those of codes less their offset, 128, instead of codes: where a product of
// 8 bits with and 8 bits without sign is added to its neighbor in 16, there is room for these only.
template <bool kSmall>
constexpr bool kTakesOffset = !kSmall && !(HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86);

// kSmall: codes of at most 6 bits, others are 128 too high.
template <class Dots, bool kSmall>
struct DotsOf : Dots {
  using OneRow = DotsOf;
  template <int kStep>
  static HWY_INLINE VI add(VB codes, const int8_t* activations, VI sum) {
#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
    return Dots::template add<kStep>(codes, activations, sum);
#else
    const hn::Repartition<int16_t, DF> d16;
    const auto ones = hn::Set(d16, int16_t{1});
    const auto x = four_of(activations);
    if constexpr (kSmall) {
      const auto pairs = hn::SatWidenMulPairwiseAdd(d16, codes, x);
      return hn::Add(sum, hn::WidenMulPairwiseAdd(DI(), pairs, ones));
    } else {  // magnitudes up to 128 times 127, whose signs activations take over
      const auto values = hn::BitCast(DS(), hn::Xor(codes, hn::Set(DB(), kHigher)));
      const auto pairs = hn::SatWidenMulPairwiseAdd(d16, hn::BitCast(DB(), hn::Abs(values)),
                                                    hn::IfNegativeThenNegOrUndefIfZero(values, x));
      return hn::Add(sum, hn::WidenMulPairwiseAdd(DI(), pairs, ones));
    }
#endif
  }
};
#endif  // HWY_ARCH_ARM

// One step of a stretch: a quad with kRows rows.
template <class Dots, int kFormat, int kRows, int kQuad, int kStep>
HWY_INLINE void add_quads(const uint8_t* planes, const typename Dots::Left (&x)[kRows],
                          VI (&sums)[kRows][kParts]) {
  if constexpr (kStep < Dots::kStretch / Dots::kDepth) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      const VB codes = codes_of<kFormat, kQuad + kStep>(planes, part);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        sums[r][part] = Dots::template add<kStep>(codes, x[r], sums[r][part]);
      }
    }
    add_quads<Dots, kFormat, kRows, kQuad, kStep + 1>(planes, x, sums);
  }
}

// Quads [kQuad, kEnd) of a unit with kRows rows, whose codes of the unit begin at x.
template <class Dots, int kFormat, int kRows, int kQuad, int kEnd>
HWY_INLINE void add_stretches(const uint8_t* planes, const int8_t* const (&x)[kRows], int64_t at,
                              VI (&sums)[kRows][kParts]) {
  if constexpr (kQuad < kEnd) {
    typename Dots::Left left[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      left[r] = Dots::load(x[r] + at + 4 * kQuad, nullptr);
    }
    add_quads<Dots, kFormat, kRows, kQuad, 0>(planes, left, sums);
    add_stretches<Dots, kFormat, kRows, kQuad + Dots::kStretch / 4, kEnd>(planes, x, at, sums);
  }
}

// Scales and what is added per sum, of the groups of a unit.
template <int kFormat>
struct Numbers {
  static constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  static constexpr bool kHasMinima = kFacts.minima != Minima::kNone;

  HWY_INLINE Numbers() {}  // clang compiles one of its own making without the target's instructions

  // `panel` is at a block; its factors are converted once.
  HWY_INLINE void begin_block(const uint8_t* panel) {
    if constexpr (kFacts.byte_scales) {
#pragma GCC unroll 8
      for (int part = 0; part < kParts; ++part) {
        scale_factors[part] = load_halves(panel, part);
        if constexpr (kHasMinima) {
          minimum_factors[part] = hn::Neg(load_halves(panel + 2 * kPanelRows, part));
        }
      }
    } else if constexpr (kFacts.by_rows) {
#pragma GCC unroll 8
      for (int part = 0; part < kParts; ++part) {
        scale_factors[part] = load_bfloat16(panel, part);
      }
    }
  }
  HWY_INLINE VF scale(const uint8_t* unit, int group, int part) const {
    if constexpr (kFacts.by_rows) {
      return scale_factors[part];
    } else if constexpr (kFacts.byte_scales) {
      return hn::Mul(scale_factors[part],
                     load_bytes<kFacts.signed_scales>(unit + group * kPanelRows, part));
    } else {
      return load_halves(unit, part);
    }
  }
  HWY_INLINE VF minimum(const uint8_t* unit, int group, int part) const {
    const uint8_t* at = unit + scale_bytes(kFacts);
    if constexpr (kFacts.minima == Minima::kByte) {
      return hn::Mul(minimum_factors[part], load_bytes<false>(at + group * kPanelRows, part));
    } else {
      return load_halves(at, part);
    }
  }

  VF scale_factors[kParts], minimum_factors[kParts];
};

// How far ahead weights are fetched: processors stop doing it by themselves at the end of a page.
constexpr int64_t kAhead = 3072;

template <int kFormat, int64_t kFrom = 0>
HWY_INLINE void fetch_ahead(const uint8_t* unit) {
  if constexpr (kFrom < unit_bytes(kBlockFormats[kFormat])) {
    __builtin_prefetch(unit + kAhead + kFrom);
    fetch_ahead<kFormat, kFrom + kLine>(unit);
  }
}

// A block of a format by rows, whose units begin at `unit`.
template <class Dots, int kFormat, int kRows>
HWY_INLINE void add_block(const Numbers<kFormat>& numbers, const uint8_t* unit, int64_t index,
                          int64_t count, const BlockRows& x, const int8_t* const (&codes)[kRows],
                          const int64_t (&rows)[kRows], VF (&totals)[kRows][kParts]) {
  const int64_t units = x.k / kUnit;
  VI sums[kRows][kParts];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      sums[r][part] = hn::Set(DI(), x.starts[rows[r] * units + index]);
    }
  }
  for (int64_t i = 0; i < count; ++i, unit += unit_bytes(kBlockFormats[kFormat])) {
    fetch_ahead<kFormat>(unit);
    add_stretches<Dots, kFormat, kRows, 0, kQuads>(unit, codes, (index + i) * kUnit, sums);
  }
#pragma GCC unroll 8
  for (int part = 0; part < kParts; ++part) {
    const VF scale = numbers.scale(nullptr, 0, part);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      totals[r][part] = hn::MulAdd(hn::ConvertTo(DF(), sums[r][part]), scale, totals[r][part]);
    }
  }
}

template <class Dots, int kFormat, int kRows, int kGroup>
HWY_INLINE void add_group(const Numbers<kFormat>& numbers, const uint8_t* unit, int64_t index,
                          const BlockRows& x, const int8_t* const (&codes)[kRows],
                          const int64_t (&rows)[kRows], VF (&totals)[kRows][kParts]) {
  constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  constexpr int kGroups = kFacts.groups_per_unit(), kSpan = kQuads / kGroups;
  constexpr int64_t kPlanes = scale_bytes(kFacts) + minima_bytes(kFacts);
  const int64_t units = x.k / kUnit;
  VI sums[kRows][kParts];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      sums[r][part] = kFacts.offset == 0 || kTakesOffset<kIsSmall<kFormat>>
                          ? hn::Zero(DI())
                          : hn::Set(DI(), x.starts[(rows[r] * units + index) * kGroups + kGroup]);
    }
  }
  add_stretches<Dots, kFormat, kRows, kGroup * kSpan, (kGroup + 1) * kSpan>(unit + kPlanes, codes,
                                                                            index * kUnit, sums);
#pragma GCC unroll 8
  for (int part = 0; part < kParts; ++part) {
    const VF scale = numbers.scale(unit, kGroup, part);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const VF by = hn::Mul(scale, hn::Set(DF(), x.scales[rows[r] * units + index]));
      totals[r][part] = hn::MulAdd(hn::ConvertTo(DF(), sums[r][part]), by, totals[r][part]);
    }
    if constexpr (Numbers<kFormat>::kHasMinima) {
      const VF minimum = numbers.minimum(unit, kGroup, part);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const VF sum = hn::Set(DF(), x.sums[(rows[r] * units + index) * kGroups + kGroup]);
        totals[r][part] = hn::MulAdd(minimum, sum, totals[r][part]);
      }
    }
  }
}

template <class Dots, int kFormat, int kRows>
void few_rows_of(int64_t block_units, const uint8_t* panel, const BlockRows& x, int64_t first,
                 int64_t rows, float* out, int64_t stride) {
  constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  VF totals[kRows][kParts];
  const int8_t* codes[kRows];
  int64_t places[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    places[r] = first + std::min<int64_t>(r, rows - 1);
    codes[r] = x.codes + places[r] * x.k;
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      totals[r][part] = hn::Zero(DF());
    }
  }
  Numbers<kFormat> numbers;
  for (int64_t index = 0; index < x.k / kUnit;) {
    numbers.begin_block(panel);
    panel += factor_bytes(kFacts);
    if constexpr (kFacts.by_rows) {
      add_block<Dots, kFormat, kRows>(numbers, panel, index, block_units, x, codes, places, totals);
      index += block_units;
      panel += block_units * unit_bytes(kFacts);
      continue;
    }
    for (int unit = 0; unit < kFacts.units_per_block(); ++unit, ++index) {
      fetch_ahead<kFormat>(panel);
      add_group<Dots, kFormat, kRows, 0>(numbers, panel, index, x, codes, places, totals);
      if constexpr (kFacts.groups_per_unit() == 2) {
        add_group<Dots, kFormat, kRows, 1>(numbers, panel, index, x, codes, places, totals);
      }
      panel += unit_bytes(kFacts);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      hn::StoreU(totals[r][part], DF(), out + r * stride + part * kLanes);
    }
  }
}

template <class Dots, int kFormat>
void few_rows_for(int64_t block_units, const uint8_t* panel, const BlockRows& x, int64_t first,
                  int64_t rows, float* out, int64_t stride) {
  using Own = typename DotsOf<Dots, kIsSmall<kFormat>>::OneRow;
  if (rows == 1) {
    few_rows_of<Own, kFormat, 1>(block_units, panel, x, first, rows, out, stride);
  } else if (rows == 2) {
    few_rows_of<Own, kFormat, 2>(block_units, panel, x, first, rows, out, stride);
  } else {
    few_rows_of<Own, kFormat, 4>(block_units, panel, x, first, rows, out, stride);
  }
}

// What many rows multiply: codes as they are, or with a sign less their offset.
template <int kFormat, bool kSigned, int kQuad>
HWY_INLINE VB values_of(const uint8_t* planes, int part) {
  const VB codes = codes_of<kFormat, kQuad>(planes, part);
  constexpr int kOffset = kBlockFormats[kFormat].offset;
  if constexpr (kSigned && kOffset != 0 && (kIsSmall<kFormat> || !kIsSigned)) {
    return hn::Sub(codes, hn::Set(DB(), uint8_t{kOffset}));
  }
  return codes;
}

// The bytes that a step takes of a column, side by side: kTogether quads.
template <int kTogether, int kFormat, bool kSigned, int kQuad>
HWY_INLINE void store_quads(const uint8_t* planes, uint8_t* codes) {
  if constexpr (kQuad < kQuads) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      uint8_t* to = codes + kQuad * kQuadBytes + part * kTogether * 4 * kLanes;
      const VB values = values_of<kFormat, kSigned, kQuad>(planes, part);
      if constexpr (kTogether == 1) {
        hn::StoreU(values, DB(), to);
      } else {
        const DI d;
        const auto first = hn::BitCast(d, values);
        const auto second = hn::BitCast(d, values_of<kFormat, kSigned, kQuad + 1>(planes, part));
        hn::StoreU(hn::BitCast(DB(), hn::InterleaveLower(d, first, second)), DB(), to);
        hn::StoreU(hn::BitCast(DB(), hn::InterleaveUpper(d, first, second)), DB(), to + 4 * kLanes);
      }
    }
    store_quads<kTogether, kFormat, kSigned, kQuad + kTogether>(planes, codes);
  }
}

template <int kTogether, int kFormat, bool kSigned = kIsSigned>
void unpack_for(int64_t block_units, const uint8_t* panel, int64_t columns,
                const UnpackedPanel& out) {
  constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  constexpr int kGroups = kFacts.groups_per_unit();
  Numbers<kFormat> numbers;
  for (int64_t index = 0; index < columns / kUnit;) {
    numbers.begin_block(panel);
    panel += factor_bytes(kFacts);
    const int64_t units = kFacts.by_rows ? block_units : kFacts.units_per_block();
    for (int64_t unit = 0; unit < units; ++unit, ++index) {
      store_quads<kTogether, kFormat, kSigned, 0>(
          panel + scale_bytes(kFacts) + minima_bytes(kFacts),
          out.codes + index * kUnit * kPanelRows);
      for (int group = 0; group < kGroups; ++group) {
        const int64_t at = (index * kGroups + group) * kPanelRows;
#pragma GCC unroll 8
        for (int part = 0; part < kParts; ++part) {
          hn::StoreU(numbers.scale(panel, group, part), DF(), out.scales + at + part * kLanes);
          if constexpr (Numbers<kFormat>::kHasMinima) {
            hn::StoreU(numbers.minimum(panel, group, part), DF(), out.minima + at + part * kLanes);
          }
        }
      }
      panel += unit_bytes(kFacts);
    }
  }
}

// Of a tile. With AVX-512, 12 sums hide the time that an instruction takes.
template <class Dots>
struct TileSize {
#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
  static constexpr int kPanels = 2, kRows = 6;
#elif HWY_ARCH_ARM
  static constexpr int kPanels = 1, kRows = Dots::kRows == 1 ? 3 : 4;
#else
  static constexpr int kPanels = 1, kRows = 2;
#endif
  static constexpr int kLeastRows = (kRows / 2 + 1) / Dots::kRows * Dots::kRows;
  static constexpr int kVectors = kPanels * kParts;  // of a row's sums
};

// What of a format the tiles depend on.
template <int kFormat>
struct TileFacts {
  static constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  static constexpr int kGroups = kFacts.groups_per_unit();
  static constexpr bool kByRows = kFacts.by_rows;
  static constexpr bool kMinima = kFacts.minima != Minima::kNone;
  static constexpr bool kSmall = kIsSigned || kIsSmall<kFormat>;
  static constexpr bool kStarts = !kIsSigned && kFacts.offset != 0 && !kTakesOffset<kSmall>;
};

// A tile's sums of a group, and what their scales make of them.
template <class Dots, int kGroups, bool kMinima, bool kStarts, bool kByRows, int kRows>
struct TileGroup {
  static constexpr int kPanels = TileSize<Dots>::kPanels, kVectors = TileSize<Dots>::kVectors;
  static constexpr int kSpan = kQuads / kGroups;
  using Sums = VI[kRows][kVectors];
  using Totals = VF[kRows][kVectors];

  const BlockRows& x;
  const int8_t* codes[kRows];  // of the first group
  int64_t places[kRows];
  UnpackedPanel panels[kPanels];

  HWY_INLINE void start(int64_t group, Sums& sums) const {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const VI start =
          kStarts ? hn::Set(DI(), x.starts[places[r] * kGroups + group]) : hn::Zero(DI());
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        sums[r][i] = start;
      }
    }
  }

  HWY_INLINE void multiply(int64_t group, Sums& sums) const {
    constexpr int kQuadsOfStretch = Dots::kStretch / 4, kOfPanel = kParts * Dots::kRows;
#pragma GCC unroll 8
    for (int quad = 0; quad < kSpan; quad += kQuadsOfStretch) {
      const int64_t at = group * kSpan + quad;
      typename Dots::Left left[kRows / Dots::kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; r += Dots::kRows) {
        left[r / Dots::kRows] = Dots::load(codes[r] + 4 * at, codes[r + Dots::kRows - 1] + 4 * at);
      }
      const auto right = [&](int step, int i) HWY_ATTR {
        return hn::LoadU(DB(), panels[i / kOfPanel].codes +
                                   (at + step * (Dots::kDepth / 4)) * kQuadBytes +
                                   i % kOfPanel * 4 * kLanes);
      };
      add_stretch<Dots>(left, right, sums);
    }
  }

  HWY_INLINE void scale(int64_t group, const Sums& sums, Totals& totals) const {
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      const UnpackedPanel& panel = panels[i / kParts];
      const int64_t at = group * kPanelRows + i % kParts * kLanes;
      const VF scale = hn::LoadU(DF(), panel.scales + at);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const VF by =
            kByRows ? scale : hn::Mul(scale, hn::Set(DF(), x.scales[places[r] + group / kGroups]));
        totals[r][i] = hn::MulAdd(hn::ConvertTo(DF(), sums[r][i]), by, totals[r][i]);
      }
      if constexpr (kMinima) {
        const VF minimum = hn::LoadU(DF(), panel.minima + at);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const VF sum = hn::Set(DF(), x.sums[places[r] * kGroups + group]);
          totals[r][i] = hn::MulAdd(minimum, sum, totals[r][i]);
        }
      }
    }
  }
};

template <class Dots, int kGroups, bool kMinima, bool kStarts, bool kByRows, int kRows>
HWY_NOINLINE void tile_of(const ManyRows& call, int64_t first, int64_t rows, Fetch fetch) {
  using Group = TileGroup<Dots, kGroups, kMinima, kStarts, kByRows, kRows>;
  constexpr int kPanels = Group::kPanels, kVectors = Group::kVectors;
  const BlockRows& x = call.x;
  Group tile{x, {}, {}, {}};
  float* out[kRows];
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
    tile.panels[p] = call.panels[std::min<int64_t>(p, call.count - 1)];
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const int64_t row = first + std::min<int64_t>(r, rows - 1);
    tile.places[r] = row * (x.k / kUnit) + call.first_unit;
    tile.codes[r] = x.codes + tile.places[r] * kUnit;
    out[r] = call.out + row * call.out_stride;
  }
  typename Group::Totals totals;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      const bool given = call.add && i / kParts < call.count;
      totals[r][i] = given ? hn::LoadU(DF(), out[r] + i * kLanes) : hn::Zero(DF());
    }
  }
  const int64_t together = kByRows ? call.matrix.units_per_block() : 1;  // groups with one scale
  for (int64_t group = 0; group < call.units * kGroups; group += together) {
    typename Group::Sums sums;
    tile.start(group, sums);
    for (int64_t i = 0; i < together; ++i) {
      fetch.step();
      tile.multiply(group + i, sums);
    }
    turn_sums<Dots>(sums);
    tile.scale(group, sums, totals);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      if (i / kParts < call.count) {
        hn::StoreU(totals[r][i], DF(), out[r] + i * kLanes);
      }
    }
  }
}

// A tile of `rows`, at most kRows.
template <class Dots, int kFormat, int kRows>
void tile_for(const ManyRows& call, int64_t first, int64_t rows, const Fetch& fetch) {
  using Facts = TileFacts<kFormat>;
  constexpr int kStep = Dots::kRows;
  if constexpr (kRows > TileSize<Dots>::kLeastRows) {
    if (rows <= kRows - kStep) {
      tile_for<Dots, kFormat, kRows - kStep>(call, first, rows, fetch);
      return;
    }
  }
  tile_of<DotsOf<Dots, Facts::kSmall>, Facts::kGroups, Facts::kMinima, Facts::kStarts,
          Facts::kByRows, kRows>(call, first, rows, fetch);
}

// Rows in as few tiles as there can be, of about the same number. The first half of the tiles fetch
// the first panel's bytes, a part each, the others the second's.
template <class Dots, int kFormat>
void many_rows_for(const ManyRows& call) {
  constexpr int64_t kStep = Dots::kRows, kMax = TileSize<Dots>::kRows;
  const int64_t rows = (call.x.rows + kStep - 1) / kStep, tiles = (rows * kStep + kMax - 1) / kMax;
  const int64_t least = rows / tiles, larger = rows % tiles, half = (tiles + 1) / 2;
  const int64_t bytes = (call.next_bytes / half / Fetch::kStep + 1) * Fetch::kStep;
  for (int64_t i = 0, first = 0; i < tiles; ++i) {
    const int64_t count = (least + (i < larger ? 1 : 0)) * kStep, panel = i < half ? 0 : 1;
    Fetch fetch;
    if (call.next[panel] != nullptr) {
      fetch.line = call.next[panel] + (i - panel * half) * bytes;
      fetch.end = std::min(fetch.line + bytes, call.next[panel] + call.next_bytes);
    }
    tile_for<Dots, kFormat, kMax>(call, first, std::min(count, call.x.rows - first), fetch);
    first += count;
  }
}

template <class... Arguments>
using Function = void (*)(Arguments...);
using FewRows =
    Function<int64_t, const uint8_t*, const BlockRows&, int64_t, int64_t, float*, int64_t>;
using Unpack = Function<int64_t, const uint8_t*, int64_t, const UnpackedPanel&>;
using TakeManyRows = Function<const ManyRows&>;

// Of the formats [kFirst, kFirst + kCount).
template <int kCount>
struct Tables {
  FewRows few_rows[kCount];
  Unpack unpack[kCount];
  TakeManyRows many_rows[kCount];
};

template <class Dots, int kFirst, int... kNext>
constexpr Tables<sizeof...(kNext)> tables_of(std::integer_sequence<int, kNext...>) {
  return {{few_rows_for<Dots, kFirst + kNext>...},
          {unpack_for<Dots::kDepth / 4, kFirst + kNext>...},
          {many_rows_for<Dots, kFirst + kNext>...}};
}

template <class Dots, int kFirst, int kCount>
struct KernelsOf {
  static constexpr Tables<kCount> kTables =
      tables_of<Dots, kFirst>(std::make_integer_sequence<int, kCount>());

  static void few_rows(const BlockMatrix& matrix, const uint8_t* panel, const BlockRows& x,
                       int64_t first, int64_t rows, float* out, int64_t stride) {
    kTables.few_rows[matrix.format - kFirst](matrix.units_per_block(), panel, x, first, rows, out,
                                             stride);
  }
  static void unpack(const BlockMatrix& matrix, const uint8_t* panel, int64_t columns,
                     const UnpackedPanel& out) {
#if defined(ET_BLOCKS_ON_TILES)
    if (OnTiles::suits(matrix)) {
      unpack_for<1, kInt4Format, /*kSigned=*/true>(matrix.int4_units, panel, columns, out);
      return;
    }
#endif
    kTables.unpack[matrix.format - kFirst](matrix.units_per_block(), panel, columns, out);
  }
  static void many_rows(const ManyRows& call) {
#if defined(ET_BLOCKS_ON_TILES)
    if (OnTiles::suits(call.matrix)) {
      OnTiles(call).run();
      return;
    }
#endif
    kTables.many_rows[call.matrix.format - kFirst](call);
  }

  static constexpr BlockKernels kKernels = {
      TileSize<Dots>::kPanels, quantize, sum_codes, group_sums, few_rows, unpack, many_rows};
};

#endif  // HWY_TARGET != HWY_SCALAR

template <int kFirst, int kCount>
const BlockKernels* kernels_of_formats() {
#if HWY_TARGET == HWY_SCALAR
  static constexpr BlockKernels kKernels = {1,       quantize, sum_codes, group_sums,
                                            nullptr, nullptr,  nullptr};
  return &kKernels;
#else
  return with_dots([](auto dots) { return &KernelsOf<decltype(dots), kFirst, kCount>::kKernels; });
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif  // EXECUTORCH_KERNELS_OPTIMIZED_BLOCKS_SIMD_INL_H_
