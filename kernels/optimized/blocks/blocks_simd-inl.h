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

#include <executorch/kernels/optimized/blocks/blocks_simd.h>
#include <executorch/kernels/optimized/gemm/amx_tiles.h>
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

#if HWY_TARGET == HWY_SCALAR
using DF = hn::FixedTag<float, 1>;
#else
using DF = hn::CappedTag<float, kPanelRows>;
#endif
using VF = hn::Vec<DF>;

using DI = hn::Rebind<int32_t, DF>;

constexpr uint8_t kHigher = 128;  // what bytes without a sign are higher than those with one

// The largest magnitude of each unit; of one with a number that is not finite, such a number.
void find_largest(const float* x, int64_t units, float* largest) {
  const DF d;
  const DI di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t unit = 0; unit < units; ++unit) {
    auto most =
        hn::Zero(di);  // bits of magnitudes are in the order of their numbers, NaN above all
    for (int64_t i = 0; i < kUnit; i += lanes) {
      most = hn::Max(most, hn::BitCast(di, hn::Abs(hn::LoadU(d, x + unit * kUnit + i))));
    }
    const int32_t bits = hn::ReduceMax(di, most);
    std::memcpy(largest + unit, &bits, sizeof bits);
  }
}

HWY_INLINE void round_unit(const float* x, float inverse, int8_t* codes) {
  const DF d;
  const hn::Rebind<int8_t, DF> d8;
  const VF by = hn::Set(d, inverse);
  for (int64_t i = 0; i < kUnit; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto near = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), by));
    hn::StoreU(hn::DemoteTo(d8, near), d8, codes + i);
  }
}

// Sums of 16 codes each.
HWY_INLINE void sum_unit(const int8_t* codes, int32_t* sums) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t half = 0; half < 2; ++half) {
    sums[half] = 0;
    for (int64_t i = 0; i < kUnit / 2; ++i) {
      sums[half] += codes[half * kUnit / 2 + i];
    }
  }
#else
  const hn::CappedTag<uint8_t, kUnit / 2> d;
  const hn::RepartitionToWideX3<decltype(d)> d64;
  for (int64_t half = 0; half < 2; ++half) {
    const auto* at = reinterpret_cast<const uint8_t*>(codes) + half * kUnit / 2;
    const auto moved = hn::Xor(hn::LoadU(d, at), hn::Set(d, uint8_t{kHigher}));
    const auto sum = static_cast<int32_t>(hn::ReduceSum(d64, hn::SumsOf8(moved)));
    sums[half] = sum - kHigher * static_cast<int32_t>(kUnit / 2);
  }
#endif
}

void sum_codes(const int8_t* codes, int64_t units, int32_t* sums) {
  for (int64_t unit = 0; unit < units; ++unit) {
    sum_unit(codes + unit * kUnit, sums + 2 * unit);
  }
}

// Largest magnitudes into scales, and what numbers are multiplied by.
void find_scales(int64_t units, float* scales, float* inverse) {
  const DF d;
  const VF most = hn::Set(d, 127.0f);
  const VF least = hn::Set(d, 1e-30f);  // below which 127 / largest overflows
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < units; i += lanes) {
    const auto count = static_cast<size_t>(std::min(lanes, units - i));
    const VF largest = hn::LoadN(d, scales + i, count);
    const auto is_zero = hn::Lt(largest, least);
    hn::StoreN(hn::IfThenZeroElse(is_zero, hn::Div(most, largest)), d, inverse + i, count);
    // An infinite scale is none.
    const VF scale = hn::Add(hn::Div(largest, most), hn::Sub(largest, largest));
    hn::StoreN(hn::IfThenZeroElse(is_zero, scale), d, scales + i, count);
  }
}

void quantize(const float* x, int64_t k, int8_t* codes, float* scales, int32_t* sums) {
  constexpr int64_t kUnits = 64;  // at a time
  float inverse[kUnits];
  for (int64_t first = 0; first < k / kUnit; first += kUnits) {
    const int64_t count = std::min(kUnits, k / kUnit - first);
    find_largest(x + first * kUnit, count, scales + first);
    find_scales(count, scales + first, inverse);
    for (int64_t unit = first; unit < first + count; ++unit) {
      round_unit(x + unit * kUnit, inverse[unit - first], codes + unit * kUnit);
      sum_unit(codes + unit * kUnit, sums + 2 * unit);
    }
  }
}

void group_sums(const BlockFormat& f, const int32_t* whole, const float* scales, int64_t units,
                float* sums, int32_t* starts) {
  const DF d;
  const DI di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool halves = f.groups_per_unit() == 2;
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto offset = hn::Set(di, -f.offset);
  for (; i + lanes <= units; i += lanes) {
    hn::Vec<DI> first, second;
    hn::LoadInterleaved2(di, whole + 2 * i, first, second);
    const VF scale = hn::LoadU(d, scales + i);
    const auto scaled = [&](hn::Vec<DI> sum)
                            HWY_ATTR { return hn::Mul(hn::ConvertTo(d, sum), scale); };
    if (halves) {
      hn::StoreInterleaved2(scaled(first), scaled(second), d, sums + 2 * i);
      hn::StoreInterleaved2(hn::Mul(first, offset), hn::Mul(second, offset), di, starts + 2 * i);
    } else {
      const auto sum = hn::Add(first, second);
      hn::StoreU(scaled(sum), d, sums + i);
      hn::StoreU(hn::Mul(sum, offset), di, starts + i);
    }
  }
#endif
  const int64_t groups = halves ? 2 : 1;
  for (int64_t at = i * groups; at < units * groups; ++at) {
    const int32_t sum = halves ? whole[at] : whole[2 * at] + whole[2 * at + 1];
    sums[at] = scales[at / groups] * static_cast<float>(sum);
    starts[at] = -f.offset * sum;
  }
}

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
constexpr int64_t kLine = 64;

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

// Of what is unpacked next, the part that a tile has fetched, two lines at a time.
struct Fetch {
  const uint8_t* line = nullptr;
  const uint8_t* end = nullptr;

  HWY_INLINE void step() {
    if (line < end) {
      __builtin_prefetch(line);
      __builtin_prefetch(line + kLine);
      line += kStep;
    }
  }

  static constexpr int64_t kStep = 2 * kLine;
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

#undef ET_BLOCKS_ON_TILES
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL && defined(ET_HAS_TILE_INSTRUCTIONS)
#define ET_BLOCKS_ON_TILES 1

// Products of 16 rows of int8 and a panel of int4 on AMX. Codes of a panel lie as a tile has them.
// Sums of a block become floats while those of the next are multiplied. Other formats multiply each
// sum by two scales and add a minimum: with that, vectors alone were faster (0.85 of the time).
class OnTiles {
 public:
  static bool suits(const BlockMatrix& matrix) { return matrix.format == kInt4Format && has_amx(); }

  explicit OnTiles(const ManyRows& call)
      : call_(call), columns_(call.matrix.int4_units % 2 == 0 ? 2 * kUnit : kUnit) {}

  void run() const {
    const int64_t rows = call_.x.rows, whole = rows / kAmxRows * kAmxRows;
    if (whole > 0) {
      configure(kAmxRows);
    }
    for (int64_t row = 0; row < whole; row += kAmxRows) {
      multiply_rows(row, kAmxRows);
    }
    if (whole < rows) {
      configure(rows - whole);
      multiply_rows(whole, rows - whole);
    }
    ProcessorTiles::release();
  }

 private:
  using Sums = int32_t[kAmxRows][kPanelRows];
  using Totals = VF[kAmxRows];

  // Sums of two blocks: 0 and 1. Activations and codes: 2 and 3.
  void configure(int64_t rows) const {
    AmxConfig config;
    for (int tile = 0; tile < 4; ++tile) {
      config.rows[tile] = static_cast<uint8_t>(tile == 3 ? columns_ / 4 : rows);
      config.row_bytes[tile] = static_cast<uint16_t>(tile == 2 ? columns_ : kAmxRowBytes);
    }
    ProcessorTiles::configure(config);
  }

  void multiply_rows(int64_t first, int64_t rows) const {
    const int64_t tiles = (call_.x.rows + kAmxRows - 1) / kAmxRows;
    const int64_t bytes = (call_.next_bytes / tiles / Fetch::kStep + 1) * Fetch::kStep;
    for (int64_t i = 0; i < call_.count; ++i) {
      Fetch fetch;
      if (call_.next[i] != nullptr) {
        fetch.line = call_.next[i] + first / kAmxRows * bytes;
        fetch.end = std::min(fetch.line + bytes, call_.next[i] + call_.next_bytes);
      }
      multiply_panel(first, rows, call_.panels[i],
                     call_.out + first * call_.out_stride + i * kPanelRows, fetch);
    }
  }

  void multiply_panel(int64_t first, int64_t rows, const UnpackedPanel& panel, float* out,
                      Fetch fetch) const {
    alignas(64) Sums sums[2] = {};
    Totals totals;
#pragma GCC unroll 16
    for (int64_t r = 0; r < kAmxRows; ++r) {
      totals[r] =
          call_.add && r < rows ? hn::LoadU(DF(), out + r * call_.out_stride) : hn::Zero(DF());
    }
    const int64_t blocks = call_.units / call_.matrix.int4_units;
    multiply<0>(first, 0, panel, sums[0]);
    for (int64_t block = 0; block < blocks; ++block) {
      if (block + 1 < blocks) {
        block % 2 == 0 ? multiply<1>(first, block + 1, panel, sums[1])
                       : multiply<0>(first, block + 1, panel, sums[0]);
      }
      scale(block, panel, sums[block % 2], totals);
      fetch.step();
      fetch.step();
    }
    while (fetch.line < fetch.end) {
      fetch.step();
    }
#pragma GCC unroll 16
    for (int64_t r = 0; r < kAmxRows; ++r) {
      if (r < rows) {
        hn::StoreU(totals[r], DF(), out + r * call_.out_stride);
      }
    }
  }

  template <int kSums>
  void multiply(int64_t first, int64_t block, const UnpackedPanel& panel, Sums& sums) const {
    const int64_t size = call_.matrix.block_columns(), begin = block * size;
    const int8_t* x = call_.x.codes + first * call_.x.k + call_.first_unit * kUnit;
    ProcessorTiles::zero<kSums>();
    for (int64_t at = begin; at < begin + size; at += columns_) {
      ProcessorTiles::load<2>(x + at, call_.x.k);
      ProcessorTiles::load<3>(panel.codes + at * kPanelRows, kAmxRowBytes);
      ProcessorTiles::dot_int8<kSums, 2, 3>();
    }
    ProcessorTiles::store<kSums>(sums, sizeof(sums[0]));
  }

  HWY_INLINE void scale(int64_t block, const UnpackedPanel& panel, const Sums& sums,
                        Totals& totals) const {
    const VF scale = hn::LoadU(DF(), panel.scales + block * call_.matrix.int4_units * kPanelRows);
#pragma GCC unroll 16
    for (int64_t r = 0; r < kAmxRows; ++r) {
      totals[r] = hn::MulAdd(hn::ConvertTo(DF(), hn::LoadU(DI(), sums[r])), scale, totals[r]);
    }
  }

  const ManyRows& call_;
  const int64_t columns_;  // of a tile of activations
};
#endif

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
