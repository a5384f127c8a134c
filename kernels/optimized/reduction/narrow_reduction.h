// SPDX-License-Identifier: BSD-3-Clause
// Reductions of 16-bit floats by the f32 loops of reduction.h: converted, computed, converted back,
// a group of lines at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

// Whether elements are computed in f32 here: Float itself, Half, BFloat16.
inline bool is_f32_or_narrower(const Tensor& t) {
  return is_f32(t) || is_narrow_float(t.scalar_type());
}

constexpr int64_t kConvertGrain = 1 << 15;  // elements worth a thread
// Elements of a group: what is written for one step lies in second-level cache for the next.
constexpr int64_t kGroup = 1 << 17;
constexpr int64_t kLargestCopy = 1 << 24;  // elements of scratch memory, when one group has more

// n elements of `type` as f32: their own memory, or `buffer`. On all threads.
inline const float* as_f32(ScalarType type, const void* from, int64_t n, float* buffer) {
  if (type == ScalarType::Float) {
    return static_cast<const float*>(from);
  }
  const auto* narrow_values = static_cast<const uint16_t*>(from);
  extension::parallel_for(0, n, kConvertGrain, [&](int64_t first, int64_t last) {
    widen(type, narrow_values + first, buffer + first, last - first);
  });
  return buffer;
}

// f32 values back to elements of `type`, unless they are there already. On all threads.
inline void put_f32(ScalarType type, const float* values, int64_t n, void* to) {
  if (type == ScalarType::Float) {
    return;
  }
  auto* narrow_values = static_cast<uint16_t*>(to);
  extension::parallel_for(0, n, kConvertGrain, [&](int64_t first, int64_t last) {
    narrow(type, values + first, narrow_values + first, last - first);
  });
}

inline const void* element_at(const Tensor& t, int64_t i) {
  return static_cast<const char*>(t.const_data_ptr()) + i * static_cast<int64_t>(t.element_size());
}
inline void* element_to(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.mutable_data_ptr()) + i * static_cast<int64_t>(t.element_size());
}

// Calls compute(loops, in, out) with f32 memory for groups of outer lines, which give `out_step`
// values each. False, with nothing done, where 16-bit floats would need too much scratch memory.
template <typename Compute>
bool compute_dim(KernelRuntimeContext& ctx, const InnerLoops& loops, const Tensor& in, Tensor& out,
                 int64_t out_step, const Compute& compute) {
  const int64_t in_step = loops.n * loops.inner;
  const bool converts = !is_f32(in) || !is_f32(out);
  if (converts && in_step > kLargestCopy) {
    return false;
  }
  const int64_t group = converts ? std::clamp<int64_t>(kGroup / std::max<int64_t>(1, in_step), 1,
                                                       std::max<int64_t>(1, loops.outer))
                                 : loops.outer;
  float* const read = is_f32(in) ? nullptr : scratch<float>(ctx, group * in_step);
  float* const written = is_f32(out) ? nullptr : scratch<float>(ctx, group * out_step);
  if ((!is_f32(in) && read == nullptr) || (!is_f32(out) && written == nullptr)) {
    return false;
  }
  for (int64_t first = 0; first < loops.outer; first += group) {
    const int64_t count = std::min(group, loops.outer - first);
    void* const to = element_to(out, first * out_step);
    float* const result = is_f32(out) ? static_cast<float*>(to) : written;
    compute(InnerLoops{count, loops.n, loops.inner},
            as_f32(in.scalar_type(), element_at(in, first * in_step), count * in_step, read),
            result);
    put_f32(out.scalar_type(), result, count * out_step, to);
  }
  return true;
}

}  // namespace executorch::kernels::optimized
