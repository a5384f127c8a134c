// SPDX-License-Identifier: BSD-3-Clause
// The loops of reduction.h. A line of the last dimension is reduced with several vectors of sums;
// for other dimensions vectors run across neighbouring lines instead.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/reduction/reduction_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/reduction/columns-inl.h>
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/optimized/simd_math-inl.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE int64_t lanes() {
  return static_cast<int64_t>(hn::Lanes(D()));
}

// Combines f(value) of all values with `add`, in four vectors side by side.
template <class F, class Add>
HWY_INLINE V reduce(const float* in, int64_t n, V start, F&& f, Add&& add) {
  const D d;
  const int64_t step = lanes();
  V sum0 = start, sum1 = start, sum2 = start, sum3 = start;
  int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    sum0 = add(sum0, f(hn::LoadU(d, in + i)));
    sum1 = add(sum1, f(hn::LoadU(d, in + i + step)));
    sum2 = add(sum2, f(hn::LoadU(d, in + i + 2 * step)));
    sum3 = add(sum3, f(hn::LoadU(d, in + i + 3 * step)));
  }
  for (; i + step <= n; i += step) {
    sum0 = add(sum0, f(hn::LoadU(d, in + i)));
  }
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    const V value = f(hn::LoadN(d, in + i, rest));
    sum1 = add(sum1, hn::IfThenElse(hn::FirstN(d, rest), value, start));
  }
  return add(add(sum0, sum1), add(sum2, sum3));
}

struct Highest {  // whatever of NaN
  HWY_INLINE V operator()(V a, V b) const { return hn::Max(a, b); }
};
struct Same {
  HWY_INLINE V operator()(V a) const { return a; }
};

float sum_of(const float* in, int64_t n) {
  const D d;
  return hn::ReduceSum(d, reduce(in, n, hn::Zero(d), Same(), AddOf()));
}

float product_of(const float* in, int64_t n) {
  const D d;
  HWY_ALIGN float factors[hn::MaxLanes(D())];
  hn::Store(reduce(in, n, hn::Set(d, 1.0f), Same(), MulOf()), d, factors);
  float product = 1;
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    product *= factors[i];
  }
  return product;
}

float extreme_of(bool largest, const float* in, int64_t n) {
  const D d;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const V found = largest ? reduce(in, n, hn::Set(d, -kInfinity), Same(), MaxOf())
                          : reduce(in, n, hn::Set(d, kInfinity), Same(), MinOf());
  if (!hn::AllFalse(d, hn::IsNaN(found))) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  return largest ? hn::ReduceMax(d, found) : hn::ReduceMin(d, found);
}

struct WholeVector {
  HWY_INLINE V load(const float* from) const { return hn::LoadU(D(), from); }
  HWY_INLINE void store(V values, float* to) const { hn::StoreU(values, D(), to); }
};
struct PartOfVector {
  size_t count;
  HWY_INLINE V load(const float* from) const { return hn::LoadN(D(), from, count); }
  HWY_INLINE void store(V values, float* to) const { hn::StoreN(values, D(), to, count); }
};

// Calls f(i, vector) for each vector of n values.
template <class F>
HWY_INLINE void for_each_vector(int64_t n, F&& f) {
  int64_t i = 0;
  for (; i + lanes() <= n; i += lanes()) {
    f(i, WholeVector());
  }
  if (i < n) {
    f(i, PartOfVector{static_cast<size_t>(n - i)});
  }
}

// out[i] = f(in[i]) over n values.
template <class F>
HWY_INLINE void map(const float* in, float* out, int64_t n, F&& f) {
  for_each_vector(n, [&](int64_t i, const auto& vector)
                         HWY_ATTR { vector.store(f(vector.load(in + i)), out + i); });
}

// The same, and the sum of what is stored.
template <class F>
HWY_INLINE float map_and_sum(const float* in, float* out, int64_t n, F&& f) {
  const D d;
  const int64_t step = lanes();
  V even = hn::Zero(d), odd = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    const V a = f(hn::LoadU(d, in + i)), b = f(hn::LoadU(d, in + i + step));
    hn::StoreU(a, d, out + i);
    hn::StoreU(b, d, out + i + step);
    even = hn::Add(even, a);
    odd = hn::Add(odd, b);
  }
  for (; i < n; i += step) {
    const auto rest = static_cast<size_t>(std::min(step, n - i));
    const V a = f(hn::LoadN(d, in + i, rest));
    hn::StoreN(a, d, out + i, rest);
    even = hn::Add(even, hn::IfThenElseZero(hn::FirstN(d, rest), a));
  }
  return hn::ReduceSum(d, hn::Add(even, odd));
}

void softmax_line(bool logarithm, const float* in, float* out, int64_t n) {
  const D d;
  // A NaN makes the sum one, whatever the highest is.
  const V lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const V top = hn::Set(d, hn::ReduceMax(d, reduce(in, n, lowest, Same(), Highest())));
  const auto shifted_exp = [&](V x) HWY_ATTR { return exp_f32(d, hn::Sub(x, top)); };
  if (logarithm) {
    const float sum = hn::ReduceSum(d, reduce(in, n, hn::Zero(d), shifted_exp, AddOf()));
    const V log_sum = hn::Set(d, std::log(sum));
    map(in, out, n, [&](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, top), log_sum); });
    return;
  }
  const V scale = hn::Set(d, 1.0f / map_and_sum(in, out, n, shifted_exp));
  map(out, out, n, [&](V x) HWY_ATTR { return hn::Mul(x, scale); });
}

// Neighbouring lines, a vector or some of them side by side.
template <int kVectors>
HWY_INLINE void softmax_across(bool logarithm, const float* in, float* out, int64_t n,
                               int64_t inner, size_t count) {
  const D d;
  V top[kVectors], sum[kVectors], last[kVectors];
  for (int k = 0; k < kVectors; ++k) {
    top[k] = load_column<kVectors>(in, k, count);
    sum[k] = hn::Zero(d);
  }
  for (int64_t i = 1; i < n; ++i) {
    for (int k = 0; k < kVectors; ++k) {
      top[k] = MaxOf()(top[k], load_column<kVectors>(in + i * inner, k, count));
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < kVectors; ++k) {
      const V x = load_column<kVectors>(in + i * inner, k, count);
      const V power = exp_f32(d, hn::Sub(x, top[k]));
      sum[k] = hn::Add(sum[k], power);
      if (!logarithm) {
        store_column<kVectors>(power, out + i * inner, k, count);
      }
    }
  }
  for (int k = 0; k < kVectors; ++k) {
    last[k] =
        logarithm ? log_or_limit(d, sum[k], hn::Log(d, sum[k])) : hn::Div(hn::Set(d, 1.0f), sum[k]);
  }
  const float* from = logarithm ? in : out;
  for (int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < kVectors; ++k) {
      const V x = load_column<kVectors>(from + i * inner, k, count);
      const V y = logarithm ? hn::Sub(hn::Sub(x, top[k]), last[k]) : hn::Mul(x, last[k]);
      store_column<kVectors>(y, out + i * inner, k, count);
    }
  }
}

// out[k] = scale * the fold of column k with `add`, even rows and odd ones apart.
template <int kVectors, class Add>
HWY_INLINE void fold_across(const Add& add, V start, float scale, const float* in, float* out,
                            int64_t n, int64_t inner, size_t count) {
  const D d;
  V even[kVectors], odd[kVectors];
  for (int k = 0; k < kVectors; ++k) {
    even[k] = odd[k] = start;
  }
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    const float* const row = in + i * inner;
    for (int k = 0; k < kVectors; ++k) {
      even[k] = add(even[k], load_column<kVectors>(row, k, count));
      odd[k] = add(odd[k], load_column<kVectors>(row + inner, k, count));
    }
  }
  for (int k = 0; k < kVectors; ++k) {
    if (i < n) {
      even[k] = add(even[k], load_column<kVectors>(in + i * inner, k, count));
    }
    const V total = add(even[k], odd[k]);
    store_column<kVectors>(scale == 1.0f ? total : hn::Mul(total, hn::Set(d, scale)), out, k,
                           count);
  }
}

void cumulate_across(const float* in, float* out, int64_t n, int64_t inner, int64_t count) {
  double sums[hn::MaxLanes(D())] = {};
  for (int64_t i = 0; i < n; ++i, in += inner, out += inner) {
    for (int64_t j = 0; j < count; ++j) {
      sums[j] += static_cast<double>(in[j]);
      out[j] = static_cast<float>(sums[j]);
    }
  }
}

// Tasks of an InnerLoops problem: one row when inner is 1, else one vector of columns.
int64_t tasks_of(const InnerLoops& p) {
  return p.inner == 1 ? p.outer : column_tasks(p);
}

void softmax_range(const InnerLoops& p, bool logarithm, const float* in, float* out, int64_t first,
                   int64_t last) {
  for (int64_t t = first; p.inner == 1 && t < last; ++t) {
    softmax_line(logarithm, in + t * p.n, out + t * p.n, p.n);
  }
  if (p.inner > 1) {
    for_each_columns(p, first, last, [&](auto vectors, const Columns& c) HWY_ATTR {
      const int64_t at = c.outer * p.n * p.inner + c.first;
      softmax_across<vectors()>(logarithm, in + at, out + at, p.n, p.inner, c.count);
    });
  }
}

// Folds lines [first, last), or vectors of them, with `add`; `line` folds one of the last
// dimension.
template <class Add, class Line>
HWY_INLINE void fold_range(const InnerLoops& p, const Add& add, float start, float scale,
                           const Line& line, const float* in, float* out, int64_t first,
                           int64_t last) {
  for (int64_t t = first; p.inner == 1 && t < last; ++t) {
    out[t] = scale * line(in + t * p.n, p.n);
  }
  if (p.inner > 1) {
    for_each_columns(p, first, last, [&](auto vectors, const Columns& c) HWY_ATTR {
      fold_across<vectors()>(add, hn::Set(D(), start), scale,
                             in + c.outer * p.n * p.inner + c.first,
                             out + c.outer * p.inner + c.first, p.n, p.inner, c.count);
    });
  }
}

void sum_range(const InnerLoops& p, float scale, const float* in, float* out, int64_t first,
               int64_t last) {
  fold_range(p, AddOf(), 0.0f, scale, sum_of, in, out, first, last);
}

void multiply_range(const InnerLoops& p, const float* in, float* out, int64_t first, int64_t last) {
  fold_range(p, MulOf(), 1.0f, 1.0f, product_of, in, out, first, last);
}

void extreme_range(const InnerLoops& p, bool largest, const float* in, float* out, int64_t first,
                   int64_t last) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto line = [largest](const float* from, int64_t n) {
    return extreme_of(largest, from, n);
  };
  if (largest) {
    fold_range(p, MaxOf(), -kInfinity, 1.0f, line, in, out, first, last);
  } else {
    fold_range(p, MinOf(), kInfinity, 1.0f, line, in, out, first, last);
  }
}

// Four lines of the last dimension side by side: one alone waits for each of its additions.
void cumulate_four(const float* in, float* out, int64_t n) {
  double a = 0, b = 0, c = 0, d = 0;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(a += static_cast<double>(in[i]));
    out[n + i] = static_cast<float>(b += static_cast<double>(in[n + i]));
    out[2 * n + i] = static_cast<float>(c += static_cast<double>(in[2 * n + i]));
    out[3 * n + i] = static_cast<float>(d += static_cast<double>(in[3 * n + i]));
  }
}

void cumulate_range(const InnerLoops& p, const float* in, float* out, int64_t first, int64_t last) {
  int64_t t = first;
  for (; p.inner == 1 && t + 4 <= last; t += 4) {
    cumulate_four(in + t * p.n, out + t * p.n, p.n);
  }
  for (; t < last; ++t) {
    const Columns task = p.inner == 1 ? Columns{t, 0, 1} : columns_at(p, t);
    const int64_t at = task.outer * p.n * p.inner + task.first;
    cumulate_across(in + at, out + at, p.n, p.inner, static_cast<int64_t>(task.count));
  }
}

// Mean and 1 / sqrt(variance + eps), in two passes.
void statistics(const float* in, int64_t n, float eps, float* mean_out, float* rstd_out) {
  const D d;
  const auto count = static_cast<float>(n);
  const float mean = sum_of(in, n) / count;
  const V center = hn::Set(d, mean);
  const auto square = [&](V x) HWY_ATTR {
    const V distance = hn::Sub(x, center);
    return hn::Mul(distance, distance);
  };
  const float squares = hn::ReduceSum(d, reduce(in, n, hn::Zero(d), square, AddOf()));
  *mean_out = mean;
  *rstd_out = 1.0f / std::sqrt(squares / count + eps);
}

void norm_range(const LayerNorm& p, int64_t first, int64_t last) {
  const D d;
  for (int64_t row = first; row < last; ++row) {
    const float* const in = p.in + row * p.n;
    float* const out = p.out + row * p.n;
    statistics(in, p.n, p.eps, p.mean + row, p.rstd + row);
    const V center = hn::Set(d, p.mean[row]);
    const V scale = hn::Set(d, p.rstd[row]);
    for_each_vector(p.n, [&](int64_t i, const auto& vector) HWY_ATTR {
      V y = hn::Mul(hn::Sub(vector.load(in + i), center), scale);
      if (p.weight != nullptr) {
        y = hn::Mul(y, vector.load(p.weight + i));
      }
      if (p.bias != nullptr) {
        y = hn::Add(y, vector.load(p.bias + i));
      }
      vector.store(y, out + i);
    });
  }
}

void scale_plane(float scale, float shift, const float* in, float* out, int64_t n) {
  const D d;
  const V factor = hn::Set(d, scale);
  const V offset = hn::Set(d, shift);
  map(in, out, n, [&](V x) HWY_ATTR { return hn::MulAdd(x, factor, offset); });
}

void scale_pixel(const float* scale, const float* shift, const float* in, float* out, int64_t n) {
  for_each_vector(n, [&](int64_t i, const auto& vector) HWY_ATTR {
    const V y = hn::MulAdd(vector.load(in + i), vector.load(scale + i), vector.load(shift + i));
    vector.store(y, out + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(tasks_of);
HWY_EXPORT(softmax_range);
HWY_EXPORT(sum_range);
HWY_EXPORT(extreme_range);
HWY_EXPORT(multiply_range);
HWY_EXPORT(cumulate_range);
HWY_EXPORT(statistics);
HWY_EXPORT(norm_range);
HWY_EXPORT(scale_plane);
HWY_EXPORT(scale_pixel);

using executorch::extension::parallel_for;

namespace {

constexpr int64_t kGrain = 32768;      // elements with little arithmetic that are worth a thread
constexpr int64_t kExpGrain = 8192;    // with an exponential each
constexpr int64_t kNormGrain = 16384;  // read three times

// Tasks of `size` elements each that are worth a thread.
int64_t tasks_for(int64_t grain, int64_t size) {
  return std::max<int64_t>(1, grain / std::max<int64_t>(1, size));
}

}  // namespace

namespace {

// Calls range(loops, scale, in, out, first, last) for the tasks of `loops`. One long line is cut in
// parts of its own first, which then make a short line.
template <typename Range>
void reduce_dim(const InnerLoops& loops, float scale, const float* in, float* out,
                const Range& range) {
  constexpr int64_t kParts = 16;
  if (loops.outer == 1 && loops.inner == 1 && loops.n >= 2 * kGrain) {
    const int64_t length = loops.n / kParts;
    const int64_t rest = loops.n - kParts * length;
    float parts[kParts + 1];
    parallel_for(0, kParts, tasks_for(kGrain, length), [&](int64_t first, int64_t last) {
      range(InnerLoops{kParts, length, 1}, 1.0f, in, parts, first, last);
    });
    if (rest > 0) {
      range(InnerLoops{1, rest, 1}, 1.0f, in + kParts * length, parts + kParts, 0, 1);
    }
    range(InnerLoops{1, rest > 0 ? kParts + 1 : kParts, 1}, scale, parts, out, 0, 1);
    return;
  }
  const int64_t tasks = HWY_DYNAMIC_DISPATCH(tasks_of)(loops);
  const int64_t size = loops.outer * loops.n * loops.inner / std::max<int64_t>(1, tasks);
  parallel_for(0, tasks, tasks_for(kGrain, size),
               [&](int64_t first, int64_t last) { range(loops, scale, in, out, first, last); });
}

}  // namespace

void sum_dim(const InnerLoops& loops, float scale, const float* in, float* out) {
  reduce_dim(loops, scale, in, out, [](auto&&... all) { HWY_DYNAMIC_DISPATCH(sum_range)(all...); });
}

void multiply_dim(const InnerLoops& loops, const float* in, float* out) {
  reduce_dim(loops, 1.0f, in, out, [](const InnerLoops& part, float /*scale*/, auto... rest) {
    HWY_DYNAMIC_DISPATCH(multiply_range)(part, rest...);
  });
}

void extreme_dim(const InnerLoops& loops, bool largest, const float* in, float* out) {
  reduce_dim(loops, 1.0f, in, out, [=](const InnerLoops& part, float /*scale*/, auto... rest) {
    HWY_DYNAMIC_DISPATCH(extreme_range)(part, largest, rest...);
  });
}

void softmax_dim(const InnerLoops& loops, bool logarithm, const float* in, float* out) {
  if (loops.n == 0) {
    return;
  }
  const int64_t tasks = HWY_DYNAMIC_DISPATCH(tasks_of)(loops);
  const int64_t size = loops.outer * loops.n * loops.inner / std::max<int64_t>(1, tasks);
  parallel_for(0, tasks, tasks_for(kExpGrain, size), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(softmax_range)(loops, logarithm, in, out, first, last);
  });
}

void cumulate_dim(const InnerLoops& loops, const float* in, float* out) {
  const int64_t tasks = HWY_DYNAMIC_DISPATCH(tasks_of)(loops);
  const int64_t size = loops.outer * loops.n * loops.inner / std::max<int64_t>(1, tasks);
  parallel_for(0, tasks, tasks_for(kGrain, size), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(cumulate_range)(loops, in, out, first, last);
  });
}

void group_norm(const GroupNorm& p) {
  const int64_t channels = p.channels / p.groups;
  const int64_t n = channels * p.plane;
  parallel_for(0, p.images * p.groups, tasks_for(kGrain, n), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      HWY_DYNAMIC_DISPATCH(statistics)(p.in + row * n, n, p.eps, p.mean + row, p.rstd + row);
      for (int64_t i = 0; i < channels; ++i) {
        const int64_t channel = row % p.groups * channels + i;
        const float scale = p.rstd[row] * (p.weight != nullptr ? p.weight[channel] : 1.0f);
        const float shift = (p.bias != nullptr ? p.bias[channel] : 0.0f) - p.mean[row] * scale;
        const int64_t at = row * n + i * p.plane;
        HWY_DYNAMIC_DISPATCH(scale_plane)(scale, shift, p.in + at, p.out + at, p.plane);
      }
    }
  });
}

void layer_norm(const LayerNorm& p) {
  parallel_for(0, p.rows, tasks_for(kNormGrain, p.n), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(norm_range)(p, first, last);
  });
}

void scale_channels(int64_t first_plane, int64_t planes, int64_t channels, int64_t plane,
                    const float* scale, const float* shift, const float* in, float* out) {
  parallel_for(0, planes, tasks_for(kGrain, plane), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t channel = (first_plane + i) % channels;
      HWY_DYNAMIC_DISPATCH(scale_plane)
      (scale[channel], shift[channel], in + i * plane, out + i * plane, plane);
    }
  });
}

void scale_channels_last(int64_t positions, int64_t channels, const float* scale,
                         const float* shift, const float* in, float* out) {
  parallel_for(0, positions, tasks_for(kGrain, channels), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      HWY_DYNAMIC_DISPATCH(scale_pixel)(scale, shift, in + i * channels, out + i * channels,
                                        channels);
    }
  });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
