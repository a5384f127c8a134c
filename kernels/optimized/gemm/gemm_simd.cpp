// SPDX-License-Identifier: BSD-3-Clause
// Register tiles of the matrix multiply. 8x3 vectors where there are 32 registers (24 sums, 3 of B,
// 1 broadcast), 4x3 where there are 16: measured at 111 to 116 GFLOP/s on one Zen 4 core for 8x3,
// where eager reaches 97 to 103.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/gemm/gemm_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 4;
#else
constexpr int kTileRows = kMaxTileRows;
#endif

using D = hn::CappedTag<float, kMaxTileWidth / 4>;
using V = hn::Vec<D>;

template <int kRows, int kVectors>
HWY_INLINE void load_tile(const GemmTile& t, V (&sum)[kRows][kVectors]) {
  const D d;
  const size_t lanes = hn::Lanes(d);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      const size_t valid = j == kVectors - 1 ? static_cast<size_t>(t.tail) : lanes;
      if (t.accumulate) {
        sum[i][j] = hn::LoadN(d, t.c + i * t.ldc + j * lanes, valid);
      } else if (t.col_bias != nullptr) {
        sum[i][j] = hn::LoadN(d, t.col_bias + j * lanes, valid);
      } else {
        sum[i][j] = t.row_bias != nullptr ? hn::Set(d, t.row_bias[i]) : hn::Zero(d);
      }
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
    hn::StoreN(sum[i][kVectors - 1], d, t.c + i * t.ldc + (kVectors - 1) * lanes,
               static_cast<size_t>(t.tail));
  }
}

template <int kRows, int kVectors>
void tile(const GemmTile& t) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
  load_tile(t, sum);
  const float* HWY_RESTRICT a = t.a;
  const float* HWY_RESTRICT b = t.b;
  const int64_t lda = t.lda;
  const int64_t ldb = t.ldb;
  const int64_t k = t.k;
#pragma GCC unroll 1
  for (int64_t p = 0; p < k; ++p) {
    V row[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) {
      row[j] = hn::LoadU(d, b + j * lanes);
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
  store_tile(t, sum);
}

// Blocks of 4x4 in 128-bit vectors, which every target has.
template <bool kAdd>
void transpose_block(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out,
                     int64_t out_stride) {
  const hn::FixedTag<float, 4> d;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* from = in + r * in_stride;
    int64_t c = 0;
    for (; c + 4 <= cols; c += 4) {
      const auto r0 = hn::LoadU(d, from + c);
      const auto r1 = hn::LoadU(d, from + in_stride + c);
      const auto r2 = hn::LoadU(d, from + 2 * in_stride + c);
      const auto r3 = hn::LoadU(d, from + 3 * in_stride + c);
      const auto low01 = hn::InterleaveLower(d, r0, r1);
      const auto low23 = hn::InterleaveLower(d, r2, r3);
      const auto high01 = hn::InterleaveUpper(d, r0, r1);
      const auto high23 = hn::InterleaveUpper(d, r2, r3);
      float* to = out + c * out_stride + r;
      const auto put = [&](auto value, float* HWY_RESTRICT at) HWY_ATTR {
        hn::StoreU(kAdd ? hn::Add(value, hn::LoadU(d, at)) : value, d, at);
      };
      put(hn::ConcatLowerLower(d, low23, low01), to);
      put(hn::ConcatUpperUpper(d, low23, low01), to + out_stride);
      put(hn::ConcatLowerLower(d, high23, high01), to + 2 * out_stride);
      put(hn::ConcatUpperUpper(d, high23, high01), to + 3 * out_stride);
    }
    for (; c < cols; ++c) {
      for (int64_t i = 0; i < 4; ++i) {
        float& at = out[c * out_stride + r + i];
        at = kAdd ? at + from[i * in_stride + c] : from[i * in_stride + c];
      }
    }
  }
  for (; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      float& at = out[c * out_stride + r];
      at = kAdd ? at + in[r * in_stride + c] : in[r * in_stride + c];
    }
  }
}

void transpose(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out,
               int64_t out_stride, bool add) {
  if (add) {
    transpose_block<true>(in, in_stride, rows, cols, out, out_stride);
  } else {
    transpose_block<false>(in, in_stride, rows, cols, out, out_stride);
  }
}

constexpr int kDotRows = 4;  // rows read side by side

// Up to a vector of T as f32.
template <typename T>
HWY_INLINE V load_widened(const T* from, size_t valid) {
  const D d;
  if constexpr (std::is_same_v<T, float>) {
    return hn::LoadN(d, from, valid);
  } else {
    const hn::Rebind<T, D> narrow;
    if (valid == hn::Lanes(d)) {
      return hn::PromoteTo(d, hn::LoadU(narrow, from));
    }
    HWY_ALIGN T rest[hn::MaxLanes(narrow)] = {};
    std::memcpy(rest, from, valid * sizeof(T));
    return hn::PromoteTo(d, hn::Load(narrow, rest));
  }
}

template <typename T, int kRows, int kX>
HWY_INLINE void dot_block(const DotRows& p, int64_t first) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sum[kRows][kX];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kX; ++i) {
      sum[r][i] = hn::Zero(d);
    }
  }
  const T* rows = static_cast<const T*>(p.rows) + first * p.row_stride;
  for (int64_t q = 0; q < p.k; q += lanes) {
    const auto valid = static_cast<size_t>(p.k - q < lanes ? p.k - q : lanes);
    V x[kX];
#pragma GCC unroll 4
    for (int i = 0; i < kX; ++i) {
      x[i] = hn::LoadN(d, p.x + i * p.x_stride + q, valid);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V row = load_widened(rows + r * p.row_stride + q, valid);
#pragma GCC unroll 4
      for (int i = 0; i < kX; ++i) {
        sum[r][i] = hn::MulAdd(row, x[i], sum[r][i]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const float bias = p.bias != nullptr ? p.bias[first + r] : 0.0f;
#pragma GCC unroll 4
    for (int i = 0; i < kX; ++i) {
      p.out[i * p.out_stride + first + r] = hn::ReduceSum(d, sum[r][i]) + bias;
    }
  }
}

template <typename T, int kX>
void dot_rows_for(const DotRows& p, int64_t first, int64_t last) {
  for (; first + kDotRows <= last; first += kDotRows) {
    dot_block<T, kDotRows, kX>(p, first);
  }
  for (; first < last; ++first) {
    dot_block<T, 1, kX>(p, first);
  }
}

template <typename T>
void dot_rows_of(const DotRows& p, int64_t first, int64_t last) {
  switch (p.num_x) {
    case 1:
      return dot_rows_for<T, 1>(p, first, last);
    case 2:
      return dot_rows_for<T, 2>(p, first, last);
    case 3:
      return dot_rows_for<T, 3>(p, first, last);
    default:
      return dot_rows_for<T, 4>(p, first, last);
  }
}

void dot_rows_range(const DotRows& p, int64_t first, int64_t last) {
  switch (p.row_type) {
    case executorch::aten::ScalarType::Half:
      return dot_rows_of<hwy::float16_t>(p, first, last);
    case executorch::aten::ScalarType::BFloat16:
      return dot_rows_of<hwy::bfloat16_t>(p, first, last);
    default:
      return dot_rows_of<float>(p, first, last);
  }
}

template <int kRows>
void fill_row(GemmKernels& kernels) {
  kernels.tile[kRows - 1][0] = &tile<kRows, 1>;
  kernels.tile[kRows - 1][1] = &tile<kRows, 2>;
  kernels.tile[kRows - 1][2] = &tile<kRows, 3>;
  if constexpr (kRows > 1) {
    fill_row<kRows - 1>(kernels);
  }
}

GemmKernels make_kernels() {
  GemmKernels kernels = {};
  kernels.tile_rows = kTileRows;
  kernels.lanes = static_cast<int64_t>(hn::Lanes(D()));
  kernels.transpose = &transpose;
  kernels.dot_rows = &dot_rows_range;
  fill_row<kTileRows>(kernels);
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
namespace executorch::kernels::optimized {

HWY_EXPORT(gemm_kernels_of_target);

const GemmKernels& gemm_kernels() {
  return *HWY_DYNAMIC_DISPATCH(gemm_kernels_of_target)();
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
