// SPDX-License-Identifier: BSD-3-Clause
// Columns of a state, a few vectors at a time, through all steps: they stay in the first-level
// cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/transformer/delta_rule_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/transformer/delta_rule.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int kVectors = 4;

// `valid`: columns of the last vector.
template <int kCount>
void columns(const DeltaRule& r, int64_t at, size_t valid) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const auto load = [&](const float* from, int i) HWY_ATTR {
    return i == kCount - 1 ? hn::LoadN(d, from + i * lanes, valid) : hn::LoadU(d, from + i * lanes);
  };
  const auto store = [&](V value, float* to, int i) HWY_ATTR {
    if (i == kCount - 1) {
      hn::StoreN(value, d, to + i * lanes, valid);
    } else {
      hn::StoreU(value, d, to + i * lanes);
    }
  };
  for (int64_t t = 0; t < r.steps; ++t) {
    const float* key = r.key + t * r.depth;
    const float* query = r.query + t * r.depth;
    const float* decay = r.decay + t * r.depth;
    V read[kCount], change[kCount], out[kCount];
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      read[i] = out[i] = hn::Zero(d);
    }
    for (int64_t k = 0; k < r.depth; ++k) {
      float* row = r.state + k * r.width + at;
      const V keep = hn::Set(d, decay[k]), by = hn::Set(d, key[k]);
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) {
        const V kept = hn::Mul(load(row, i), keep);
        store(kept, row, i);
        read[i] = hn::MulAdd(kept, by, read[i]);
      }
    }
    const V beta = hn::Set(d, r.beta[t]);
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      change[i] = hn::Mul(beta, hn::Sub(load(r.value + t * r.width + at, i), read[i]));
    }
    for (int64_t k = 0; k < r.depth; ++k) {
      float* row = r.state + k * r.width + at;
      const V by = hn::Set(d, key[k]), asked = hn::Set(d, query[k]);
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) {
        const V now = hn::MulAdd(by, change[i], load(row, i));
        store(now, row, i);
        out[i] = hn::MulAdd(now, asked, out[i]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      store(out[i], r.out + t * r.width + at, i);
    }
  }
}

int64_t columns_at_a_time() {
  return kVectors * static_cast<int64_t>(hn::Lanes(D()));
}

void run_columns(const DeltaRule& r, int64_t first, int64_t last) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  while (last - first >= kVectors * lanes) {
    columns<kVectors>(r, first, static_cast<size_t>(lanes));
    first += kVectors * lanes;
  }
  for (; first < last; first += lanes) {
    columns<1>(r, first, static_cast<size_t>(std::min(lanes, last - first)));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(columns_at_a_time);
HWY_EXPORT(run_columns);

int64_t delta_rule_columns() {
  return HWY_DYNAMIC_DISPATCH(columns_at_a_time)();
}

void run_delta_rule(const DeltaRule& rule, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(run_columns)(rule, first, last);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
