// SPDX-License-Identifier: BSD-3-Clause
// f32 in place; BFloat16 and int8 by the processor's dot products; BFloat16 without them, and Half,
// through f32 sums.
#include <executorch/kernels/optimized/gemm/dense_matmul.h>

#include <algorithm>
#include <utility>

#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

using executorch::aten::ScalarType;
using executorch::extension::parallel_for;
using runtime::Error;
using runtime::KernelRuntimeContext;

namespace {

constexpr int64_t kGrain = 1 << 14;  // elements worth a thread in a pass over memory
constexpr int64_t kSwapBelowRows =
    24;  // with fewer rows, packing the weights costs more than packing the input

const uint8_t* offset_by(const void* base, int64_t values, int64_t value_bytes) {
  return static_cast<const uint8_t*>(base) + values * value_bytes;
}

void widen_all(ScalarType type, const void* from, int64_t count, float* to) {
  parallel_for(0, count, kGrain, [&](int64_t first, int64_t last) {
    widen(type, offset_by(from, first, 2), to + first, last - first);
  });
}

void narrow_all(ScalarType type, const float* from, int64_t count, void* to) {
  parallel_for(0, count, kGrain, [&](int64_t first, int64_t last) {
    narrow(type, from + first, static_cast<uint8_t*>(to) + first * 2, last - first);
  });
}

// Panels of f32 from a narrow B.
template <ScalarType kType>
void pack_widened_rows(const Gemm& g, const GemmPanel& panel, float* out) {
  const int64_t cols = panel.n_end - panel.n_begin;
  for (int64_t k = panel.k_begin; k < panel.k_end; ++k, out += panel.width) {
    widen(kType, offset_by(g.b, k * g.ldb + panel.n_begin, 2), out, cols);
    std::fill(out + cols, out + panel.width, 0.0f);
  }
}

template <ScalarType kType>
void pack_widened_columns(const Gemm& g, const GemmPanel& panel, float* out) {
  constexpr int64_t kStep = 64;
  float columns[kMaxTileWidth][kStep] = {};
  const int64_t cols = panel.n_end - panel.n_begin;
  for (int64_t k = panel.k_begin; k < panel.k_end; k += kStep) {
    const int64_t count = std::min(kStep, panel.k_end - k);
    for (int64_t j = 0; j < cols; ++j) {
      widen(kType, offset_by(g.b, (panel.n_begin + j) * g.ldb + k, 2), columns[j], count);
    }
    gemm_kernels().transpose(columns[0], kStep, panel.width, count,
                             out + (k - panel.k_begin) * panel.width, panel.width, /*add=*/false);
  }
}

// The transposed result, for few rows of a and many of b: then only a is packed.
bool is_swapped(const Matmul& p) {
  return p.b_transposed && p.m < kSwapBelowRows;
}

template <typename Problem>
void turn(Problem& g) {
  std::swap(g.lda, g.ldb);
  std::swap(g.m, g.n);
  std::swap(g.row_bias, g.col_bias);
  g.c_transposed = true;
}

Gemm f32_problem(const Matmul& p, int64_t index) {
  Gemm g;
  g.m = p.m;
  g.n = p.n;
  g.k = p.k;
  g.a = static_cast<const float*>(p.a) + index * p.m * p.k;
  g.lda = p.k;
  const float* b = static_cast<const float*>(p.b) + index * p.k * p.n;
  g.b = b;
  g.ldb = p.b_transposed ? p.k : p.n;
  g.pack = p.b_transposed ? pack_columns : pack_rows;
  g.b_in_rows = !p.b_transposed;
  g.c = static_cast<float*>(p.c) + index * p.m * p.n;
  g.ldc = p.n;
  g.accumulate = p.accumulate;
  g.col_bias = static_cast<const float*>(p.col_bias);
  if (is_swapped(p)) {
    g.b = g.a;
    g.a = b;
    turn(g);
  }
  return g;
}

NarrowGemm narrow_problem(const Matmul& p, const float* bias, int64_t index) {
  const int64_t value_bytes = p.dtype == ScalarType::Char ? 1 : 2;
  const int64_t sum_bytes = p.dtype == ScalarType::Char || p.c_is_f32 ? 4 : 2;
  NarrowGemm g;
  g.type = p.dtype == ScalarType::Char ? NarrowType::kInt8 : NarrowType::kBFloat16;
  g.m = p.m;
  g.n = p.n;
  g.k = p.k;
  g.a = offset_by(p.a, index * p.m * p.k, value_bytes);
  g.lda = p.k;
  g.b = offset_by(p.b, index * p.k * p.n, value_bytes);
  g.b_in_columns = p.b_transposed;
  g.ldb = p.b_transposed ? p.k : p.n;
  g.c = static_cast<uint8_t*>(p.c) + index * p.m * p.n * sum_bytes;
  g.c_is_f32 = p.c_is_f32;
  g.ldc = p.n;
  g.accumulate = p.accumulate;
  g.col_bias = bias;
  if (is_swapped(p) && p.dtype == ScalarType::BFloat16) {
    std::swap(g.a, g.b);
    turn(g);
  }
  return g;
}

// Half or BFloat16 through f32: the left operand and the result are copied, the right one is
// converted in packing.
Gemm widened_problem(const Matmul& p, const float* a, float* c, const float* bias, int64_t index) {
  const bool half = p.dtype == ScalarType::Half;
  Matmul wide = p;
  wide.m = std::max(p.m, kSwapBelowRows);  // never swapped: what is packed is b
  wide.a = a;
  wide.c = c;
  wide.col_bias = bias;
  Gemm g = f32_problem(wide, 0);
  g.m = p.m;
  g.a = a + index * p.m * p.k;
  g.c = c + index * p.m * p.n;
  g.b = offset_by(p.b, index * p.k * p.n, 2);
  g.b_in_rows = false;
  if (p.b_transposed) {
    g.pack =
        half ? pack_widened_columns<ScalarType::Half> : pack_widened_columns<ScalarType::BFloat16>;
  } else {
    g.pack = half ? pack_widened_rows<ScalarType::Half> : pack_widened_rows<ScalarType::BFloat16>;
  }
  return g;
}

bool is_dot(const Matmul& p) {
  return p.b_transposed && p.m <= kMaxDotVectors && p.batch == 1 && !p.accumulate;
}

void multiply_by_dots(const Matmul& p, const float* a, const float* bias, float* c) {
  DotRows d;
  d.num_rows = p.n;
  d.num_x = p.m;
  d.k = p.k;
  d.rows = p.b;
  d.row_type = p.dtype;
  d.row_stride = p.k;
  d.x = a;
  d.x_stride = p.k;
  d.bias = bias;
  d.out = c;
  d.out_stride = p.n;
  dot_rows(d);
}

Error multiply_f32(KernelRuntimeContext& ctx, const Matmul& p) {
  if (is_dot(p)) {
    multiply_by_dots(p, static_cast<const float*>(p.a), static_cast<const float*>(p.col_bias),
                     static_cast<float*>(p.c));
    return Error::Ok;
  }
  return gemm(ctx, p.batch, [&](int64_t index) { return f32_problem(p, index); });
}

Error multiply_widened(KernelRuntimeContext& ctx, const Matmul& p, const float* bias) {
  float* a = scratch<float>(ctx, p.batch * p.m * p.k);
  float* c = p.c_is_f32 ? static_cast<float*>(p.c) : scratch<float>(ctx, p.batch * p.m * p.n);
  if (a == nullptr || c == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  widen_all(p.dtype, p.a, p.batch * p.m * p.k, a);
  if (p.accumulate) {
    widen_all(p.dtype, p.c, p.batch * p.m * p.n, c);
  }
  Error error = Error::Ok;
  if (is_dot(p)) {
    multiply_by_dots(p, a, bias, c);
  } else {
    error =
        gemm(ctx, p.batch, [&](int64_t index) { return widened_problem(p, a, c, bias, index); });
  }
  if (error == Error::Ok && !p.c_is_f32) {
    narrow_all(p.dtype, c, p.batch * p.m * p.n, p.c);
  }
  return error;
}

}  // namespace

Error multiply(KernelRuntimeContext& ctx, const Matmul& p) {
  if (p.batch == 0 || p.m == 0 || p.n == 0) {
    return Error::Ok;  // nothing to compute, and none of the operands need have memory
  }
  if (p.wraps) {
    matmul_integers(p);
    return Error::Ok;
  }
  if (p.dtype == ScalarType::Float) {
    return multiply_f32(ctx, p);
  }
  float* bias = nullptr;
  if (p.col_bias != nullptr) {
    bias = scratch<float>(ctx, p.n);
    if (bias == nullptr) {
      return Error::MemoryAllocationFailed;
    }
    widen_all(p.dtype, p.col_bias, p.n, bias);
  }
  const bool dot_products =
      p.dtype == ScalarType::Char || (p.dtype == ScalarType::BFloat16 && has_bfloat16_matmul());
  if (!dot_products || (is_dot(p) && p.dtype != ScalarType::Char)) {
    return multiply_widened(ctx, p, bias);
  }
  return gemm_narrow(ctx, p.batch, [&](int64_t index) { return narrow_problem(p, bias, index); });
}

}  // namespace executorch::kernels::optimized
