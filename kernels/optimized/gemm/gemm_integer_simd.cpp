// SPDX-License-Identifier: BSD-3-Clause
// Matmuls of integers that wrap around in their own type: tiles of four rows by two vectors over
// packed panels of b. Bytes are multiplied as 16 bits, of which the lower ones are exact.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/gemm/gemm_integer_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/gemm/dense_matmul.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using executorch::aten::ScalarType;

constexpr int kRows = 4;
constexpr int kVectors = 2;
constexpr int64_t kDepth = 128;      // of a panel, which lies in first-level cache
constexpr int64_t kGrain = 1 << 15;  // products worth a thread

// What elements of T are multiplied and added in.
template <typename T>
using Sums = std::conditional_t<(sizeof(T) == 1), uint16_t, std::make_unsigned_t<T>>;

template <typename A>
HWY_INLINE int64_t panel_columns() {
  return kVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<A>()));
}

// One matrix of a product with its types.
template <typename T>
struct Matrices {
  const T* a;
  const T* b;
  T* c;
  int64_t m, k, n;
  bool b_transposed;
};

// Columns [column, column + columns) of rows [depth, depth + count) of b, zeros behind the last.
template <typename T, typename A>
void pack(const Matrices<T>& p, int64_t depth, int64_t count, int64_t column, int64_t columns,
          A* panel) {
  const int64_t width = panel_columns<A>();
  for (int64_t j = 0; p.b_transposed && j < columns; ++j) {
    const T* const from = p.b + (column + j) * p.k + depth;
    for (int64_t i = 0; i < count; ++i) {
      panel[i * width + j] = static_cast<A>(from[i]);
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; !p.b_transposed && j < columns; ++j) {
      panel[i * width + j] = static_cast<A>(p.b[(depth + i) * p.n + column + j]);
    }
    std::fill_n(panel + i * width + columns, width - columns, A(0));
  }
}

// c += a * panel for `rows` rows (at most kRows) of c from `row` on.
template <typename T, typename A>
void tile(const Matrices<T>& p, int64_t row, int64_t rows, int64_t depth, int64_t count,
          int64_t column, int64_t columns, const A* panel) {
  const hn::ScalableTag<A> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // Rows that are missing are the last one once more; they are not stored.
  const T* a[kRows];
  V sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    a[r] = p.a + (row + std::min<int64_t>(r, rows - 1)) * p.k + depth;
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = hn::Zero(d);
    }
  }
  for (int64_t i = 0; i < count; ++i, panel += kVectors * lanes) {
    const V b0 = hn::LoadU(d, panel), b1 = hn::LoadU(d, panel + lanes);
    for (int r = 0; r < kRows; ++r) {
      const V factor = hn::Set(d, static_cast<A>(a[r][i]));
      sums[r][0] = hn::Add(sums[r][0], hn::Mul(factor, b0));
      sums[r][1] = hn::Add(sums[r][1], hn::Mul(factor, b1));
    }
  }
  HWY_ALIGN A values[kVectors * hn::MaxLanes(hn::ScalableTag<A>())];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sums[r][v], d, values + v * lanes);
    }
    T* const c = p.c + (row + r) * p.n + column;
    for (int64_t j = 0; j < columns; ++j) {
      c[j] = static_cast<T>(static_cast<A>(c[j]) + values[j]);
    }
  }
}

template <typename T>
void multiply_panels(const Matrices<T>& p, int64_t row, int64_t last_row, int64_t first,
                     int64_t last) {
  using A = Sums<T>;
  HWY_ALIGN A panel[kDepth * kVectors * hn::MaxLanes(hn::ScalableTag<A>())];
  const int64_t width = panel_columns<A>();
  for (int64_t column = first * width; column < std::min(last * width, p.n); column += width) {
    const int64_t columns = std::min(width, p.n - column);
    for (int64_t depth = 0; depth < p.k; depth += kDepth) {
      const int64_t count = std::min(kDepth, p.k - depth);
      pack(p, depth, count, column, columns, panel);
      for (int64_t r = row; r < last_row; r += kRows) {
        tile(p, r, std::min<int64_t>(kRows, last_row - r), depth, count, column, columns, panel);
      }
    }
  }
}

// The product of few rows by columns of b that lie together: no panel is worth packing.
template <typename T>
void multiply_by_dots(const Matrices<T>& p) {
  using A = Sums<T>;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, p.m * p.k));
  extension::parallel_for(0, p.n, grain, [&](int64_t first, int64_t last) {
    for (int64_t column = first; column < last; ++column) {
      const T* const b = p.b + column * p.k;
      for (int64_t row = 0; row < p.m; ++row) {
        const T* const a = p.a + row * p.k;
        A sum = static_cast<A>(p.c[row * p.n + column]);
        for (int64_t i = 0; i < p.k; ++i) {
          sum = static_cast<A>(sum +
                               static_cast<A>(1u * static_cast<A>(a[i]) * static_cast<A>(b[i])));
        }
        p.c[row * p.n + column] = static_cast<T>(sum);
      }
    }
  });
}

// c holds what is added to. Threads share panels, and blocks of rows where there are few panels.
template <typename T>
void multiply_all(const Matmul& p) {
  constexpr int64_t kRowBlock = 64;
  if (p.b_transposed && p.batch == 1 && p.m <= 2 * kRows) {
    return multiply_by_dots(Matrices<T>{static_cast<const T*>(p.a), static_cast<const T*>(p.b),
                                        static_cast<T*>(p.c), p.m, p.k, p.n, true});
  }
  const int64_t width = panel_columns<Sums<T>>();
  const int64_t panels = (p.n + width - 1) / width;
  const int64_t block = panels >= 2 * extension::get_num_threads() ? p.m : kRowBlock;
  const int64_t blocks = (p.m + block - 1) / std::max<int64_t>(1, block);
  const int64_t work = std::max<int64_t>(1, std::min(block, p.m) * width * p.k);
  extension::parallel_for(
      0, p.batch * blocks * panels, std::max<int64_t>(1, kGrain / work),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t batch = i / (blocks * panels), row = i / panels % blocks * block;
          const Matrices<T> one{static_cast<const T*>(p.a) + batch * p.m * p.k,
                                static_cast<const T*>(p.b) + batch * p.k * p.n,
                                static_cast<T*>(p.c) + batch * p.m * p.n,
                                p.m,
                                p.k,
                                p.n,
                                p.b_transposed};
          multiply_panels(one, row, std::min(row + block, p.m), i % panels, i % panels + 1);
        }
      });
}

void multiply_by_type(const Matmul& p) {
  switch (p.dtype) {
    case ScalarType::Byte:
      return multiply_all<uint8_t>(p);
    case ScalarType::Char:
      return multiply_all<int8_t>(p);
    case ScalarType::Short:
      return multiply_all<int16_t>(p);
    case ScalarType::Int:
      return multiply_all<int32_t>(p);
    default:
      return multiply_all<int64_t>(p);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(multiply_by_type);

void matmul_integers(const Matmul& p) {
  const auto row = static_cast<size_t>(p.n) * executorch::runtime::elementSize(p.dtype);
  auto* const c = static_cast<char*>(p.c);
  for (int64_t i = 0; !p.accumulate && i < p.batch * p.m; ++i) {
    p.col_bias != nullptr ? std::memcpy(c + static_cast<size_t>(i) * row, p.col_bias, row)
                          : std::memset(c + static_cast<size_t>(i) * row, 0, row);
  }
  HWY_DYNAMIC_DISPATCH(multiply_by_type)(p);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
