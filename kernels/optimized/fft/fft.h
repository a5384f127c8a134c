// SPDX-License-Identifier: BSD-3-Clause
// Fourier transforms between real and complex f32 rows, many rows at a time: lanes of vectors are
// rows, so that every butterfly is the same for all of them.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// Transforms of `rows` rows, n values each on the real side.
struct FftRows {
  int64_t n, rows;
  const float* in;
  int64_t in_stride;  // floats between rows, as below
  float* out;
  int64_t out_stride;
  int64_t bins;  // of a spectrum: n / 2 + 1, or n when both sides are wanted (forward only)
  float scale;
};

// How lines of n points are transformed: directly (m is n), or by convolution of length m.
struct FftPlan {
  int64_t n, m;
  const float* roots;   // exp(-2 pi i k / m), interleaved, as all below
  const float* chirp;   // exp(-pi i k^2 / n)
  const float* filter;  // the spectrum that the chirped line is multiplied with
};

// Whether rows of n, or the convolution that stands for them, fit the scratch memory.
bool has_fast_fft(int64_t n);

// Real rows to spectra of interleaved real and imaginary parts, and back (imaginary parts that a
// real signal cannot have are left out of account). Threaded; scratch memory from ctx,
// MemoryAllocationFailed when it cannot give any, with nothing written. has_fast_fft(n) holds.
[[nodiscard]] runtime::Error real_to_spectra(runtime::KernelRuntimeContext& ctx, const FftRows& p);
[[nodiscard]] runtime::Error spectra_to_real(runtime::KernelRuntimeContext& ctx, const FftRows& p);

// Complex lines of n elements, seen as [outer][n][inner]; `in` may be `out`.
struct FftLines {
  int64_t outer, n, inner;
  const float* in;
  float* out;
  bool inverse;
  float scale;
};
[[nodiscard]] runtime::Error transform_lines(runtime::KernelRuntimeContext& ctx, const FftLines& p);

}  // namespace executorch::kernels::optimized
