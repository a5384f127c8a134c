// SPDX-License-Identifier: BSD-3-Clause
// Stockham's mixed-radix transform on vectors of rows, and by convolution where a length has a
// large prime factor. Two real rows travel as the real and the imaginary part of one complex row,
// and are told apart by the symmetry of their spectra.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/fft/fft_simd.cpp"
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/fft/fft.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE int64_t width() {
  return static_cast<int64_t>(hn::Lanes(D()));
}
int64_t fft_lanes() {
  return width();
}

// One complex number a lane. In memory: the real parts, then the imaginary ones.
struct Points {
  V re, im;

  // Written out, because GCC compiles implicit ones for the least processor, where vectors of
  // another cannot be made.
  HWY_INLINE Points() {}
  HWY_INLINE Points(V re_part, V im_part) : re(re_part), im(im_part) {}

  static HWY_INLINE Points load(const float* from) {
    return {hn::LoadU(D(), from), hn::LoadU(D(), from + width())};
  }
  HWY_INLINE void store(float* to) const {
    hn::StoreU(re, D(), to);
    hn::StoreU(im, D(), to + width());
  }
  HWY_INLINE Points operator+(Points other) const {
    return {hn::Add(re, other.re), hn::Add(im, other.im)};
  }
  HWY_INLINE Points operator-(Points other) const {
    return {hn::Sub(re, other.re), hn::Sub(im, other.im)};
  }
  // Times one number, (real, imaginary) in memory.
  HWY_INLINE Points times(const float* root) const {
    const V c = hn::Set(D(), root[0]), s = hn::Set(D(), root[1]);
    return {hn::NegMulAdd(im, s, hn::Mul(re, c)), hn::MulAdd(re, s, hn::Mul(im, c))};
  }
  HWY_INLINE Points times_minus_i() const { return {im, hn::Neg(re)}; }
};

// Steps p of a stage: n points in groups of `radix`, `stride` transforms side by side.
struct Stage {
  int64_t n, stride;
  const float* roots;  // exp(-2 pi i k / (n * stride)), interleaved
};

template <int kRadix>
HWY_INLINE void butterfly(const Stage& stage, Points* a) {
  if constexpr (kRadix == 2) {
    const Points sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (kRadix == 4) {
    const Points even = a[0] + a[2], odd = a[1] + a[3];
    const Points even_rest = a[0] - a[2], odd_rest = (a[1] - a[3]).times_minus_i();
    a[0] = even + odd;
    a[1] = even_rest + odd_rest;
    a[2] = even - odd;
    a[3] = even_rest - odd_rest;
  } else if constexpr (kRadix == 8) {
    Points even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
    butterfly<4>(stage, even);
    butterfly<4>(stage, odd);
    const V root = hn::Set(D(), 0.70710678118654752f);
    odd[1] = {hn::Mul(root, hn::Add(odd[1].re, odd[1].im)),
              hn::Mul(root, hn::Sub(odd[1].im, odd[1].re))};
    odd[2] = odd[2].times_minus_i();
    odd[3] = {hn::Mul(root, hn::Sub(odd[3].im, odd[3].re)),
              hn::Neg(hn::Mul(root, hn::Add(odd[3].re, odd[3].im)))};
    for (int j = 0; j < 4; ++j) {
      a[j] = even[j] + odd[j];
      a[j + 4] = even[j] - odd[j];
    }
  } else {
    Points sums[kRadix];
    const int64_t turn = stage.n * stage.stride / kRadix;
    for (int j = 0; j < kRadix; ++j) {
      sums[j] = a[0];
      for (int i = 1; i < kRadix; ++i) {
        sums[j] = sums[j] + a[i].times(stage.roots + 2 * (i * j % kRadix) * turn);
      }
    }
    for (int j = 0; j < kRadix; ++j) {
      a[j] = sums[j];
    }
  }
}

template <int kRadix>
void run_stage(const Stage& stage, const float* in, float* out) {
  const int64_t size = 2 * width();
  const int64_t m = stage.n / kRadix;
  const int64_t s = stage.stride;
  for (int64_t p = 0; p < m; ++p) {
    for (int64_t q = 0; q < s; ++q) {
      Points a[kRadix];
      for (int i = 0; i < kRadix; ++i) {
        a[i] = Points::load(in + (q + s * (p + i * m)) * size);
      }
      butterfly<kRadix>(stage, a);
      float* to = out + (q + s * kRadix * p) * size;
      a[0].store(to);
      for (int j = 1; j < kRadix; ++j) {
        a[j].times(stage.roots + 2 * p * j * s).store(to + j * s * size);
      }
    }
  }
}

// The same for any prime up to 31.
void run_prime_stage(const Stage& stage, int radix, const float* in, float* out) {
  const int64_t size = 2 * width();
  const int64_t m = stage.n / radix;
  const int64_t s = stage.stride;
  const int64_t turn = stage.n * s / radix;
  for (int64_t p = 0; p < m; ++p) {
    for (int64_t q = 0; q < s; ++q) {
      const float* from = in + (q + s * p) * size;
      float* to = out + (q + s * radix * p) * size;
      for (int j = 0; j < radix; ++j) {
        Points sum = Points::load(from);
        for (int i = 1; i < radix; ++i) {
          const Points a = Points::load(from + i * m * s * size);
          sum = sum + a.times(stage.roots + 2 * (i * j % radix) * turn);
        }
        sum.times(stage.roots + 2 * p * j * s).store(to + j * s * size);
      }
    }
  }
}

int smallest_odd_factor(int64_t n) {
  int factor = 3;
  while (n % factor != 0) {
    factor += 2;
  }
  return factor;
}

// Transforms n points with small prime factors in `buffers[0]`; the result is in the returned one
// of the two.
float* run_stages(int64_t n, const float* roots, float* const* buffers) {
  int at = 0;
  Stage stage{n, 1, roots};
  while (stage.n > 1) {
    const float* in = buffers[at];
    float* out = buffers[at ^= 1];
    int radix = 2;
    if (stage.n % 8 == 0 && stage.n != 16) {
      radix = 8;
      run_stage<8>(stage, in, out);
    } else if (stage.n % 4 == 0) {
      radix = 4;
      run_stage<4>(stage, in, out);
    } else if (stage.n % 2 == 0) {
      run_stage<2>(stage, in, out);
    } else if ((radix = smallest_odd_factor(stage.n)) == 3) {
      run_stage<3>(stage, in, out);
    } else if (radix == 5) {
      run_stage<5>(stage, in, out);
    } else {
      run_prime_stage(stage, radix, in, out);
    }
    stage.n /= radix;
    stage.stride *= radix;
  }
  return buffers[at];
}

// The same for any length. Bluestein: with the chirp c[k] = exp(-pi i k^2 / n), the spectrum is c
// times the convolution of c * x with 1 / c. Inverse transforms are conjugates of those of
// conjugates.
float* transform(const FftPlan& plan, float* const* buffers) {
  const int64_t size = 2 * width();
  if (plan.m == plan.n) {
    return run_stages(plan.n, plan.roots, buffers);
  }
  float* const line = buffers[0];
  for (int64_t k = 0; k < plan.n; ++k) {
    Points::load(line + k * size).times(plan.chirp + 2 * k).store(line + k * size);
  }
  std::fill(line + plan.n * size, line + plan.m * size, 0.0f);
  float* const spectrum = run_stages(plan.m, plan.roots, buffers);
  for (int64_t k = 0; k < plan.m; ++k) {
    Points product = Points::load(spectrum + k * size).times(plan.filter + 2 * k);
    product.im = hn::Neg(product.im);
    product.store(spectrum + k * size);
  }
  float* const order[2] = {spectrum, spectrum == buffers[0] ? buffers[1] : buffers[0]};
  float* const result = run_stages(plan.m, plan.roots, order);
  for (int64_t k = 0; k < plan.n; ++k) {
    Points product = Points::load(result + k * size);
    product.im = hn::Neg(product.im);
    product.times(plan.chirp + 2 * k).store(result + k * size);
  }
  return result;
}

// The spectrum of 1 / c, scaled by 1 / m for the way back, from the chirp.
void make_filter(const FftPlan& plan, float* const* buffers, float* filter) {
  const int64_t size = 2 * width();
  std::fill(buffers[0], buffers[0] + plan.m * size, 0.0f);
  for (int64_t k = 0; k < plan.n; ++k) {
    const Points inverse{hn::Set(D(), plan.chirp[2 * k]), hn::Set(D(), -plan.chirp[2 * k + 1])};
    inverse.store(buffers[0] + k * size);
    inverse.store(buffers[0] + (k == 0 ? 0 : plan.m - k) * size);
  }
  const float* const spectrum = run_stages(plan.m, plan.roots, buffers);
  const float scale = 1.0f / static_cast<float>(plan.m);
  for (int64_t k = 0; k < plan.m; ++k) {
    filter[2 * k] = scale * spectrum[k * size];
    filter[2 * k + 1] = scale * spectrum[k * size + width()];
  }
}

// Rows to lanes, some columns at a time: each line of the result is written while it is in cache.
void turn(const float* in, int64_t in_stride, int64_t rows, int64_t columns, float* out,
          int64_t out_stride) {
  constexpr int64_t kColumns = 64;
  for (int64_t c = 0; c < columns; c += kColumns) {
    gemm_kernels().transpose(in + c, in_stride, rows, std::min(kColumns, columns - c),
                             out + c * out_stride, out_stride, /*add=*/false);
  }
}

// Rows [row, row + 2 * lanes) of real numbers to spectra.
void spectra_block(const FftRows& p, const FftPlan& plan, int64_t row, float* const* buffers) {
  const D d;
  const int64_t lanes = width();
  const GemmKernels& kernels = gemm_kernels();
  const int64_t count[2] = {std::clamp<int64_t>(p.rows - row, 0, lanes),
                            std::clamp<int64_t>(p.rows - row - lanes, 0, lanes)};
  if (count[1] < lanes) {
    std::fill(buffers[0], buffers[0] + 2 * lanes * p.n, 0.0f);
  }
  for (int part = 0; part < 2; ++part) {
    if (count[part] > 0) {
      turn(p.in + (row + part * lanes) * p.in_stride, p.in_stride, count[part], p.n,
           buffers[0] + part * lanes, 2 * lanes);
    }
  }
  float* const result = transform(plan, buffers);
  float* const turned = result == buffers[0] ? buffers[1] : buffers[0];
  const V half = hn::Set(d, 0.5f * p.scale);
  for (int part = 0; part < 2; ++part) {
    for (int64_t k = 0; k < p.bins; ++k) {
      const Points z = Points::load(result + 2 * lanes * k);
      const Points mirror = Points::load(result + 2 * lanes * (k == 0 ? 0 : p.n - k));
      const Points row_of_part = part == 0
                                     ? Points{hn::Add(z.re, mirror.re), hn::Sub(z.im, mirror.im)}
                                     : Points{hn::Add(z.im, mirror.im), hn::Sub(mirror.re, z.re)};
      Points{hn::Mul(row_of_part.re, half), hn::Mul(row_of_part.im, half)}.store(turned +
                                                                                 2 * lanes * k);
    }
    if (count[part] > 0) {
      kernels.transpose(turned, lanes, 2 * p.bins, count[part],
                        p.out + (row + part * lanes) * p.out_stride, p.out_stride, /*add=*/false);
    }
  }
}

// The conjugate of bin k of a real row's spectrum, from the bins up to n / 2.
HWY_INLINE Points conjugate_bin(const float* bins, int64_t n, int64_t k) {
  const bool mirrored = k > n / 2;
  Points x = Points::load(bins + 2 * width() * (mirrored ? n - k : k));
  x.im = k == 0 || 2 * k == n ? hn::Zero(D()) : mirrored ? x.im : hn::Neg(x.im);
  return x;
}

// Spectra A and B of rows [row, row + 2 * lanes) to real numbers a and b. The inverse transform is
// the conjugate of the transform of the conjugate: conj(A) + i * conj(B) gives a + i * b.
void signals_block(const FftRows& p, const FftPlan& plan, int64_t row, float* const* buffers) {
  const D d;
  const int64_t lanes = width();
  float* const bins[2] = {buffers[1], buffers[1] + 2 * lanes * p.bins};
  int64_t count[2];
  for (int part = 0; part < 2; ++part) {
    count[part] = std::clamp<int64_t>(p.rows - row - part * lanes, 0, lanes);
    if (count[part] < lanes) {
      std::fill(bins[part], bins[part] + 2 * lanes * p.bins, 0.0f);
    }
    if (count[part] > 0) {
      turn(p.in + (row + part * lanes) * p.in_stride, p.in_stride, count[part], 2 * p.bins,
           bins[part], lanes);
    }
  }
  const V scale = hn::Set(d, p.scale);
  for (int64_t k = 0; k < p.n; ++k) {
    const Points a = conjugate_bin(bins[0], p.n, k);
    const Points b = conjugate_bin(bins[1], p.n, k);
    Points{hn::Mul(scale, hn::Sub(a.re, b.im)), hn::Mul(scale, hn::Add(a.im, b.re))}.store(
        buffers[0] + 2 * lanes * k);
  }
  float* const result = transform(plan, buffers);
  for (int part = 0; part < 2; ++part) {
    if (count[part] > 0) {
      gemm_kernels().transpose(result + part * lanes, 2 * lanes, p.n, count[part],
                               p.out + (row + part * lanes) * p.out_stride, p.out_stride,
                               /*add=*/false);
    }
  }
}

// The complex lines [line, line + lanes) of one outer index, in place or not. The inverse is the
// conjugate of the transform of the conjugate.
void complex_block(const FftLines& p, const FftPlan& plan, int64_t outer, int64_t line,
                   float* const* buffers) {
  const D d;
  const int64_t lanes = width();
  const auto count = static_cast<size_t>(std::min(lanes, p.inner - line));
  const int64_t start = 2 * (outer * p.n * p.inner + line);
  const V sign = hn::Set(d, p.inverse ? -p.scale : p.scale), scale = hn::Set(d, p.scale);
  HWY_ALIGN float pairs[2 * hn::MaxLanes(D())] = {};
  for (int64_t k = 0; k < p.n; ++k) {
    std::copy_n(p.in + start + 2 * k * p.inner, 2 * count, pairs);
    Points x;
    hn::LoadInterleaved2(d, pairs, x.re, x.im);
    Points{hn::Mul(x.re, scale), hn::Mul(x.im, sign)}.store(buffers[0] + 2 * lanes * k);
  }
  const float* const result = transform(plan, buffers);
  const V back = hn::Set(d, p.inverse ? -1.0f : 1.0f);
  for (int64_t k = 0; k < p.n; ++k) {
    const Points x = Points::load(result + 2 * lanes * k);
    hn::StoreInterleaved2(x.re, hn::Mul(x.im, back), d, pairs);
    std::copy_n(pairs, 2 * count, p.out + start + 2 * k * p.inner);
  }
}

// The same for rows [row, row + lanes) of lines whose neighbours lie together (inner 1).
void complex_rows(const FftLines& p, const FftPlan& plan, int64_t row, float* const* buffers) {
  const D d;
  const int64_t lanes = width();
  const int64_t count = std::min(lanes, p.outer - row);
  float* const first = buffers[0];
  if (count < lanes) {
    std::fill(first, first + 2 * lanes * p.n, 0.0f);
  }
  turn(p.in + 2 * row * p.n, 2 * p.n, count, 2 * p.n, first, lanes);
  const V scale = hn::Set(d, p.scale), sign = hn::Set(d, p.inverse ? -p.scale : p.scale);
  for (int64_t k = 0; k < p.n; ++k) {
    const Points x = Points::load(first + 2 * lanes * k);
    Points{hn::Mul(x.re, scale), hn::Mul(x.im, sign)}.store(first + 2 * lanes * k);
  }
  float* const result = transform(plan, buffers);
  for (int64_t k = 0; p.inverse && k < p.n; ++k) {
    const Points x = Points::load(result + 2 * lanes * k);
    Points{x.re, hn::Neg(x.im)}.store(result + 2 * lanes * k);
  }
  gemm_kernels().transpose(result, lanes, 2 * p.n, count, p.out + 2 * row * p.n, 2 * p.n,
                           /*add=*/false);
}

}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::optimized {

HWY_EXPORT(fft_lanes);
HWY_EXPORT(make_filter);
HWY_EXPORT(spectra_block);
HWY_EXPORT(signals_block);
HWY_EXPORT(complex_block);
HWY_EXPORT(complex_rows);

namespace {

using runtime::Error;

constexpr int64_t kLargestFft = 1 << 15;

// exp(-2 pi i k / n), from the roots of halves: errors do not add up.
void make_roots(int64_t n, float* roots) {
  const double turn = -2.0 * 3.14159265358979323846 / static_cast<double>(n);
  for (int64_t k = 0; k < n; k += 32) {
    double re = std::cos(turn * static_cast<double>(k)),
           im = std::sin(turn * static_cast<double>(k));
    const double step_re = std::cos(turn), step_im = std::sin(turn);
    for (int64_t i = k; i < std::min(k + 32, n); ++i) {
      roots[2 * i] = static_cast<float>(re);
      roots[2 * i + 1] = static_cast<float>(im);
      re = std::exchange(im, im * step_re + re * step_im) * -step_im + re * step_re;
    }
  }
}

bool has_small_factors(int64_t n) {
  for (int64_t prime : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
    while (n % prime == 0) {
      n /= prime;
    }
  }
  return n == 1;
}

// The least length of at least 2 * n - 1 with factors that have a stage of their own.
int64_t convolution_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (int64_t length : {1, 3, 5, 9, 15}) {
    while (length < 2 * n - 1) {
      length *= 2;
    }
    best = std::min(best, length);
  }
  return best;
}

// exp(-pi i k^2 / n): of the 2 * n roots, which `roots` has room for.
void make_chirp(int64_t n, float* roots, float* chirp) {
  make_roots(2 * n, roots);
  for (int64_t k = 0; k < n; ++k) {
    std::copy_n(roots + 2 * (k * k % (2 * n)), 2, chirp + 2 * k);
  }
}

// Calls block(plan, index, two buffers of n points) for all indices, each share of them on one
// thread.
template <typename Block>
Error run_blocks(runtime::KernelRuntimeContext& ctx, int64_t n, int64_t blocks,
                 const Block& block) {
  const bool direct = has_small_factors(n);
  const int64_t m = direct ? n : convolution_length(n);
  const int64_t lanes = HWY_DYNAMIC_DISPATCH(fft_lanes)();
  const int64_t shares = std::min<int64_t>(blocks, extension::get_num_threads());
  const int64_t buffer = 2 * lanes * (m + 2);  // room for two spectra of n / 2 + 1 bins
  const int64_t tables = direct ? 2 * n : 4 * m + 2 * n;
  auto memory =
      ctx.allocate_temp(static_cast<size_t>(tables + shares * 2 * buffer) * sizeof(float), 64);
  if (!memory.ok()) {
    return Error::MemoryAllocationFailed;
  }
  auto* roots = static_cast<float*>(memory.get());
  make_roots(m, roots);
  float* const filter = roots + 2 * m;
  float* const chirp = filter + 2 * m;
  const FftPlan plan{n, m, roots, direct ? nullptr : chirp, direct ? nullptr : filter};
  float* const buffers_start = roots + tables;
  if (!direct) {
    float* const buffers[2] = {buffers_start, buffers_start + buffer};
    make_chirp(n, buffers_start, chirp);
    HWY_DYNAMIC_DISPATCH(make_filter)(plan, buffers, filter);
  }
  const int64_t grain = m * lanes * blocks >= 1 << 13 ? 1 : shares;
  extension::parallel_for(0, shares, grain, [&](int64_t first, int64_t last) {
    for (int64_t share = first; share < last; ++share) {
      float* own = buffers_start + share * 2 * buffer;
      float* const buffers[2] = {own, own + buffer};
      for (int64_t i = share; i < blocks; i += shares) {
        block(plan, i, buffers);
      }
    }
  });
  return Error::Ok;
}

// Blocks of so many vectors that all of `count` lines are in one.
int64_t blocks_of(int64_t count, int64_t vectors) {
  const int64_t lines = vectors * HWY_DYNAMIC_DISPATCH(fft_lanes)();
  return (count + lines - 1) / lines;
}

}  // namespace

bool has_fast_fft(int64_t n) {
  return n >= 1 && n <= kLargestFft &&
         (has_small_factors(n) || convolution_length(n) <= kLargestFft);
}

Error real_to_spectra(runtime::KernelRuntimeContext& ctx, const FftRows& p) {
  const int64_t lines = 2 * HWY_DYNAMIC_DISPATCH(fft_lanes)();
  return run_blocks(ctx, p.n, blocks_of(p.rows, 2),
                    [&](const FftPlan& plan, int64_t i, float* const* buffers) {
                      HWY_DYNAMIC_DISPATCH(spectra_block)(p, plan, i * lines, buffers);
                    });
}

Error spectra_to_real(runtime::KernelRuntimeContext& ctx, const FftRows& p) {
  const int64_t lines = 2 * HWY_DYNAMIC_DISPATCH(fft_lanes)();
  return run_blocks(ctx, p.n, blocks_of(p.rows, 2),
                    [&](const FftPlan& plan, int64_t i, float* const* buffers) {
                      HWY_DYNAMIC_DISPATCH(signals_block)(p, plan, i * lines, buffers);
                    });
}

Error transform_lines(runtime::KernelRuntimeContext& ctx, const FftLines& p) {
  const int64_t lanes = HWY_DYNAMIC_DISPATCH(fft_lanes)();
  if (p.inner == 1) {
    return run_blocks(ctx, p.n, blocks_of(p.outer, 1),
                      [&](const FftPlan& plan, int64_t i, float* const* buffers) {
                        HWY_DYNAMIC_DISPATCH(complex_rows)(p, plan, i * lanes, buffers);
                      });
  }
  const int64_t blocks = blocks_of(p.inner, 1);
  return run_blocks(ctx, p.n, p.outer * blocks,
                    [&](const FftPlan& plan, int64_t i, float* const* buffers) {
                      HWY_DYNAMIC_DISPATCH(complex_block)
                      (p, plan, i / blocks, i % blocks * lanes, buffers);
                    });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
