// SPDX-License-Identifier: BSD-3-Clause
// Sums and extremes of integers and Bool along one dimension, in loops that compilers vectorize for
// each target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/reduction/integer_reduction_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/portable/binary.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {

using executorch::aten::ScalarType;

constexpr int64_t kColumns = 512;  // that are folded side by side, where lines are no neighbours

template <class F, typename T, typename R>
R fold_line(const F& f, R total, const T* in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    total = f(total, static_cast<R>(in[i]));
  }
  return total;
}

template <class F, typename T, typename R>
void fold_columns(const F& f, R start, const T* in, int64_t n, int64_t inner, int64_t count,
                  R* out) {
  R totals[kColumns];
  std::fill_n(totals, count, start);
  for (int64_t i = 0; i < n; ++i, in += inner) {
    for (int64_t j = 0; j < count; ++j) {
      totals[j] = f(totals[j], static_cast<R>(in[j]));
    }
  }
  std::copy_n(totals, count, out);
}

int64_t whole_tasks(const InnerLoops& p) {
  return p.outer * ((p.inner + kColumns - 1) / kColumns);
}

// Tasks [first, last): lines, or blocks of their columns.
template <class F, typename T, typename R>
void fold_tasks(const F& f, R start, const InnerLoops& p, const T* in, R* out, int64_t first,
                int64_t last) {
  const int64_t blocks = (p.inner + kColumns - 1) / kColumns;
  for (int64_t task = first; task < last; ++task) {
    const int64_t outer = task / blocks, column = task % blocks * kColumns;
    const T* const from = in + outer * p.n * p.inner + column;
    R* const to = out + outer * p.inner + column;
    if (p.inner == 1) {
      *to = fold_line(f, start, from, p.n);
    } else {
      fold_columns(f, start, from, p.n, p.inner, std::min(kColumns, p.inner - column), to);
    }
  }
}

template <typename T>
void fold_integer(IntegerFold fold, const InnerLoops& p, const T* in, void* out, int64_t first,
                  int64_t last) {
  T* const same = static_cast<T*>(out);
  switch (fold) {
    case IntegerFold::kSum:
      return fold_tasks(Add(), int64_t{0}, p, in, static_cast<int64_t*>(out), first, last);
    case IntegerFold::kMax:
      return fold_tasks(Maximum(), std::numeric_limits<T>::min(), p, in, same, first, last);
    case IntegerFold::kMin:
      return fold_tasks(Minimum(), std::numeric_limits<T>::max(), p, in, same, first, last);
  }
}

void fold_range(ScalarType type, IntegerFold fold, const InnerLoops& p, const void* in, void* out,
                int64_t first, int64_t last) {
  switch (type) {
    case ScalarType::Char:
      return fold_integer(fold, p, static_cast<const int8_t*>(in), out, first, last);
    case ScalarType::Short:
      return fold_integer(fold, p, static_cast<const int16_t*>(in), out, first, last);
    case ScalarType::Int:
      return fold_integer(fold, p, static_cast<const int32_t*>(in), out, first, last);
    case ScalarType::Long:
      return fold_integer(fold, p, static_cast<const int64_t*>(in), out, first, last);
    default:  // Byte, and Bool, whose 0 and 1 are such
      return fold_integer(fold, p, static_cast<const uint8_t*>(in), out, first, last);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(whole_tasks);
HWY_EXPORT(fold_range);

namespace {

void fold_parallel(ScalarType type, IntegerFold fold, const InnerLoops& loops, const void* in,
                   void* out) {
  constexpr int64_t kGrain = 1 << 15;  // elements worth a thread
  const int64_t tasks = HWY_DYNAMIC_DISPATCH(whole_tasks)(loops);
  const int64_t size = loops.outer * loops.n * loops.inner / std::max<int64_t>(1, tasks);
  extension::parallel_for(0, tasks, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size)),
                          [&](int64_t first, int64_t last) {
                            HWY_DYNAMIC_DISPATCH(fold_range)
                            (type, fold, loops, in, out, first, last);
                          });
}

}  // namespace

void fold_integer_dim(ScalarType type, IntegerFold fold, const InnerLoops& loops, const void* in,
                      void* out) {
  constexpr int64_t kParts = 16, kLong = 1 << 16;
  if (loops.outer != 1 || loops.inner != 1 || loops.n < kLong || loops.n % kParts != 0) {
    return fold_parallel(type, fold, loops, in, out);
  }
  // One long line: parts of it are lines for the threads, and their results one short line.
  int64_t parts[kParts];
  fold_parallel(type, fold, {kParts, loops.n / kParts, 1}, in, parts);
  fold_parallel(fold == IntegerFold::kSum ? ScalarType::Long : type, fold, {1, kParts, 1}, parts,
                out);
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
