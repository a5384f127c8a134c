// SPDX-License-Identifier: BSD-3-Clause
// With g = grad * weight and x the normalized input, a row's gradient is
// (g - mean(g) - x * mean(g * x)) * rstd; a weight's is the sum of grad * x, a bias's that of grad.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/reduction/norm_backward_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/reduction/norm_backward.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Calls body(vector index in the row, number of lanes, weights) for all elements of a row.
template <class Body>
HWY_INLINE void for_each_vector(const NormGradient& p, int64_t row, const Body& body) {
  const D d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  const float* weight = p.weight != nullptr ? p.weight + row % p.groups * p.channels : nullptr;
  const V one = hn::Set(d, 1.0f);
  if (p.run == 1) {
    for (int64_t i = 0; i < p.channels; i += step) {
      const auto count = static_cast<size_t>(std::min(step, p.channels - i));
      body(i, count, weight != nullptr ? hn::LoadN(d, weight + i, count) : one);
    }
    return;
  }
  for (int64_t channel = 0; channel < p.channels; ++channel) {
    const V w = weight != nullptr ? hn::Set(d, weight[channel]) : one;
    for (int64_t i = 0; i < p.run; i += step) {
      body(channel * p.run + i, static_cast<size_t>(std::min(step, p.run - i)), w);
    }
  }
}

void input_gradient_row(const NormGradient& p, int64_t row) {
  const D d;
  const int64_t n = p.channels * p.run;
  const float* grad = p.grad + row * n;
  const float* in = p.input + row * n;
  float* out = p.grad_input + row * n;
  const V center = hn::Set(d, p.mean[row]);
  const V scale = hn::Set(d, p.rstd[row]);
  V sum = hn::Zero(d), product = hn::Zero(d);
  // Lanes beyond the count are loaded as 0: with grad 0 they add nothing.
  for_each_vector(p, row, [&](int64_t i, size_t count, V weight) HWY_ATTR {
    const V g = hn::Mul(hn::LoadN(d, grad + i, count), weight);
    const V x = hn::Mul(hn::Sub(hn::LoadN(d, in + i, count), center), scale);
    sum = hn::Add(sum, g);
    product = hn::MulAdd(g, x, product);
  });
  const auto length = static_cast<float>(n);
  const V mean = hn::Set(d, hn::ReduceSum(d, sum) / length);
  const V slope = hn::Set(d, hn::ReduceSum(d, product) / length);
  for_each_vector(p, row, [&](int64_t i, size_t count, V weight) HWY_ATTR {
    const V g = hn::Mul(hn::LoadN(d, grad + i, count), weight);
    const V x = hn::Mul(hn::Sub(hn::LoadN(d, in + i, count), center), scale);
    hn::StoreN(hn::Mul(hn::NegMulAdd(x, slope, hn::Sub(g, mean)), scale), d, out + i, count);
  });
}

// Adds what rows [first, last) give to the gradients of all weights and biases (run 1).
void add_columns(const NormGradient& p, int64_t first, int64_t last, float* weights,
                 float* biases) {
  const D d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = first; row < last; ++row) {
    const int64_t group = row % p.groups * p.channels;
    const float* grad = p.grad + row * p.channels;
    const float* in = p.input + row * p.channels;
    const V center = hn::Set(d, p.mean[row]);
    const V scale = hn::Set(d, p.rstd[row]);
    for (int64_t i = 0; i < p.channels; i += step) {
      const auto count = static_cast<size_t>(std::min(step, p.channels - i));
      const V g = hn::LoadN(d, grad + i, count);
      const V x = hn::Mul(hn::Sub(hn::LoadN(d, in + i, count), center), scale);
      float* w = weights + group + i;
      float* b = biases + group + i;
      hn::StoreN(hn::MulAdd(g, x, hn::LoadN(d, w, count)), d, w, count);
      hn::StoreN(hn::Add(g, hn::LoadN(d, b, count)), d, b, count);
    }
  }
}

// The same for one weight and its runs.
void sum_runs(const NormGradient& p, int64_t weight, float* weight_sum, float* bias_sum) {
  const D d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  V sum = hn::Zero(d), product = hn::Zero(d);
  for (int64_t row = weight / p.channels; row < p.rows; row += p.groups) {
    const int64_t start = (row * p.channels + weight % p.channels) * p.run;
    const V center = hn::Set(d, p.mean[row]);
    const V scale = hn::Set(d, p.rstd[row]);
    for (int64_t i = 0; i < p.run; i += step) {
      const auto count = static_cast<size_t>(std::min(step, p.run - i));
      const V g = hn::LoadN(d, p.grad + start + i, count);
      const V x = hn::Mul(hn::Sub(hn::LoadN(d, p.input + start + i, count), center), scale);
      sum = hn::Add(sum, g);
      product = hn::MulAdd(g, x, product);
    }
  }
  *weight_sum = hn::ReduceSum(d, product);
  *bias_sum = hn::ReduceSum(d, sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(input_gradient_row);
HWY_EXPORT(add_columns);
HWY_EXPORT(sum_runs);

namespace {

using extension::parallel_for;
using runtime::Error;

constexpr int64_t kGrain = 1 << 14;  // elements worth a thread

void store(const float* sums, int64_t count, float* out) {
  if (out != nullptr) {
    std::copy(sums, sums + count, out);
  }
}

// Each share of the rows has sums of its own, which are added up at the end.
void sum_shares(const NormGradient& p, int64_t shares, float* sums) {
  const int64_t weights = p.groups * p.channels;
  std::fill(sums, sums + 2 * shares * weights, 0.0f);
  const int64_t work = p.rows * p.channels / shares;
  parallel_for(0, shares, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work)),
               [&](int64_t first, int64_t last) {
                 for (int64_t share = first; share < last; ++share) {
                   float* own = sums + 2 * share * weights;
                   HWY_DYNAMIC_DISPATCH(add_columns)
                   (p, share * p.rows / shares, (share + 1) * p.rows / shares, own, own + weights);
                 }
               });
  for (int64_t share = 1; share < shares; ++share) {
    for (int64_t i = 0; i < 2 * weights; ++i) {
      sums[i] += sums[2 * share * weights + i];
    }
  }
}

}  // namespace

Error norm_gradient(runtime::KernelRuntimeContext& ctx, const NormGradient& p) {
  const int64_t n = p.channels * p.run;
  const int64_t weights = p.groups * p.channels;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n));
  if (p.grad_weight != nullptr || p.grad_bias != nullptr) {
    const int64_t shares = p.run == 1 ? std::clamp<int64_t>(p.rows / 64, 1, 8) : 1;
    auto memory = ctx.allocate_temp(static_cast<size_t>(2 * shares * weights) * sizeof(float), 64);
    if (!memory.ok()) {
      return Error::MemoryAllocationFailed;
    }
    auto* sums = static_cast<float*>(memory.get());
    if (p.run == 1) {
      sum_shares(p, shares, sums);
    } else {
      parallel_for(0, weights, grain, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          HWY_DYNAMIC_DISPATCH(sum_runs)(p, i, sums + i, sums + weights + i);
        }
      });
    }
    store(sums, weights, p.grad_weight);
    store(sums + weights, weights, p.grad_bias);
  }
  if (p.grad_input != nullptr) {
    parallel_for(0, p.rows, grain, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        HWY_DYNAMIC_DISPATCH(input_gradient_row)(p, row);
      }
    });
  }
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
