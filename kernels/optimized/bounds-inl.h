// SPDX-License-Identifier: BSD-3-Clause
// Results kept within bounds, on vectors. Included once per target, as Highway's own -inl.h files.
#if defined(EXECUTORCH_KERNELS_OPTIMIZED_BOUNDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EXECUTORCH_KERNELS_OPTIMIZED_BOUNDS_INL_H_
#undef EXECUTORCH_KERNELS_OPTIMIZED_BOUNDS_INL_H_
#else
#define EXECUTORCH_KERNELS_OPTIMIZED_BOUNDS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// NaN stays NaN, as it is neither below nor above: maximum and minimum of x86 give their second
// operand beside it, those of other processors the bound.
template <class V>
HWY_INLINE V keep_within(V low, V high, V value) {
#if HWY_ARCH_X86
  return hn::Min(high, hn::Max(low, value));
#else
  value = hn::IfThenElse(hn::Lt(value, low), low, value);
  return hn::IfThenElse(hn::Gt(value, high), high, value);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#endif  // EXECUTORCH_KERNELS_OPTIMIZED_BOUNDS_INL_H_
