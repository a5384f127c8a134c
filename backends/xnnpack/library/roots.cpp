// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its square roots for x86: those refine an estimate by
// multiplications, of which some underflow. sqrt(1e38) was 1.5 times too large, rsqrt(0) NaN.
#include <executorch/backends/xnnpack/library/table.h>

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"

#include <cmath>
#include <cstddef>

extern "C" {
/// XNNPACK's own under another name (corrections.cmake).
decltype(xnn_init_f32_sqrt_config) xnn_init_f32_sqrt_config_any;
decltype(xnn_init_f32_rsqrt_config) xnn_init_f32_rsqrt_config_any;
}

#include <immintrin.h>

#if defined(__GNUC__)
#define ET_INLINE __attribute__((always_inline)) inline
#define ET_AVX512 __attribute__((target("avx512f")))
#define ET_AVX __attribute__((target("avx")))
#else
#define ET_INLINE inline
#define ET_AVX512
#define ET_AVX
#endif

namespace executorch::backends::xnnpack {

namespace {

/// Compilers make vectors of this.
template <bool kReciprocal>
ET_INLINE void take_roots(size_t bytes, const void* inputs, void* outputs) {
  const auto* const in = static_cast<const float*>(inputs);
  auto* const out = static_cast<float*>(outputs);
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    out[i] = kReciprocal ? 1.0F / std::sqrt(in[i]) : std::sqrt(in[i]);
  }
}

ET_AVX512 void roots_avx512(size_t bytes, const void* in, void* out, const void*) {
  take_roots<false>(bytes, in, out);
}

/// An estimate y with one step of Newton's, 1 - (x * y) * y, of which nothing underflows. That is
/// NaN where y is 0 or infinite, and right.
ET_AVX512 void reciprocal_roots_avx512(size_t bytes, const void* in, void* out, const void*) {
  constexpr size_t kLanes = 16;
  const size_t count = bytes / sizeof(float);
  for (size_t i = 0; i < count; i += kLanes) {
    const unsigned left = count - i < kLanes ? (1U << (count - i)) - 1 : 0xFFFF;
    const auto lanes = static_cast<__mmask16>(left);
    const __m512 x = _mm512_maskz_loadu_ps(lanes, static_cast<const float*>(in) + i);
    const __m512 y = _mm512_rsqrt14_ps(x);
    const __m512 error = _mm512_fnmadd_ps(_mm512_mul_ps(x, y), y, _mm512_set1_ps(1.0F));
    const __mmask16 is_number = _mm512_cmp_ps_mask(error, error, _CMP_ORD_Q);
    const __m512 half = _mm512_mul_ps(y, _mm512_set1_ps(0.5F));
    const __m512 root = _mm512_mask3_fmadd_ps(half, error, y, is_number);
    _mm512_mask_storeu_ps(static_cast<float*>(out) + i, lanes, root);
  }
}

template <bool kReciprocal>
ET_AVX void roots_avx(size_t bytes, const void* in, void* out, const void*) {
  take_roots<kReciprocal>(bytes, in, out);
}

template <bool kReciprocal>
void roots(size_t bytes, const void* in, void* out, const void*) {
  take_roots<kReciprocal>(bytes, in, out);
}

template <bool kReciprocal>
const xnn_unary_elementwise_config* with_roots(const xnn_unary_elementwise_config* theirs) {
  return changed(theirs, [](xnn_unary_elementwise_config& table) {
    const xnn_hardware_config& hardware = *xnn_init_hardware_config();
    const auto avx512 = kReciprocal ? reciprocal_roots_avx512 : roots_avx512;
    const auto kernel = hardware.use_x86_avx512f ? avx512
                        : hardware.use_x86_avx   ? roots_avx<kReciprocal>
                                                 : roots<kReciprocal>;
    table.ukernel = reinterpret_cast<xnn_vunary_ukernel_fn>(kernel);
  });
}

}  // namespace

}  // namespace executorch::backends::xnnpack

extern "C" {

const xnn_unary_elementwise_config* xnn_init_f32_sqrt_config() {
  return executorch::backends::xnnpack::with_roots<false>(xnn_init_f32_sqrt_config_any());
}

const xnn_unary_elementwise_config* xnn_init_f32_rsqrt_config() {
  return executorch::backends::xnnpack::with_roots<true>(xnn_init_f32_rsqrt_config_any());
}

}  // extern "C"
