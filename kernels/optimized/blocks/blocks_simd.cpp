// SPDX-License-Identifier: BSD-3-Clause
// A panel's 16 rows are lanes: one instruction multiplies 4 codes of each with 4 activations, which
// are broadcast. A few rows of activations take codes out of their bits as they go, since memory
// sets the pace; many take bytes that were unpacked once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/blocks/blocks_simd.cpp"
#define EXECUTORCH_SIMD_DOT_PRODUCTS
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/blocks/blocks_simd.h>
#include <executorch/kernels/optimized/simd_table.h>
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
  constexpr int32_t kHigher = 128;  // a code as an unsigned number, its highest bit turned over
  for (int64_t half = 0; half < 2; ++half) {
    const auto* at = reinterpret_cast<const uint8_t*>(codes) + half * kUnit / 2;
    const auto moved = hn::Xor(hn::LoadU(d, at), hn::Set(d, uint8_t{kHigher}));
    const auto sum = static_cast<int32_t>(hn::ReduceSum(d64, hn::SumsOf8(moved)));
    sums[half] = sum - kHigher * static_cast<int32_t>(kUnit / 2);
  }
#endif
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

template <bool kSigned>
HWY_INLINE VF load_bytes(const uint8_t* from, int part) {
  const hn::Rebind<std::conditional_t<kSigned, int8_t, uint8_t>, DF> d;
  const auto* bytes = reinterpret_cast<const hn::TFromD<decltype(d)>*>(from + part * kLanes);
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(d, bytes)));
}

// The field of a quad in a plane of kBits, moved to begin at bit kTo.
template <int kBits, int kQuad, int kTo>
HWY_INLINE VB field(const uint8_t* plane, int part) {
  constexpr int kPerByte = 8 / kBits, kShift = kQuad % kPerByte * kBits - kTo;
  const DB d;
  VB bytes = hn::LoadU(d, plane + kQuad / kPerByte * kQuadBytes + part * 4 * kLanes);
  if constexpr (kBits == 8) {
    return bytes;
  } else {
    if constexpr (kShift > 0) {
      bytes = hn::BitCast(d, hn::ShiftRight<kShift>(hn::BitCast(D16(), bytes)));
    } else if constexpr (kShift < 0) {
      bytes = hn::BitCast(d, hn::ShiftLeft<-kShift>(hn::BitCast(D16(), bytes)));
    }
    return hn::And(bytes, hn::Set(d, static_cast<uint8_t>(((1 << kBits) - 1) << kTo)));
  }
}

template <int kFormat, int kQuad>
HWY_INLINE VB codes_of(const uint8_t* planes, int part) {
  constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  VB codes = field<kFacts.low_bits, kQuad, 0>(planes, part);
  if constexpr (kFacts.high_bits != 0) {
    const uint8_t* high = planes + plane_bytes(kFacts.low_bits);
    codes = hn::Or(codes, field<kFacts.high_bits, kQuad, kFacts.low_bits>(high, part));
  }
  if constexpr (kFacts.is_table) {
    codes = hn::TableLookupBytes(hn::LoadDup128(DB(), kTableValues), codes);
  }
  return codes;
}

// Whether products are those of codes less their offset, 128, instead of codes: where a product of
// 8 bits with and 8 bits without sign is added to its neighbor in 16, there is room for these only.
template <bool kSmall>
constexpr bool kTakesOffset =
    !kSmall && !(HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86) && !HWY_ARCH_ARM;

// sum + codes * activations, 4 a lane. kSmall: codes of at most 6 bits, others are 128 too high.
template <bool kSmall>
HWY_INLINE VI add_products(VB codes, int32_t activations, VI sum) {
  const auto x = hn::BitCast(DS(), hn::Set(DI(), activations));
#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
  return hn::SumOfMulQuadAccumulate(DI(), codes, x, sum);
#elif HWY_ARCH_ARM
  if constexpr (kSmall) {
    return hn::SumOfMulQuadAccumulate(DI(), hn::BitCast(DS(), codes), x, sum);
  } else {
    const auto moved = hn::BitCast(DS(), hn::Xor(codes, hn::Set(DB(), uint8_t{0x80})));
    const VI offset =
        hn::SumOfMulQuadAccumulate(DI(), hn::Set(DS(), int8_t{64}), x, hn::Zero(DI()));
    return hn::SumOfMulQuadAccumulate(DI(), moved, x, hn::Add(sum, hn::Add(offset, offset)));
  }
#else
  const hn::Repartition<int16_t, DF> d16;
  if constexpr (kSmall) {
    const auto pairs = hn::SatWidenMulPairwiseAdd(d16, codes, x);
    return hn::Add(sum, hn::WidenMulPairwiseAdd(DI(), pairs, hn::Set(d16, int16_t{1})));
  } else {  // magnitudes up to 128 times 127, whose signs activations take over
    const auto values = hn::BitCast(DS(), hn::Xor(codes, hn::Set(DB(), uint8_t{0x80})));
    const auto pairs = hn::SatWidenMulPairwiseAdd(d16, hn::BitCast(DB(), hn::Abs(values)),
                                                  hn::IfNegativeThenNegOrUndefIfZero(values, x));
    return hn::Add(sum, hn::WidenMulPairwiseAdd(DI(), pairs, hn::Set(d16, int16_t{1})));
  }
#endif
}

template <int kFormat>
constexpr bool kIsSmall = kBlockFormats[kFormat].low_bits < 8 && !kBlockFormats[kFormat].is_table;

HWY_INLINE int32_t four(const int8_t* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Quads [kQuad, kEnd) of a unit with kRows rows, whose codes of the unit begin at x.
template <int kFormat, int kRows, int kQuad, int kEnd>
HWY_INLINE void add_quads(const uint8_t* planes, const int8_t* const (&x)[kRows], int64_t at,
                          VI (&sums)[kRows][kParts]) {
  if constexpr (kQuad < kEnd) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      const VB codes = codes_of<kFormat, kQuad>(planes, part);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        sums[r][part] =
            add_products<kIsSmall<kFormat>>(codes, four(x[r] + at + 4 * kQuad), sums[r][part]);
      }
    }
    add_quads<kFormat, kRows, kQuad + 1, kEnd>(planes, x, at, sums);
  }
}

// Scales and what is added per sum, of the groups of a unit.
template <int kFormat>
struct Numbers {
  static constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  static constexpr bool kHasMinima = kFacts.minima != Minima::kNone;

  const uint8_t* factors = nullptr;  // of the block
  HWY_INLINE VF scale(const uint8_t* unit, int group, int part) const {
    if constexpr (kFacts.byte_scales) {
      return hn::Mul(load_halves(factors, part),
                     load_bytes<kFacts.signed_scales>(unit + group * kPanelRows, part));
    } else {
      return load_halves(unit, part);
    }
  }
  HWY_INLINE VF minimum(const uint8_t* unit, int group, int part) const {
    const uint8_t* at = unit + scale_bytes(kFacts);
    if constexpr (kFacts.minima == Minima::kByte) {
      return hn::Neg(hn::Mul(load_halves(factors + 2 * kPanelRows, part),
                             load_bytes<false>(at + group * kPanelRows, part)));
    } else {
      return load_halves(at, part);
    }
  }
};

template <int kFormat, int kRows, int kGroup>
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
  add_quads<kFormat, kRows, kGroup * kSpan, (kGroup + 1) * kSpan>(unit + kPlanes, codes,
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

// How far ahead weights are fetched: processors stop doing it by themselves at the end of a page.
constexpr int64_t kAhead = 3072;
constexpr int64_t kLine = 64;

template <int kFormat>
HWY_INLINE void fetch_ahead(const uint8_t* unit) {
  for (int64_t line = 0; line < unit_bytes(kBlockFormats[kFormat]); line += kLine) {
    __builtin_prefetch(unit + kAhead + line);
  }
}

template <int kFormat, int kRows>
void few_rows_of(const uint8_t* panel, const BlockRows& x, int64_t first, int64_t rows,
                 float* out) {
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
    numbers.factors = panel;
    panel += factor_bytes(kFacts);
    for (int unit = 0; unit < kFacts.units_per_block(); ++unit, ++index) {
      fetch_ahead<kFormat>(panel);
      add_group<kFormat, kRows, 0>(numbers, panel, index, x, codes, places, totals);
      if constexpr (kFacts.groups_per_unit() == 2) {
        add_group<kFormat, kRows, 1>(numbers, panel, index, x, codes, places, totals);
      }
      panel += unit_bytes(kFacts);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      hn::StoreU(totals[r][part], DF(), out + r * kPanelRows + part * kLanes);
    }
  }
}

template <int kFormat>
void few_rows_for(const uint8_t* panel, const BlockRows& x, int64_t first, int64_t rows,
                  float* out) {
  if (rows == 1) {
    few_rows_of<kFormat, 1>(panel, x, first, rows, out);
  } else if (rows == 2) {
    few_rows_of<kFormat, 2>(panel, x, first, rows, out);
  } else {
    few_rows_of<kFormat, 4>(panel, x, first, rows, out);
  }
}

template <int kFormat, int kQuad>
HWY_INLINE void store_quads(const uint8_t* planes, uint8_t* codes) {
  if constexpr (kQuad < kQuads) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) {
      hn::StoreU(codes_of<kFormat, kQuad>(planes, part), DB(),
                 codes + kQuad * kQuadBytes + part * 4 * kLanes);
    }
    store_quads<kFormat, kQuad + 1>(planes, codes);
  }
}

template <int kFormat>
void unpack_for(const uint8_t* panel, int64_t columns, const UnpackedPanel& out) {
  constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  constexpr int kGroups = kFacts.groups_per_unit();
  Numbers<kFormat> numbers;
  for (int64_t index = 0; index < columns / kUnit;) {
    numbers.factors = panel;
    panel += factor_bytes(kFacts);
    for (int unit = 0; unit < kFacts.units_per_block(); ++unit, ++index) {
      store_quads<kFormat, 0>(panel + scale_bytes(kFacts) + minima_bytes(kFacts),
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

// With AVX-512, 12 sums hide the time that an instruction takes.
#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
constexpr int kPanels = 2;
constexpr int kTileRows = 6;
#elif HWY_ARCH_ARM
constexpr int kPanels = 1;
constexpr int kTileRows = 3;
#else
constexpr int kPanels = 1;
constexpr int kTileRows = 2;
#endif
constexpr int kLeastTileRows = kTileRows / 2 + 1;

// What of a format the tiles depend on.
template <int kFormat>
struct TileFacts {
  static constexpr const BlockFormat& kFacts = kBlockFormats[kFormat];
  static constexpr int kGroups = kFacts.groups_per_unit();
  static constexpr bool kMinima = kFacts.minima != Minima::kNone, kOffset = kFacts.offset != 0;
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

template <int kGroups, bool kMinima, bool kOffset, bool kSmall, int kRows>
HWY_NOINLINE void tile_of(const ManyRows& call, int64_t first, int64_t rows, Fetch fetch) {
  constexpr int kSpan = kQuads / kGroups;
  const BlockRows& x = call.x;
  const int64_t units = x.k / kUnit;
  VF totals[kRows][kPanels][kParts];
  const int8_t* codes[kRows];
  int64_t places[kRows];
  float* out[kRows];
  UnpackedPanel panels[kPanels];
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
    panels[p] = call.panels[std::min<int64_t>(p, call.count - 1)];
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const int64_t row = first + std::min<int64_t>(r, rows - 1);
    places[r] = row * units + call.first_unit;
    codes[r] = x.codes + places[r] * kUnit;
    out[r] = call.out + row * call.out_stride;
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 8
      for (int part = 0; part < kParts; ++part) {
        const bool given = call.add && p < call.count;
        totals[r][p][part] =
            given ? hn::LoadU(DF(), out[r] + p * kPanelRows + part * kLanes) : hn::Zero(DF());
      }
    }
  }
  const int64_t groups = call.units * kGroups;
  for (int64_t group = 0; group < groups; ++group) {
    fetch.step();
    VI sums[kRows][kPanels][kParts];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const VI start = kOffset && !kTakesOffset<kSmall>
                           ? hn::Set(DI(), x.starts[places[r] * kGroups + group])
                           : hn::Zero(DI());
#pragma GCC unroll 8
      for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 8
        for (int part = 0; part < kParts; ++part) {
          sums[r][p][part] = start;
        }
      }
    }
#pragma GCC unroll 8
    for (int quad = 0; quad < kSpan; ++quad) {
      VB weights[kPanels][kParts];
#pragma GCC unroll 8
      for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 8
        for (int part = 0; part < kParts; ++part) {
          weights[p][part] = hn::LoadU(
              DB(), panels[p].codes + (group * kSpan + quad) * kQuadBytes + part * 4 * kLanes);
        }
      }
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const int32_t word = four(codes[r] + (group * kSpan + quad) * 4);
#pragma GCC unroll 8
        for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 8
          for (int part = 0; part < kParts; ++part) {
            sums[r][p][part] = add_products<kSmall>(weights[p][part], word, sums[r][p][part]);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 8
      for (int part = 0; part < kParts; ++part) {
        const int64_t at = group * kPanelRows + part * kLanes;
        const VF scale = hn::LoadU(DF(), panels[p].scales + at);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const VF by = hn::Mul(scale, hn::Set(DF(), x.scales[places[r] + group / kGroups]));
          totals[r][p][part] =
              hn::MulAdd(hn::ConvertTo(DF(), sums[r][p][part]), by, totals[r][p][part]);
        }
        if constexpr (kMinima) {
          const VF minimum = hn::LoadU(DF(), panels[p].minima + at);
#pragma GCC unroll 8
          for (int r = 0; r < kRows; ++r) {
            const VF sum = hn::Set(DF(), x.sums[places[r] * kGroups + group]);
            totals[r][p][part] = hn::MulAdd(minimum, sum, totals[r][p][part]);
          }
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels && p < call.count; ++p) {
#pragma GCC unroll 8
      for (int part = 0; part < kParts; ++part) {
        hn::StoreU(totals[r][p][part], DF(), out[r] + p * kPanelRows + part * kLanes);
      }
    }
  }
}

// A tile of `rows`, at most kRows.
template <int kFormat, int kRows>
void tile_for(const ManyRows& call, int64_t first, int64_t rows, const Fetch& fetch) {
  using Facts = TileFacts<kFormat>;
  if constexpr (kRows > kLeastTileRows) {
    if (rows < kRows) {
      tile_for<kFormat, kRows - 1>(call, first, rows, fetch);
      return;
    }
  }
  tile_of<Facts::kGroups, Facts::kMinima, Facts::kOffset, kIsSmall<kFormat>, kRows>(call, first,
                                                                                    rows, fetch);
}

// Rows in as few tiles as there can be, of about the same number. The first half of the tiles fetch
// the first panel's bytes, a part each, the others the second's.
template <int kFormat>
void many_rows_for(const ManyRows& call) {
  const int64_t rows = call.x.rows, tiles = (rows + kTileRows - 1) / kTileRows;
  const int64_t least = rows / tiles, larger = rows % tiles, half = (tiles + 1) / 2;
  const int64_t bytes = (call.next_bytes / half / Fetch::kStep + 1) * Fetch::kStep;
  for (int64_t i = 0, first = 0; i < tiles; ++i) {
    const int64_t count = least + (i < larger ? 1 : 0), panel = i < half ? 0 : 1;
    Fetch fetch;
    if (call.next[panel] != nullptr) {
      fetch.line = call.next[panel] + (i - panel * half) * bytes;
      fetch.end = std::min(fetch.line + bytes, call.next[panel] + call.next_bytes);
    }
    tile_for<kFormat, kTileRows>(call, first, count, fetch);
    first += count;
  }
}

template <class... Arguments>
using Function = void (*)(Arguments...);
using FewRows = Function<const uint8_t*, const BlockRows&, int64_t, int64_t, float*>;
using Unpack = Function<const uint8_t*, int64_t, const UnpackedPanel&>;
using TakeManyRows = Function<const ManyRows&>;

struct Tables {
  FewRows few_rows[kNumBlockFormats];
  Unpack unpack[kNumBlockFormats];
  TakeManyRows many_rows[kNumBlockFormats];
};

template <int... kFormats>
constexpr Tables tables_of(std::integer_sequence<int, kFormats...>) {
  return {{few_rows_for<kFormats>...}, {unpack_for<kFormats>...}, {many_rows_for<kFormats>...}};
}
constexpr Tables kTables = tables_of(std::make_integer_sequence<int, kNumBlockFormats>());

void few_rows(int format, const uint8_t* panel, const BlockRows& x, int64_t first, int64_t rows,
              float* out) {
  kTables.few_rows[format](panel, x, first, rows, out);
}
void unpack(int format, const uint8_t* panel, int64_t columns, const UnpackedPanel& out) {
  kTables.unpack[format](panel, columns, out);
}
void many_rows(const ManyRows& call) {
  kTables.many_rows[call.format](call);
}

#endif  // HWY_TARGET != HWY_SCALAR

const BlockKernels* block_kernels_of_target() {
#if HWY_TARGET == HWY_SCALAR
  static constexpr BlockKernels kKernels = {1, quantize, group_sums, nullptr, nullptr, nullptr};
#else
  static constexpr BlockKernels kKernels = {kPanels,  quantize, group_sums,
                                            few_rows, unpack,   many_rows};
#endif
  return &kKernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(BlockKernels, block_kernels)
#endif  // HWY_ONCE
