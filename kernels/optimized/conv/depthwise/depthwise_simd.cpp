// SPDX-License-Identifier: BSD-3-Clause
// Some outputs side by side, along the channels. What would be read beside the image is left out:
// the same columns for all lines and channels. Taps are added in the order of the filter but for
// rows of more than kMaxWidth taps, of which whole parts are added first.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/conv/depthwise/depthwise_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/bounds-inl.h>
#include <executorch/kernels/optimized/conv/depthwise/depthwise_row.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr int kMaxWidth = 7;
constexpr int kOutputs = 6;

// Taps of each row of the filter that are added at a time: `parts` parts of `width` from `tap` on.
struct Taps {
  int64_t tap, width, parts;
  bool is_first, is_last;
};

// Outputs [first, first + count) of a row.
struct Window {
  int64_t first, count;
};

// A vector of channels, or what is left of one.
struct Whole {
  static V load(const float* from, size_t) { return hn::LoadU(D(), from); }
  static void store(V value, float* to, size_t) { hn::StoreU(value, D(), to); }
};
struct Rest {
  static V load(const float* from, size_t count) { return hn::LoadN(D(), from, count); }
  static void store(V value, float* to, size_t count) { hn::StoreN(value, D(), to, count); }
};

template <typename Access, int kCount>
HWY_INLINE void begin(const DepthwiseRow& r, const Taps& t, const Window& w, const float* out,
                      int64_t channel, size_t lanes, V (&sum)[kCount]) {
  const D d;
  const V bias = r.bias == nullptr ? hn::Zero(d) : Access::load(r.bias + channel, lanes);
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) {
    sum[i] = t.is_first || i >= w.count ? bias : Access::load(out + i * r.pitch, lanes);
  }
}

template <typename Access, int kCount>
HWY_INLINE void end(const DepthwiseRow& r, const Taps& t, const Window& w, float* out, size_t lanes,
                    const V (&sum)[kCount]) {
  const D d;
  const V low = hn::Set(d, r.min);
  const V high = hn::Set(d, r.max);
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i, out += r.pitch) {
    if (i < w.count) {
      Access::store(t.is_last ? keep_within(low, high, sum[i]) : sum[i], out, lanes);
    }
  }
}

// Which of `count` columns from `first` on a line has, as bits.
HWY_INLINE uint32_t columns_inside(int64_t first, int64_t count, int64_t columns) {
  const int64_t begin = std::clamp<int64_t>(-first, 0, count);
  const int64_t end = std::clamp<int64_t>(columns - first, 0, count);
  return static_cast<uint32_t>((uint64_t{1} << end) - (uint64_t{1} << std::min(begin, end)));
}

// Columns that outputs share are loaded once. kClipped: some may lie beside the line.
template <typename Access, int kWidth, int kStride, bool kClipped, int kCount>
HWY_INLINE void add_part(const DepthwiseRow& r, const float* filter, const float* line,
                         int64_t column, size_t lanes, V (&sum)[kCount]) {
  constexpr int kColumns = (kCount - 1) * kStride + kWidth;
  V weight[kWidth];
#pragma GCC unroll 8
  for (int i = 0; i < kWidth; ++i, filter += r.pitch) {
    weight[i] = Access::load(filter, lanes);
  }
  const uint32_t inside = kClipped ? columns_inside(column, kColumns, r.columns) : 0;
  int64_t at = column * r.pitch;
#pragma GCC unroll 24
  for (int i = 0; i < kColumns; ++i, at += r.pitch) {
    if (kClipped && (inside & (1u << i)) == 0) {
      continue;
    }
    const V value = Access::load(line + at, lanes);
#pragma GCC unroll 8
    for (int j = 0; j < kCount; ++j) {
      if (i - j * kStride >= 0 && i - j * kStride < kWidth) {
        sum[j] = hn::MulAdd(weight[i - j * kStride], value, sum[j]);
      }
    }
  }
}

template <int kWidth, int kStride, int kCount>
struct Slide {
  template <typename Access, bool kClipped>
  static HWY_INLINE void add(const DepthwiseRow& r, const Taps& t, const float* filter,
                             const float* line, int64_t column, size_t lanes, V (&sum)[kCount]) {
    for (int64_t part = 0; part < t.parts; ++part) {
      add_part<Access, kWidth, kStride, kClipped>(r, filter, line, column, lanes, sum);
      filter += kWidth * r.pitch;
      column += kWidth;
    }
  }
};

// Of any width, stride and dilation.
template <int kCount>
struct Step {
  template <typename Access, bool kClipped>
  static HWY_INLINE void add(const DepthwiseRow& r, const Taps& t, const float* filter,
                             const float* line, int64_t column, size_t lanes, V (&sum)[kCount]) {
    for (int64_t tap = 0; tap < t.width; ++tap, filter += r.pitch, column += r.dilation) {
      const V weight = Access::load(filter, lanes);
#pragma GCC unroll 8
      for (int j = 0; j < kCount; ++j) {
        const int64_t at = column + j * r.stride;
        if (!kClipped || (at >= 0 && at < r.columns)) {
          sum[j] = hn::MulAdd(weight, Access::load(line + at * r.pitch, lanes), sum[j]);
        }
      }
    }
  }
};

enum class Outputs {
  kAll,      // all taps of kCount outputs
  kSome,     // some taps, or of fewer
  kClipped,  // likewise, of columns beside the line
};

template <typename How, int kCount, Outputs kKind>
void compute_channels(const DepthwiseRow& row, const Taps& taps, const Window& window) {
  // What is written cannot change these.
  const DepthwiseRow r = row;
  constexpr bool kAll = kKind == Outputs::kAll;
  const Taps t = kAll ? Taps{0, taps.width, 1, true, true} : taps;
  const Window w = {window.first, kAll ? kCount : window.count};
  const int64_t column = r.first_column + w.first * r.stride + t.tap * r.dilation;
  const auto of_channels = [&](auto access, int64_t channel, size_t lanes) HWY_ATTR {
    using Access = decltype(access);
    float* const out = r.output + w.first * r.pitch + channel;
    const float* filter = r.filter + t.tap * r.pitch + channel;
    const float* line = r.lines + channel;
    V sum[kCount];
    begin<Access>(r, t, w, out, channel, lanes, sum);
#pragma GCC unroll 1
    for (int64_t i = 0; i < r.num_lines; ++i) {
      How::template add<Access, kKind == Outputs::kClipped>(r, t, filter, line, column, lanes, sum);
      filter += r.kernel_w * r.pitch;
      line += r.line_step;
    }
    end<Access>(r, t, w, out, lanes, sum);
  };
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t channel = 0;
  for (; channel + lanes <= r.channels; channel += lanes) {
    of_channels(Whole(), channel, static_cast<size_t>(lanes));
  }
  if (channel < r.channels) {
    of_channels(Rest(), channel, static_cast<size_t>(r.channels - channel));
  }
}

template <typename How, int kCount>
void compute_window(const DepthwiseRow& r, const Taps& t, const Window& w) {
  const int64_t begin = r.first_column + w.first * r.stride;
  const int64_t size = (kCount - 1) * r.stride + (r.kernel_w - 1) * r.dilation + 1;
  if (begin < 0 || begin + size > r.columns) {
    compute_channels<How, kCount, Outputs::kClipped>(r, t, w);
  } else if (t.parts == 1 && t.is_first && t.is_last && w.count == kCount) {
    compute_channels<How, kCount, Outputs::kAll>(r, t, w);
  } else {
    compute_channels<How, kCount, Outputs::kSome>(r, t, w);
  }
}

struct Kernels {
  using Compute = void (*)(const DepthwiseRow&, const Taps&, const Window&);
  Compute six, four;  // outputs
};

template <int kWidth, int kStride>
constexpr Kernels kSlides = {&compute_window<Slide<kWidth, kStride, kOutputs>, kOutputs>,
                             &compute_window<Slide<kWidth, kStride, 4>, 4>};
constexpr Kernels kSteps = {&compute_window<Step<kOutputs>, kOutputs>, &compute_window<Step<4>, 4>};

// For filters that fit the registers, null for others.
const Kernels* slides_of(int64_t width, int64_t stride, int64_t dilation) {
  if (dilation != 1 || stride > 2) {
    return nullptr;
  }
  const bool is_one = stride == 1;
  switch (width) {
    case 3:
      return is_one ? &kSlides<3, 1> : &kSlides<3, 2>;
    case 5:
      return is_one ? &kSlides<5, 1> : &kSlides<5, 2>;
    case 7:
      return is_one ? &kSlides<7, 1> : &kSlides<7, 2>;
    default:
      return nullptr;
  }
}

void compute_taps(const DepthwiseRow& r, const Taps& t) {
  const Kernels* const slides = slides_of(t.width, r.stride, r.dilation);
  const Kernels& kernels = slides != nullptr ? *slides : kSteps;
  for (int64_t first = 0; first < r.outputs;) {
    const int64_t left = r.outputs - first;
    // An even number from four on leaves nothing of the last ones.
    const bool is_four = left <= 4 || left % 6 == 4 || left == 8 || left == 7;
    const int64_t count = std::min<int64_t>(left, is_four ? 4 : kOutputs);
    (is_four ? kernels.four : kernels.six)(r, t, {first, count});
    first += count;
  }
}

void compute_row(const DepthwiseRow& r) {
  const int64_t parts = r.kernel_w / kMaxWidth;
  if (r.kernel_w <= kMaxWidth || slides_of(kMaxWidth, r.stride, r.dilation) == nullptr) {
    compute_taps(r, {0, r.kernel_w, 1, true, true});
    return;
  }
  const int64_t done = parts * kMaxWidth;
  compute_taps(r, {0, kMaxWidth, parts, true, done == r.kernel_w});
  if (done < r.kernel_w) {
    compute_taps(r, {done, r.kernel_w - done, 1, false, true});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(compute_row);

void depthwise_row(const DepthwiseRow& row) {
  HWY_DYNAMIC_DISPATCH(compute_row)(row);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
