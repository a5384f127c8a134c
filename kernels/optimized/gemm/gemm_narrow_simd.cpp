// SPDX-License-Identifier: BSD-3-Clause
// Register tiles of bfloat16 and int8 matmuls: as in gemm_simd.cpp, with a word of A (2 or 4
// values) broadcast and one dot-product instruction per vector of B.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/gemm/gemm_narrow_simd.cpp"
#define EXECUTORCH_SIMD_DOT_PRODUCTS
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/gemm/gemm_narrow_simd.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_AVX2
constexpr int kRowsOfTile = 4;
#else
constexpr int kRowsOfTile = kMaxTileRows;
#endif

using DW = hn::CappedTag<uint32_t, kMaxTileWidth / 4>;
using W = hn::Vec<DW>;

// What a type adds to the loops: its sum and step, its width.
struct Int8 {
  using Sum = int32_t;
  using Bits = uint8_t;
  static HWY_INLINE hn::Vec<hn::Rebind<Sum, DW>> step(W a, W b, hn::Vec<hn::Rebind<Sum, DW>> sum) {
    return hn::SumOfMulQuadAccumulate(hn::Rebind<Sum, DW>(),
                                      hn::BitCast(hn::Repartition<uint8_t, DW>(), b),
                                      hn::BitCast(hn::Repartition<int8_t, DW>(), a), sum);
  }
};

struct BFloat16 {
  using Sum = float;
  using Bits = uint16_t;
#if HWY_NATIVE_DOT_BF16
  static HWY_INLINE hn::Vec<hn::Rebind<Sum, DW>> step(W a, W b, hn::Vec<hn::Rebind<Sum, DW>> sum) {
    const hn::Repartition<hwy::bfloat16_t, DW> d;
    hn::Vec<hn::Rebind<Sum, DW>> unused = sum;
    return hn::ReorderWidenMulAccumulate(hn::Rebind<Sum, DW>(), hn::BitCast(d, a),
                                         hn::BitCast(d, b), sum, unused);
  }
#endif
};

template <typename T>
constexpr int64_t kPerWord = 4 / sizeof(typename T::Bits);

template <typename T, int kRows, int kVectors>
using Sums = hn::Vec<hn::Rebind<typename T::Sum, DW>>[kRows][kVectors];

template <typename T, int kRows, int kVectors>
HWY_INLINE void load_sums(const NarrowTile& t, Sums<T, kRows, kVectors>& sum) {
  using Sum = typename T::Sum;
  const hn::Rebind<Sum, DW> d;
  const size_t lanes = hn::Lanes(d);
  const size_t tail = static_cast<size_t>(t.cols) - (kVectors - 1) * lanes;
  const auto* row_start = static_cast<const Sum*>(t.row_start);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      const size_t valid = j == kVectors - 1 ? tail : lanes;
      sum[i][j] = hn::Zero(d);
      if (t.accumulate) {
        sum[i][j] = hn::LoadN(d, static_cast<const Sum*>(t.c) + i * t.ldc + j * lanes, valid);
      } else if (t.col_start != nullptr) {
        sum[i][j] = hn::LoadN(d, static_cast<const Sum*>(t.col_start) + j * lanes, valid);
      }
      if (row_start != nullptr) {
        sum[i][j] = hn::Add(sum[i][j], hn::Set(d, row_start[i]));
      }
    }
  }
}

template <typename T, int kRows, int kVectors>
HWY_INLINE void store_sums(const NarrowTile& t, const Sums<T, kRows, kVectors>& sum) {
  const hn::Rebind<typename T::Sum, DW> d;
  const size_t lanes = hn::Lanes(d);
  const size_t tail = static_cast<size_t>(t.cols) - (kVectors - 1) * lanes;
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    auto* row = static_cast<typename T::Sum*>(t.c) + i * t.ldc;
#pragma GCC unroll 3
    for (int j = 0; j < kVectors - 1; ++j) {
      hn::StoreU(sum[i][j], d, row + j * lanes);
    }
    hn::StoreN(sum[i][kVectors - 1], d, row + (kVectors - 1) * lanes, tail);
  }
}

template <typename T, int kRows, int kVectors>
HWY_INLINE void step_sums(const uint8_t* HWY_RESTRICT a, int64_t a_stride, size_t bytes,
                          const uint32_t* HWY_RESTRICT b, Sums<T, kRows, kVectors>& sum) {
  const DW d;
  const size_t lanes = hn::Lanes(d);
  W row[kVectors];
#pragma GCC unroll 3
  for (int j = 0; j < kVectors; ++j) {
    row[j] = hn::LoadU(d, b + j * lanes);
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    uint32_t word = 0;
    std::memcpy(&word, a + i * a_stride, bytes);
    const W factor = hn::Set(d, word);
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = T::step(factor, row[j], sum[i][j]);
    }
  }
}

template <typename T, int kRows, int kVectors>
void multiply_tile(const NarrowTile& t) {
  Sums<T, kRows, kVectors> sum;
  load_sums<T, kRows, kVectors>(t, sum);
  const uint8_t* a = t.a;
  const uint32_t* b = t.b;
  const int64_t words = t.words;
#pragma GCC unroll 1
  for (int64_t p = 0; p < words; ++p, a += 4, b += t.width) {
    step_sums<T, kRows, kVectors>(a, t.a_stride, 4, b, sum);
  }
  if (t.rest != 0) {
    step_sums<T, kRows, kVectors>(a, t.a_stride,
                                  static_cast<size_t>(t.rest) * sizeof(typename T::Bits), b, sum);
  }
  store_sums<T, kRows, kVectors>(t, sum);
}

template <typename T, int kRows>
struct TilesOfRows {
  using Function = void (*)(const NarrowTile&);
  static constexpr Function kOfVectors[kTileVectors] = {
      &multiply_tile<T, kRows, 1>, &multiply_tile<T, kRows, 2>, &multiply_tile<T, kRows, 3>};
};

template <typename T>
void tile(const NarrowTile& t) {
  static constexpr const typename TilesOfRows<T, 1>::Function* kOfRows[] = {
      TilesOfRows<T, 1>::kOfVectors, TilesOfRows<T, 2>::kOfVectors,
      TilesOfRows<T, 3>::kOfVectors, TilesOfRows<T, 4>::kOfVectors,
#if HWY_TARGET != HWY_SSE2 && HWY_TARGET != HWY_AVX2
      TilesOfRows<T, 5>::kOfVectors, TilesOfRows<T, 6>::kOfVectors,
      TilesOfRows<T, 7>::kOfVectors, TilesOfRows<T, 8>::kOfVectors,
#endif
  };
  static_assert(sizeof(kOfRows) / sizeof(kOfRows[0]) == kRowsOfTile);
  const auto lanes = static_cast<int64_t>(hn::Lanes(DW()));
  kOfRows[t.rows - 1][(t.cols - 1) / lanes](t);
}

// B in rows: kPerWord rows side by side become one row of words.
template <typename T>
void pack_rows(const NarrowPanel& p, uint32_t* HWY_RESTRICT out) {
  using Bits = typename T::Bits;
  const DW d;
  const hn::Rebind<Bits, DW> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const W flip = hn::Set(d, p.flip);
  for (int64_t k = 0; k < p.values; k += kPerWord<T>, out += p.width) {
    const uint8_t* from = p.b + k * p.stride;
    const int64_t rows = HWY_MIN(kPerWord<T>, p.values - k);
    for (int64_t j = 0; j < p.cols; j += lanes) {
      const auto valid = static_cast<size_t>(HWY_MIN(lanes, p.cols - j));
      const auto row = [&](int64_t r) HWY_ATTR {
        const auto* at = reinterpret_cast<const Bits*>(from + r * p.stride) + j;
        if (valid == static_cast<size_t>(lanes)) {
          return hn::PromoteTo(d, hn::LoadU(narrow, at));
        }
        HWY_ALIGN Bits last[hn::MaxLanes(narrow)] = {};
        std::memcpy(last, at, valid * sizeof(Bits));
        return hn::PromoteTo(d, hn::Load(narrow, last));
      };
      W word = row(0);
      for (int64_t r = 1; r < rows; ++r) {
        word = hn::Or(word, hn::ShiftLeftSame(row(r), static_cast<int>(r * 8 * sizeof(Bits))));
      }
      hn::StoreU(hn::Xor(word, flip), d, out + j);
    }
  }
}

// One vector of columns, 4 words of each: blocks of 4 words are gathered so that transposing 4x4
// within the blocks gives whole vectors.
HWY_INLINE void transpose_words(const uint8_t* const* columns, int64_t offset, W flip,
                                int64_t width, uint32_t* HWY_RESTRICT out) {
  const DW d;
  constexpr size_t kBlocks = hn::MaxLanes(DW()) / 4;
  const hn::BlockDFromD<DW> block;
  W v[4];
  for (size_t i = 0; i < 4; ++i) {
    const auto load = [&](size_t b) HWY_ATTR {
      return hn::LoadU(block, reinterpret_cast<const uint32_t*>(columns[4 * b + i] + offset));
    };
    v[i] = hn::ResizeBitCast(d, load(0));
    if constexpr (kBlocks > 1) {
      v[i] = hn::InsertBlock<1>(v[i], load(1));
    }
    if constexpr (kBlocks > 2) {
      v[i] = hn::InsertBlock<2>(v[i], load(2));
      v[i] = hn::InsertBlock<3>(v[i], load(3));
    }
  }
  const hn::Repartition<uint64_t, DW> d64;
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, v[0], v[1]));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, v[2], v[3]));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, v[0], v[1]));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, v[2], v[3]));
  const auto put = [&](auto pair, int64_t row) HWY_ATTR {
    hn::StoreU(hn::Xor(hn::BitCast(d, pair), flip), d, out + row * width);
  };
  put(hn::InterleaveLower(d64, low01, low23), 0);
  put(hn::InterleaveUpper(d64, low01, low23), 1);
  put(hn::InterleaveLower(d64, high01, high23), 2);
  put(hn::InterleaveUpper(d64, high01, high23), 3);
}

// B in columns: words are contiguous in them already.
template <typename T>
void pack_columns(const NarrowPanel& p, uint32_t* HWY_RESTRICT out) {
  const DW d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const W flip = hn::Set(d, p.flip);
  const int64_t words = p.values / kPerWord<T>;
  const int64_t rest = p.values % kPerWord<T>;
  for (int64_t j = 0; j < p.cols; j += lanes) {
    const uint8_t* columns[hn::MaxLanes(DW())];
    for (int64_t i = 0; i < lanes; ++i) {
      columns[i] = p.b + HWY_MIN(j + i, p.cols - 1) * p.stride;
    }
    int64_t k = 0;
    for (; k + 4 <= words; k += 4) {
      transpose_words(columns, k * 4, flip, p.width, out + k * p.width + j);
    }
    for (; k < words + (rest != 0 ? 1 : 0); ++k) {
      const int64_t values = k < words ? kPerWord<T> : rest;
      for (int64_t i = 0; i < lanes; ++i) {
        uint32_t word = 0;
        std::memcpy(&word, columns[i] + k * 4,
                    static_cast<size_t>(values) * sizeof(typename T::Bits));
        out[k * p.width + j + i] = word ^ p.flip;
      }
    }
  }
}

void offsets(const int8_t* a, int64_t a_stride, int64_t rows, int64_t k, int32_t* out) {
  const hn::Rebind<int32_t, DW> d;
  const hn::Repartition<int8_t, decltype(d)> d8;
  const auto ones = hn::Set(hn::Repartition<uint8_t, DW>(), uint8_t{1});
  const auto lanes = static_cast<int64_t>(hn::Lanes(d8));
  for (int64_t i = 0; i < rows; ++i, a += a_stride) {
    auto sum = hn::Zero(d);
    int64_t p = 0;
    for (; p + lanes <= k; p += lanes) {
      sum = hn::SumOfMulQuadAccumulate(d, ones, hn::LoadU(d8, a + p), sum);
    }
    auto total = static_cast<uint32_t>(hn::ReduceSum(d, sum));
    for (; p < k; ++p) {
      total += static_cast<uint32_t>(static_cast<int32_t>(a[p]));
    }
    out[i] = static_cast<int32_t>(0u - 128u * total);
  }
}

using D8 = hn::Repartition<uint8_t, DW>;
using DSum = hn::Rebind<int32_t, DW>;

// 4 rows of bytes side by side: word j % 4 + 4 * block of out[q] is column 16 * block + 4 * q + j.
HWY_INLINE void interleave_rows(const hn::Vec<D8> (&row)[4], hn::Vec<D8> (&out)[4]) {
  const D8 d;
  const hn::Repartition<uint16_t, DW> d16;
  const auto low01 = hn::BitCast(d16, hn::InterleaveLower(d, row[0], row[1]));
  const auto low23 = hn::BitCast(d16, hn::InterleaveLower(d, row[2], row[3]));
  const auto high01 = hn::BitCast(d16, hn::InterleaveUpper(d, row[0], row[1]));
  const auto high23 = hn::BitCast(d16, hn::InterleaveUpper(d, row[2], row[3]));
  out[0] = hn::BitCast(d, hn::InterleaveLower(d16, low01, low23));
  out[1] = hn::BitCast(d, hn::InterleaveUpper(d16, low01, low23));
  out[2] = hn::BitCast(d, hn::InterleaveLower(d16, high01, high23));
  out[3] = hn::BitCast(d, hn::InterleaveUpper(d16, high01, high23));
}

// Writes (or adds) the sums of one vector of columns, of which `cols` are valid.
HWY_INLINE void put_columns(const hn::Vec<DSum> (&sum)[4], bool add, int64_t cols, int32_t* out) {
  const DSum d;
  constexpr size_t kLanes = hn::MaxLanes(DSum());
  HWY_ALIGN int32_t values[4][kLanes];
  for (size_t q = 0; q < 4; ++q) {
    hn::Store(sum[q], d, values[q]);
  }
  for (int64_t j = 0; j < cols; ++j) {
    const int64_t value = values[j / 4 % 4][j / 16 * 4 + j % 4];
    out[j] = static_cast<int32_t>(static_cast<uint32_t>(value) +
                                  (add ? static_cast<uint32_t>(out[j]) : 0u));
  }
}

// kRows rows of A times kVectors vectors of columns from j on, the last one perhaps not whole.
template <int kRows, int kVectors>
HWY_NOINLINE void multiply_in_place(const NarrowGemm& g, int64_t j, int64_t cols) {
  const D8 d;
  const DSum d_sum;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto flip = hn::Set(d, uint8_t{0x80});
  const auto* a = static_cast<const int8_t*>(g.a);
  const auto* b = static_cast<const uint8_t*>(g.b) + j;
  const int64_t tail = cols - (kVectors - 1) * lanes;
  int32_t start[kRows];
  offsets(a, g.lda, kRows, g.k, start);
  hn::Vec<DSum> sum[kRows][kVectors][4];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        sum[i][v][q] = hn::Set(d_sum, start[i]);
      }
    }
  }
  const auto step = [&](int64_t k, int64_t rows_of_b) HWY_ATTR {
    W factor[kRows];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      uint32_t word = 0;
      std::memcpy(&word, a + i * g.lda + k, static_cast<size_t>(rows_of_b));
      factor[i] = hn::Set(DW(), word);
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      hn::Vec<D8> row[4], words[4];
#pragma GCC unroll 4
      for (int64_t r = 0; r < 4; ++r) {
        const uint8_t* from = b + (k + r) * g.ldb + v * lanes;
        if (r >= rows_of_b) {
          row[r] = hn::Zero(d);
        } else if (v == kVectors - 1 && tail < lanes) {
          row[r] = hn::Xor(hn::LoadN(d, from, static_cast<size_t>(tail)), flip);
        } else {
          row[r] = hn::Xor(hn::LoadU(d, from), flip);
        }
      }
      interleave_rows(row, words);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) {
          sum[i][v][q] = Int8::step(factor[i], hn::BitCast(DW(), words[q]), sum[i][v][q]);
        }
      }
    }
  };
  int64_t k = 0;
  for (; k + 4 <= g.k; k += 4) {
    step(k, 4);
  }
  if (k < g.k) {
    step(k, g.k - k);
  }
  for (int i = 0; i < kRows; ++i) {
    auto* out = static_cast<int32_t*>(g.c) + i * g.ldc + j;
    for (int v = 0; v < kVectors; ++v) {
      put_columns(sum[i][v], g.accumulate, v == kVectors - 1 ? tail : lanes, out + v * lanes);
    }
  }
}

template <int kRows>
void few_rows_of(const NarrowGemm& g, int64_t n_begin, int64_t n_end) {
  constexpr int kVectors = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;
  const auto lanes = static_cast<int64_t>(hn::Lanes(D8()));
  int64_t j = n_begin;
  for (; j + kVectors * lanes <= n_end; j += kVectors * lanes) {
    multiply_in_place<kRows, kVectors>(g, j, kVectors * lanes);
  }
  for (; j < n_end; j += lanes) {
    multiply_in_place<kRows, 1>(g, j, HWY_MIN(lanes, n_end - j));
  }
}

void few_rows(const NarrowGemm& g, int64_t n_begin, int64_t n_end) {
  static_assert(kMaxFewRows == 4);
  switch (g.m) {
    case 1:
      return few_rows_of<1>(g, n_begin, n_end);
    case 2:
      return few_rows_of<2>(g, n_begin, n_end);
    case 3:
      return few_rows_of<3>(g, n_begin, n_end);
    default:
      return few_rows_of<4>(g, n_begin, n_end);
  }
}

NarrowKernels make_kernels() {
  NarrowKernels kernels = {};
  kernels.tile_rows = kRowsOfTile;
  kernels.panel_width = kTileVectors * static_cast<int64_t>(hn::Lanes(DW()));
  kernels.step_words = 1;
  kernels.block_words = 512;
  kernels.block_panels = 4;
  kernels.offsets = &offsets;
  kernels.few_rows = &few_rows;
  kernels.int8 = {&tile<Int8>, &pack_rows<Int8>, &pack_columns<Int8>, 0x80808080u};
  kernels.bfloat16 = {nullptr, &pack_rows<BFloat16>, &pack_columns<BFloat16>, 0};
#if HWY_NATIVE_DOT_BF16
  kernels.bfloat16.tile = &tile<BFloat16>;
#endif
  return kernels;
}

const NarrowKernels* narrow_kernels_of_target() {
  static const NarrowKernels made = make_kernels();
  return &made;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(NarrowKernels, narrow_kernels)
#endif  // HWY_ONCE
