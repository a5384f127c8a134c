// SPDX-License-Identifier: BSD-3-Clause
// A window's values, some vectors of channels at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/pool/max_pool_nhwc.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/bounds-inl.h>
#include <executorch/kernels/optimized/conv/conv_columns.h>
#include <executorch/kernels/optimized/pool/max_pool_nhwc.h>
#include <executorch/kernels/optimized/simd_math-inl.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

// What a window sees: `rows` times `cols` pixels from `input` on.
struct PoolWindow {
  const float* input;
  int64_t rows, cols, row_step, col_step;
  float* output;
};

// Of kVectors whole vectors, or of one that has `count` channels.
template <int kVectors, bool kAll>
HWY_INLINE void largest_of(const MaxPool& p, const PoolWindow& w, int64_t channel, size_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V largest[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    largest[v] = hn::Set(d, -std::numeric_limits<float>::infinity());
  }
  for (int64_t row = 0; row < w.rows; ++row) {
    const float* pixel = w.input + row * w.row_step + channel;
    for (int64_t col = 0; col < w.cols; ++col, pixel += w.col_step) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const float* const from = pixel + v * lanes;
        largest[v] = MaxOf()(kAll ? hn::LoadU(d, from) : hn::LoadN(d, from, count), largest[v]);
      }
    }
  }
  const V low = hn::Set(d, p.min), high = hn::Set(d, p.max);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const V result = keep_within(low, high, largest[v]);
    float* const to = w.output + channel + v * lanes;
    if (kAll) {
      hn::StoreU(result, d, to);
    } else {
      hn::StoreN(result, d, to, count);
    }
  }
}

void largest_of_window(const MaxPool& p, const PoolWindow& w) {
  constexpr int kVectors = 4;
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t channel = 0;
  for (; channel + kVectors * lanes <= p.channels; channel += kVectors * lanes) {
    largest_of<kVectors, true>(p, w, channel, 0);
  }
  for (; channel + lanes <= p.channels; channel += lanes) {
    largest_of<1, true>(p, w, channel, 0);
  }
  if (channel < p.channels) {
    largest_of<1, false>(p, w, channel, static_cast<size_t>(p.channels - channel));
  }
}

// The taps that lie in the image, and where the first of them does.
struct PoolTaps {
  int64_t count, first;

  PoolTaps(int64_t output, int64_t in, int64_t kernel, int64_t stride, int64_t pad,
           int64_t dilation) {
    const int64_t start = output * stride - pad;
    int64_t begin, end;
    clip_columns(in, start, dilation, kernel, begin, end);
    count = end - begin;
    first = start + begin * dilation;
  }
};

void pool_row(const MaxPool& p, int64_t row) {
  const PoolTaps rows(row % p.out_h, p.in_h, p.kernel_h, p.stride_h, p.pad_h, p.dilation_h);
  const float* const image = p.input + row / p.out_h * p.in_h * p.in_w * p.channels;
  for (int64_t col = 0; col < p.out_w; ++col) {
    const PoolTaps cols(col, p.in_w, p.kernel_w, p.stride_w, p.pad_w, p.dilation_w);
    const bool is_empty = rows.count * cols.count == 0;
    largest_of_window(p,
                      {is_empty ? image : image + (rows.first * p.in_w + cols.first) * p.channels,
                       is_empty ? 0 : rows.count, cols.count, p.dilation_h * p.in_w * p.channels,
                       p.dilation_w * p.channels, p.output + (row * p.out_w + col) * p.channels});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(pool_row);

using executorch::extension::parallel_for;

namespace {

constexpr int64_t kGrain = 1 << 15;  // values that are worth a task

}  // namespace

void max_pool_nhwc(const MaxPool& p) {
  const int64_t work = p.out_w * p.channels * p.kernel_h * p.kernel_w;
  parallel_for(0, p.batch * p.out_h, std::max<int64_t>(1, kGrain / work),
               [&](int64_t first, int64_t last) {
                 for (int64_t row = first; row < last; ++row) {
                   HWY_DYNAMIC_DISPATCH(pool_row)(p, row);
                   if (p.epilogue != nullptr) {
                     p.epilogue->finish({row * p.out_w, (row + 1) * p.out_w, 0, p.channels});
                   }
                 }
               });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
