// SPDX-License-Identifier: BSD-3-Clause
// Rows of a cache in the order of memory: some rows of all heads, then the next. What follows is
// fetched meanwhile, since processors do not predict the parts of a row that a head has.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/attention/attention_rows_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/attention/attention_simd.h>
#include <executorch/kernels/optimized/gemm/dots-inl.h>
#include <executorch/runtime/platform/prefetch.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_AVX2
constexpr int kSumVectors = 2;  // with four rows of sums, 8 of 16 registers
#else
constexpr int kSumVectors = 4;  // 16 of 32
#endif

constexpr int64_t kRowsAhead = 8;  // between those that are read and those that are fetched

// The rows that are read after some: each head fetches a share, in the order of memory.
class Ahead {
 public:
  Ahead(const CacheRows& rows, int64_t first, int64_t count, int64_t size) {
    const int64_t begin = first + kRowsAhead;
    const int64_t end = std::min(begin + count, rows.count + rows.ahead);
    if (rows.heads > 1 && begin < end) {
      at_ = static_cast<const uint8_t*>(rows.data) + begin * rows.row_stride * size;
      end_ = at_ + (end - begin) * rows.row_stride * size;
      share_ = (end_ - at_ + rows.heads - 1) / rows.heads;
    }
  }

  HWY_INLINE void fetch() {
    constexpr int64_t kLine = 64;
    for (int64_t i = 0; i < share_ && at_ < end_; i += kLine, at_ += kLine) {
      runtime::prefetch(at_);
    }
  }

 private:
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  int64_t share_ = 0;
};

template <typename T>
void score(const CacheRows& rows, const float* queries, float* scores, int64_t stride) {
  DotRows dots;
  dots.k = dots.x_stride = rows.depth;
  dots.row_stride = rows.row_stride;
  dots.out_stride = stride;
  for (int64_t row = 0; row < rows.count; row += kRowsOfDots) {
    const int64_t count = std::min(kRowsOfDots, rows.count - row);
    Ahead ahead(rows, row, count, sizeof(T));
    for (int64_t head = 0; head < rows.heads; ++head) {
      ahead.fetch();
      dots.rows =
          static_cast<const T*>(rows.data) + row * rows.row_stride + head * rows.head_stride;
      for (int64_t i = 0; i < rows.queries; i += kMaxDotVectors) {
        const int64_t query = head * rows.queries + i;
        dots.num_x = std::min(kMaxDotVectors, rows.queries - i);
        dots.x = queries + query * rows.depth;
        dots.out = scores + query * stride + row;
        dot_rows_of<T>(dots, 0, count);
      }
    }
  }
}

// Some rows of a head, and the sums of up to four queries.
struct Part {
  const void* rows;
  int64_t count, row_stride;
  const float* weights;
  int64_t weight_stride;
  float* sums;
  int64_t depth;
  bool accumulate;
};

// Columns [column, column + kVectors vectors); of the last vector, `valid` values.
template <typename T, int kX, int kVectors>
HWY_INLINE void add_columns(const Part& part, int64_t column, size_t valid) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sum[kX][kVectors];
  float* const sums = part.sums + column;
#pragma GCC unroll 4
  for (int i = 0; i < kX; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] =
          part.accumulate ? load_widened(sums + i * part.depth + j * lanes, valid) : hn::Zero(d);
    }
  }
  const T* row = static_cast<const T*>(part.rows) + column;
#pragma GCC unroll 1
  for (int64_t r = 0; r < part.count; ++r) {
    V value[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      value[j] = load_widened(row + j * lanes, valid);
    }
    row += part.row_stride;
#pragma GCC unroll 4
    for (int i = 0; i < kX; ++i) {
      const V weight = hn::Set(d, part.weights[i * part.weight_stride + r]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        sum[i][j] = hn::MulAdd(weight, value[j], sum[i][j]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kX; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      hn::StoreN(sum[i][j], d, sums + i * part.depth + j * lanes, valid);
    }
  }
}

template <typename T, int kX>
HWY_INLINE void add_few(const Part& part) {
  constexpr size_t kLanes = hn::Lanes(D());
  constexpr auto kStep = static_cast<int64_t>(kLanes);
  int64_t column = 0;
  for (; column + kSumVectors * kStep <= part.depth; column += kSumVectors * kStep) {
    add_columns<T, kX, kSumVectors>(part, column, kLanes);
  }
  for (; column + kStep <= part.depth; column += kStep) {
    add_columns<T, kX, 1>(part, column, kLanes);
  }
  if (column < part.depth) {
    add_columns<T, kX, 1>(part, column, static_cast<size_t>(part.depth - column));
  }
}

template <typename T>
void add(const CacheRows& rows, const float* weights, int64_t stride, float* sums,
         bool accumulate) {
  // As many as let those of all heads stay in the first-level cache with what is fetched.
  constexpr int64_t kTogether = 8;
  const int64_t step = rows.heads == 1 ? rows.count : kTogether;
  for (int64_t row = 0; row < rows.count; row += step) {
    const int64_t count = std::min(step, rows.count - row);
    Ahead ahead(rows, row, count, sizeof(T));
    for (int64_t head = 0; head < rows.heads; ++head) {
      ahead.fetch();
      const T* const from =
          static_cast<const T*>(rows.data) + row * rows.row_stride + head * rows.head_stride;
      for (int64_t i = 0; i < rows.queries; i += kMaxDotVectors) {
        const int64_t query = head * rows.queries + i;
        const Part part{from,
                        count,
                        rows.row_stride,
                        weights + query * stride + row,
                        stride,
                        sums + query * rows.depth,
                        rows.depth,
                        accumulate || row > 0};
        switch (rows.queries - i) {
          case 1:
            add_few<T, 1>(part);
            break;
          case 2:
            add_few<T, 2>(part);
            break;
          case 3:
            add_few<T, 3>(part);
            break;
          default:
            add_few<T, 4>(part);
        }
      }
    }
  }
}

void score_rows_simd(const CacheRows& rows, const float* queries, float* scores, int64_t stride) {
  with_row_type(rows.type, [&](auto row) HWY_ATTR {
    score<typename decltype(row)::Type>(rows, queries, scores, stride);
  });
}

void add_rows_simd(const CacheRows& rows, const float* weights, int64_t stride, float* sums,
                   bool accumulate) {
  with_row_type(rows.type, [&](auto row) HWY_ATTR {
    add<typename decltype(row)::Type>(rows, weights, stride, sums, accumulate);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(score_rows_simd);
HWY_EXPORT(add_rows_simd);

void score_rows(const CacheRows& rows, const float* queries, float* scores, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(score_rows_simd)(rows, queries, scores, stride);
}

void add_rows(const CacheRows& rows, const float* weights, int64_t stride, float* sums,
              bool accumulate) {
  HWY_DYNAMIC_DISPATCH(add_rows_simd)(rows, weights, stride, sums, accumulate);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
