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
#include <executorch/kernels/optimized/int8_dots/int8_dots-inl.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_ARM  // four words of a row are a vector, with which instructions multiply by lane
constexpr int kRowsOfTile = 4, kVectorsOfTile = 4, kStepWords = 4;
#elif HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_AVX2
constexpr int kRowsOfTile = 4, kVectorsOfTile = kTileVectors, kStepWords = 1;
#else
constexpr int kRowsOfTile = kMaxTileRows, kVectorsOfTile = kTileVectors, kStepWords = 1;
#endif

using DW = hn::CappedTag<uint32_t, kMaxTileWidth / 4>;
using W = hn::Vec<DW>;

// What a type adds to the loops: its sum, its width, and how it multiplies.
template <class OfBytes>
struct Int8 {
  using Sum = int32_t;
  using Bits = uint8_t;
  using Dots = OfBytes;
};

struct BFloat16 {
  using Sum = float;
  using Bits = uint16_t;
#if HWY_NATIVE_DOT_BF16
  struct Dots {
    using Left = const int8_t*;
    using V = hn::Vec<hn::Rebind<Sum, DW>>;
    static constexpr int kRows = 1, kDepth = 4, kStretch = 4 * kStepWords;
    static HWY_INLINE Left load(const int8_t* row, const int8_t*) { return row; }
    template <int kStep>
    static HWY_INLINE V add(VRight right, Left left, V sum) {
      const hn::Repartition<hwy::bfloat16_t, DW> d;
      V unused = sum;
      return hn::ReorderWidenMulAccumulate(hn::Rebind<Sum, DW>(),
                                           hn::BitCast(d, four_of(left + kStep * kDepth)),
                                           hn::BitCast(d, right), sum, unused);
    }
  };
#endif
};

template <typename T>
constexpr int64_t kPerWord = 4 / sizeof(typename T::Bits);

template <typename T>
using VSums = hn::Vec<hn::Rebind<typename T::Sum, DW>>;

// Of the first kRows rows.
template <typename T, int kRows, int kVectors, int kWhole>
HWY_INLINE void load_sums(const NarrowTile& t, VSums<T> (&sum)[kWhole][kVectors]) {
  using Sum = typename T::Sum;
  const hn::Rebind<Sum, DW> d;
  const size_t lanes = hn::Lanes(d);
  const size_t tail = static_cast<size_t>(t.cols) - (kVectors - 1) * lanes;
  const auto* row_start = static_cast<const Sum*>(t.row_start);
#pragma GCC unroll 8
  for (int i = 0; i < kWhole; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const size_t valid = j == kVectors - 1 ? tail : lanes;
      sum[i][j] = hn::Zero(d);
      if (i >= kRows) {
        continue;
      }
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

template <typename T, int kRows, int kVectors, int kWhole>
HWY_INLINE void store_sums(const NarrowTile& t, const VSums<T> (&sum)[kWhole][kVectors]) {
  const hn::Rebind<typename T::Sum, DW> d;
  const size_t lanes = hn::Lanes(d);
  const size_t tail = static_cast<size_t>(t.cols) - (kVectors - 1) * lanes;
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    auto* row = static_cast<typename T::Sum*>(t.c) + i * t.ldc;
#pragma GCC unroll 4
    for (int j = 0; j < kVectors - 1; ++j) {
      hn::StoreU(sum[i][j], d, row + j * lanes);
    }
    hn::StoreN(sum[i][kVectors - 1], d, row + (kVectors - 1) * lanes, tail);
  }
}

// Rows of a tile as T takes them: where there is none it has the last one once more.
template <typename T, int kRows>
constexpr int kWholeRows = (kRows + T::Dots::kRows - 1) / T::Dots::kRows * T::Dots::kRows;

// Products of a stretch of A, which begins at `a`, with its words of the panel.
template <typename T, int kRows, int kVectors>
HWY_INLINE void step_sums(const uint8_t* HWY_RESTRICT a, int64_t a_stride,
                          const uint32_t* HWY_RESTRICT b, int64_t width,
                          VSums<T> (&sum)[kWholeRows<T, kRows>][kVectors]) {
  using Dots = typename T::Dots;
  constexpr int kWhole = kWholeRows<T, kRows>;
  typename Dots::Left left[kWhole / Dots::kRows];
  const auto row = [&](int i) HWY_ATTR {
    return reinterpret_cast<const int8_t*>(a + HWY_MIN(i, kRows - 1) * a_stride);
  };
#pragma GCC unroll 8
  for (int i = 0; i < kWhole; i += Dots::kRows) {
    left[i / Dots::kRows] = Dots::load(row(i), row(i + Dots::kRows - 1));
  }
  const auto right = [&](int step, int j) HWY_ATTR {
    const auto lanes = static_cast<int64_t>(hn::Lanes(DW()));
    return hn::BitCast(DRight(),
                       hn::LoadU(DW(), b + step * (Dots::kDepth / 4) * width + j * lanes));
  };
  add_stretch<Dots>(left, right, sum);
}

template <typename T, int kRows, int kVectors>
void multiply_tile(const NarrowTile& t) {
  using Dots = typename T::Dots;
  constexpr int kWhole = kWholeRows<T, kRows>;
  VSums<T> sum[kWhole][kVectors];
  load_sums<T, kRows, kVectors>(t, sum);
  turn_sums<Dots>(sum);
  const uint8_t* a = t.a;
  const uint32_t* b = t.b;
  const int64_t words = t.words;
#pragma GCC unroll 1
  for (int64_t p = 0; p < words; p += kStepWords, a += 4 * kStepWords, b += kStepWords * t.width) {
    step_sums<T, kRows, kVectors>(a, t.a_stride, b, t.width, sum);
  }
  if (t.rest != 0) {
    if constexpr (kStepWords > 1) {
      step_sums<T, kRows, kVectors>(t.a_last, 4 * kStepWords, b, t.width, sum);
    } else {
      uint32_t last[kRows] = {};
      for (int i = 0; i < kRows; ++i) {
        std::memcpy(last + i, a + i * t.a_stride,
                    static_cast<size_t>(t.rest) * sizeof(typename T::Bits));
      }
      step_sums<T, kRows, kVectors>(reinterpret_cast<const uint8_t*>(last), 4, b, t.width, sum);
    }
  }
  turn_sums<Dots>(sum);
  store_sums<T, kRows, kVectors>(t, sum);
}

using Tile = void (*)(const NarrowTile&);

template <typename T>
struct Tiles {
  Tile of[kRowsOfTile][kVectorsOfTile];
  constexpr Tiles() : of() {
    fill_tiles<kRowsOfTile, kVectorsOfTile>(of, [](auto rows, auto vectors) {
      return &multiply_tile<T, decltype(rows)::value, decltype(vectors)::value>;
    });
  }
};

template <typename T>
void tile(const NarrowTile& t) {
  static constexpr Tiles<T> kTiles;
  const auto lanes = static_cast<int64_t>(hn::Lanes(DW()));
  kTiles.of[t.rows - 1][(t.cols - 1) / lanes](t);
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

// Four rows of B from k on, some columns of them; rows that there are not are 0.
template <bool kAllColumns>
HWY_INLINE void load_rows(const uint8_t* b, int64_t stride, int64_t rows, int64_t cols,
                          hn::Vec<D8> (&row)[4]) {
  const D8 d;
#pragma GCC unroll 4
  for (int64_t r = 0; r < 4; ++r) {
    if (r >= rows) {
      row[r] = hn::Zero(d);
    } else {
      const uint8_t* from = b + r * stride;
      row[r] = kAllColumns ? hn::LoadU(d, from) : hn::LoadN(d, from, static_cast<size_t>(cols));
    }
  }
}

#if HWY_ARCH_ARM
void pack_rows_of_bytes(const NarrowPanel& p, uint32_t* HWY_RESTRICT out) {
  constexpr int64_t kColumns = 16;
  const W flip = hn::Set(DW(), p.flip);
  for (int64_t k = 0; k < p.values; k += 4, out += p.width) {
    for (int64_t j = 0; j < p.cols; j += kColumns) {
      const uint8_t* from = p.b + k * p.stride + j;
      hn::Vec<D8> row[4], words[4];
      if (j + kColumns <= p.cols && k + 4 <= p.values) {
        load_rows<true>(from, p.stride, 4, kColumns, row);
      } else {
        load_rows<false>(from, p.stride, p.values - k, HWY_MIN(kColumns, p.cols - j), row);
      }
      interleave_rows(row, words);
#pragma GCC unroll 4
      for (int64_t q = 0; q < 4; ++q) {
        hn::StoreU(hn::Xor(hn::BitCast(DW(), words[q]), flip), DW(), out + j + 4 * q);
      }
    }
  }
}
#endif  // HWY_ARCH_ARM

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

[[maybe_unused]] void offsets(const int8_t* a, int64_t a_stride, int64_t rows, int64_t k,
                              int32_t* out) {
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
    if (p < k) {
      const auto rest = hn::LoadN(d8, a + p, static_cast<size_t>(k - p));
      sum = hn::SumOfMulQuadAccumulate(d, ones, rest, sum);
    }
    const auto total = static_cast<uint32_t>(hn::ReduceSum(d, sum));
    out[i] = static_cast<int32_t>(0u - 128u * total);
  }
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

#if HWY_ARCH_ARM
constexpr uint32_t kFlip = 0;
#else
constexpr uint32_t kFlip = 0x80808080u;
#endif

// kRows rows of A times kVectors vectors of columns from j on, the last one perhaps not whole.
template <class Dots, int kRows, int kVectors>
struct InPlace {
  using Left = typename Dots::Left;

  const NarrowGemm& g;
  const uint8_t* b;  // from column j on
  int64_t tail;      // columns of the last vector
  VSum sum[kRows][kVectors][4];

  HWY_INLINE InPlace(const NarrowGemm& gemm, int64_t column, int64_t columns_of_last)
      : g(gemm), b(static_cast<const uint8_t*>(gemm.b) + column), tail(columns_of_last) {
    start();
  }

  HWY_INLINE void start() {
    int32_t first[kRows] = {};
    if constexpr (kFlip != 0) {
      offsets(static_cast<const int8_t*>(g.a), g.lda, kRows, g.k, first);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) {
          sum[i][v][q] = hn::Set(DSum(), first[i]);
        }
      }
    }
  }

  // Rows of B from k on, as many as a stretch has or A is left of it.
  template <int kStep = 0>
  HWY_INLINE void add(int64_t k, int64_t rows, const Left (&left)[kRows]) {
    if constexpr (kStep < Dots::kStretch / Dots::kDepth) {
      const auto lanes = static_cast<int64_t>(hn::Lanes(D8()));
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        hn::Vec<D8> row[4], words[4];
        const uint8_t* from = b + k * g.ldb + v * lanes;
        if (v == kVectors - 1 && tail < lanes) {
          load_rows<false>(from, g.ldb, rows, tail, row);
        } else {
          load_rows<true>(from, g.ldb, rows, lanes, row);
        }
        interleave_rows(row, words);
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) {
          const auto flipped = hn::Xor(hn::BitCast(DW(), words[q]), hn::Set(DW(), kFlip));
#pragma GCC unroll 4
          for (int i = 0; i < kRows; ++i) {
            sum[i][v][q] =
                Dots::template add<kStep>(hn::BitCast(D8(), flipped), left[i], sum[i][v][q]);
          }
        }
      }
      if (rows > 4) {
        add<kStep + 1>(k + 4, rows - 4, left);
      }
    }
  }

  HWY_INLINE void multiply() {
    const auto* a = static_cast<const int8_t*>(g.a);
    Left left[kRows];
    int64_t k = 0;
    for (; k + Dots::kStretch <= g.k; k += Dots::kStretch) {
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        left[i] = Dots::load(a + i * g.lda + k, nullptr);
      }
      add(k, Dots::kStretch, left);
    }
    if (k < g.k) {
      int8_t last[kRows][Dots::kStretch] = {};
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        std::memcpy(last[i], a + i * g.lda + k, static_cast<size_t>(g.k - k));
        left[i] = Dots::load(last[i], nullptr);
      }
      add(k, g.k - k, left);
    }
  }
};

template <class Dots, int kRows, int kVectors>
HWY_NOINLINE void multiply_in_place(const NarrowGemm& g, int64_t j, int64_t cols) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D8()));
  const int64_t tail = cols - (kVectors - 1) * lanes;
  InPlace<Dots, kRows, kVectors> part(g, j, tail);
  part.multiply();
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    auto* out = static_cast<int32_t*>(g.c) + i * g.ldc + j;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      put_columns(part.sum[i][v], g.accumulate, v == kVectors - 1 ? tail : lanes, out + v * lanes);
    }
  }
}

template <class Dots, int kRows>
void few_rows_of(const NarrowGemm& g, int64_t n_begin, int64_t n_end) {
  constexpr int kVectors = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;
  const auto lanes = static_cast<int64_t>(hn::Lanes(D8()));
  int64_t j = n_begin;
  for (; j + kVectors * lanes <= n_end; j += kVectors * lanes) {
    multiply_in_place<Dots, kRows, kVectors>(g, j, kVectors * lanes);
  }
  for (; j < n_end; j += lanes) {
    multiply_in_place<Dots, kRows, 1>(g, j, HWY_MIN(lanes, n_end - j));
  }
}

template <class Dots>
void few_rows(const NarrowGemm& g, int64_t n_begin, int64_t n_end) {
  static_assert(kMaxFewRows == 4);
  switch (g.m) {
    case 1:
      return few_rows_of<Dots, 1>(g, n_begin, n_end);
    case 2:
      return few_rows_of<Dots, 2>(g, n_begin, n_end);
    case 3:
      return few_rows_of<Dots, 3>(g, n_begin, n_end);
    default:
      return few_rows_of<Dots, 4>(g, n_begin, n_end);
  }
}

#if EXECUTORCH_ARM_DOTS
// Words of two steps of k become those of 8 bytes of each column side by side.
void pair_words(uint32_t* panel, int64_t words, int64_t width) {
  constexpr int64_t kColumns = 16;
  const DW d;
  for (; words > 0; words -= 2, panel += 2 * width) {
    for (int64_t j = 0; j < width; j += kColumns) {
      W first[4], second[4];
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; ++i) {
        first[i] = hn::LoadU(d, panel + j + 4 * i);
        second[i] = hn::LoadU(d, panel + width + j + 4 * i);
      }
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; ++i) {
        uint32_t* to = panel + 2 * j + 8 * i;
        hn::StoreU(hn::InterleaveLower(d, first[i], second[i]), d, to);
        hn::StoreU(hn::InterleaveUpper(d, first[i], second[i]), d, to + 4);
      }
    }
  }
}
#endif

template <class Dots>
NarrowKernels kernels_of() {
  using Bytes = Int8<Dots>;
  NarrowKernels kernels = {};
  kernels.has_int8_dots = Dots::kIsInstruction;
  kernels.tile_rows = kRowsOfTile;
  kernels.panel_width = kVectorsOfTile * static_cast<int64_t>(hn::Lanes(DW()));
  kernels.step_words = kStepWords;
  kernels.block_words = 512;
  kernels.block_panels = 4;
  kernels.few_rows = &few_rows<typename Dots::OneRow>;
  kernels.int8 = {&tile<Bytes>, &pack_rows<Bytes>, &pack_columns<Bytes>, nullptr, kFlip};
  kernels.bfloat16 = {nullptr, &pack_rows<BFloat16>, &pack_columns<BFloat16>, nullptr, 0};
#if HWY_ARCH_ARM
  kernels.block_words = 256;  // 16 KB a panel: there are first-level caches of 32
  kernels.int8.pack_rows = &pack_rows_of_bytes;
#else
  kernels.offsets = &offsets;
#endif
#if EXECUTORCH_ARM_DOTS
  if constexpr (Dots::kDepth == 8) {
    kernels.int8.arrange = &pair_words;
  }
#endif
#if HWY_NATIVE_DOT_BF16
  kernels.bfloat16.tile = &tile<BFloat16>;
#endif
  return kernels;
}

const NarrowKernels* narrow_kernels_of_target() {
  return with_dots([](auto dots) -> const NarrowKernels* {
    static const NarrowKernels made = kernels_of<decltype(dots)>();
    return &made;
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(NarrowKernels, narrow_kernels)
#endif  // HWY_ONCE
