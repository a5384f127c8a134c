// SPDX-License-Identifier: BSD-3-Clause
// Register tiles of the matrix multiply. 8x3 vectors where there are 32 registers (24 sums, 3 of B,
// 1 broadcast), 4x3 where there are 16: measured at 111 to 116 GFLOP/s on one Zen 4 core for 8x3,
// where eager reaches 97 to 103.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/gemm/gemm_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/bounds-inl.h>
#include <executorch/kernels/optimized/gemm/dots-inl.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many as registers hold; on 64-bit Arm with a vector of factors for each row.
#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_AVX2 || HWY_ARCH_ARM_V7
constexpr int kTileRows = 4;
#elif HWY_ARCH_ARM_A64
constexpr int kTileRows = 6;
#else
constexpr int kTileRows = kMaxTileRows;
#endif

// Rows of B that are asked for ahead, so that weights which no cache holds come in time.
constexpr int64_t kAhead = 32;

// Where a vector is a line of the cache; elsewhere there are more instructions than it gains.
constexpr bool kAsksAhead = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;
HWY_INLINE void ask_for(const float* line) {
  if (kAsksAhead) {
    hwy::Prefetch(line);
  }
}

// Vector `j` of a row of tiles, of which the last may be shorter.
template <int kVectors>
HWY_INLINE V load_part(const GemmTile& t, int j, const float* from) {
  const D d;
  const auto tail = static_cast<size_t>(t.tail);
  return j < kVectors - 1 || tail == hn::Lanes(d) ? hn::LoadU(d, from) : hn::LoadN(d, from, tail);
}

template <int kRows, int kVectors>
HWY_INLINE void load_tile(const GemmTile& t, V (&sum)[kRows][kVectors]) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  if (!t.accumulate && t.col_bias != nullptr) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      const V bias = load_part<kVectors>(t, j, t.col_bias + j * lanes);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        sum[i][j] = bias;
      }
    }
    return;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      if (t.accumulate) {
        sum[i][j] = load_part<kVectors>(t, j, t.c + i * t.ldc + j * lanes);
      } else {
        sum[i][j] = t.row_bias != nullptr ? hn::Set(d, t.row_bias[i]) : hn::Zero(d);
      }
    }
  }
}

template <int kRows, int kVectors>
HWY_INLINE void bound_tile(const GemmTile& t, V (&sum)[kRows][kVectors]) {
  const D d;
  const V low = hn::Set(d, t.min);
  const V high = hn::Set(d, t.max);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = keep_within(low, high, sum[i][j]);
    }
  }
}

template <int kRows, int kVectors>
HWY_INLINE void store_tile(const GemmTile& t, const V (&sum)[kRows][kVectors]) {
  const D d;
  const size_t lanes = hn::Lanes(d);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors - 1; ++j) {
      hn::StoreU(sum[i][j], d, t.c + i * t.ldc + j * lanes);
    }
    float* last = t.c + i * t.ldc + (kVectors - 1) * lanes;
    if (static_cast<size_t>(t.tail) == lanes) {
      hn::StoreU(sum[i][kVectors - 1], d, last);
    } else {
      hn::StoreN(sum[i][kVectors - 1], d, last, static_cast<size_t>(t.tail));
    }
  }
}

#if HWY_ARCH_ARM_A64
// Row p + kStep of B, by lane kStep of each row's factors: an operand of Arm's multiply-adds.
template <int kStep, int kRows, int kVectors>
HWY_INLINE void add_step(const float* HWY_RESTRICT b, const V (&factors)[kRows],
                         V (&sum)[kRows][kVectors]) {
  const D d;
  V row[kVectors];
#pragma GCC unroll 3
  for (int j = 0; j < kVectors; ++j) {
    row[j] = hn::LoadU(d, b + j * hn::Lanes(d));
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = hn::MulAdd(hn::Broadcast<kStep>(factors[i]), row[j], sum[i][j]);
    }
  }
}

// Four steps at a time; gives how many there were.
template <int kRows, int kVectors>
HWY_INLINE int64_t add_quads(const GemmTile& t, const float* HWY_RESTRICT a,
                             const float* HWY_RESTRICT b, V (&sum)[kRows][kVectors]) {
  const int64_t end = t.k / 4 * 4;
#pragma GCC unroll 1
  for (int64_t p = 0; p < end; p += 4, a += 4, b += 4 * t.ldb) {
    V factors[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      factors[i] = hn::LoadU(D(), a + i * t.lda);
    }
    add_step<0>(b, factors, sum);
    add_step<1>(b + t.ldb, factors, sum);
    add_step<2>(b + 2 * t.ldb, factors, sum);
    add_step<3>(b + 3 * t.ldb, factors, sum);
  }
  return end;
}
#else
template <int kRows, int kVectors>
HWY_INLINE int64_t add_quads(const GemmTile&, const float*, const float*, V (&)[kRows][kVectors]) {
  return 0;
}
#endif

template <int kRows, int kVectors>
HWY_INLINE void add_piece(const GemmTile& t, const float* HWY_RESTRICT a,
                          const float* HWY_RESTRICT b, V (&sum)[kRows][kVectors]) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const int64_t begin = add_quads(t, a, b, sum);
  const int64_t lda = t.lda;
  const int64_t ldb = t.ldb;
  const int64_t k = t.k;
  b += begin * ldb;
#pragma GCC unroll 1
  for (int64_t p = begin; p < k; ++p) {
    V row[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      row[j] = hn::LoadU(d, b + j * lanes);
      ask_for(b + kAhead * ldb + j * lanes);
    }
    b += ldb;
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, a[i * lda + p]);
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) {
        sum[i][j] = hn::MulAdd(factor, row[j], sum[i][j]);
      }
    }
  }
}

// By itself, since GCC would keep what tiles have in common, biases and bounds, in registers that
// the sums need.
template <int kRows, int kVectors>
HWY_NOINLINE void one_tile(const GemmTile& t) {
  V sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      ask_for(t.c + i * t.ldc + j * hn::Lanes(D()));
    }
  }
  load_tile(t, sum);
  if (t.offsets == nullptr) {
    add_piece(t, t.a, t.b, sum);
  } else {
    for (int64_t i = 0; i < t.pieces; ++i) {
      add_piece(t, t.a + t.offsets[i], t.b + i * t.k * t.ldb, sum);
    }
  }
  if (t.is_bounded) {
    bound_tile(t, sum);
  }
  store_tile(t, sum);
}

template <int kRows, int kVectors>
void tile(const GemmTile& first) {
  GemmTile t = first;
  for (int64_t i = 0; i < first.count; ++i) {
    one_tile<kRows, kVectors>(t);
    t.a += kRows * t.lda;
    t.c += kRows * t.ldc;
    t.row_bias += t.row_bias != nullptr ? kRows : 0;
  }
}

// Blocks of 4x4 in 128-bit vectors, which every target has.
template <bool kAdd>
HWY_INLINE void transpose_4x4(const float* in, int64_t in_stride, float* out, int64_t out_stride) {
  const hn::FixedTag<float, 4> d;
  const auto r0 = hn::LoadU(d, in);
  const auto r1 = hn::LoadU(d, in + in_stride);
  const auto r2 = hn::LoadU(d, in + 2 * in_stride);
  const auto r3 = hn::LoadU(d, in + 3 * in_stride);
  const auto low01 = hn::InterleaveLower(d, r0, r1);
  const auto low23 = hn::InterleaveLower(d, r2, r3);
  const auto high01 = hn::InterleaveUpper(d, r0, r1);
  const auto high23 = hn::InterleaveUpper(d, r2, r3);
  const auto put = [&](auto value, float* HWY_RESTRICT at) HWY_ATTR {
    hn::StoreU(kAdd ? hn::Add(value, hn::LoadU(d, at)) : value, d, at);
  };
  put(hn::ConcatLowerLower(d, low23, low01), out);
  put(hn::ConcatUpperUpper(d, low23, low01), out + out_stride);
  put(hn::ConcatLowerLower(d, high23, high01), out + 2 * out_stride);
  put(hn::ConcatUpperUpper(d, high23, high01), out + 3 * out_stride);
}

// What is left besides the blocks of 4 x 4.
template <bool kAdd>
void transpose_edge(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out,
                    int64_t out_stride) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      float& at = out[c * out_stride + r];
      at = kAdd ? at + in[r * in_stride + c] : in[r * in_stride + c];
    }
  }
}

template <bool kAdd>
void transpose_block(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out,
                     int64_t out_stride) {
  // The side whose lines lie far apart is gone through line by line: lines at a power of two evict
  // each other from the first-level cache before they are complete.
  constexpr int64_t kLine = 16;
  const bool by_output = in_stride < out_stride;
  const int64_t row_block = by_output ? kLine : 4;
  const int64_t whole_rows = rows / 4 * 4, whole_cols = cols / 4 * 4;
  for (int64_t r0 = 0; r0 < whole_rows; r0 += row_block) {
    const int64_t r1 = std::min(r0 + row_block, whole_rows);
    for (int64_t c = 0; c < whole_cols; c += 4) {
      for (int64_t r = r0; r < r1; r += 4) {
        transpose_4x4<kAdd>(in + r * in_stride + c, in_stride, out + c * out_stride + r,
                            out_stride);
      }
    }
  }
  transpose_edge<kAdd>(in + whole_cols, in_stride, whole_rows, cols - whole_cols,
                       out + whole_cols * out_stride, out_stride);
  transpose_edge<kAdd>(in + whole_rows * in_stride, in_stride, rows - whole_rows, cols,
                       out + whole_rows, out_stride);
}

void transpose(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out,
               int64_t out_stride, bool add) {
  if (add) {
    transpose_block<true>(in, in_stride, rows, cols, out, out_stride);
  } else {
    transpose_block<false>(in, in_stride, rows, cols, out, out_stride);
  }
}

void dot_rows_range(const DotRows& p, int64_t first, int64_t last) {
  with_row_type(p.row_type, [&](auto row) HWY_ATTR {
    dot_rows_of<typename decltype(row)::Type>(p, first, last);
  });
}

GemmKernels make_kernels() {
  GemmKernels kernels = {};
  kernels.tile_rows = kTileRows;
  kernels.lanes = static_cast<int64_t>(hn::Lanes(D()));
  kernels.transpose = &transpose;
  kernels.dot_rows = &dot_rows_range;
  fill_tiles<kTileRows, kTileVectors>(
      kernels.tile, [](auto rows, auto vectors) { return &tile<rows(), vectors()>; });
  return kernels;
}

const GemmKernels* gemm_kernels_of_target() {
  static const GemmKernels made = make_kernels();
  return &made;
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(GemmKernels, gemm_kernels)
#endif  // HWY_ONCE
