// SPDX-License-Identifier: BSD-3-Clause
// Matmuls of dense matrices of any dtype that has a fast path: chooses the loop by dtype, shape
// and processor. What mm, bmm, addmm, linear and _int_mm are made of.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// c[batch][m][n] = a[batch][m][k] * b (+ col_bias, or + c): b is [batch][k][n], or [batch][n][k]
// when b_transposed. All of `dtype`: Float, Half, BFloat16; an integer type when it wraps; or Char
// with a c of Int and no bias.
struct Matmul {
  executorch::aten::ScalarType dtype;
  int64_t batch, m, k, n;
  const void* a;
  const void* b;
  void* c;
  bool b_transposed = false;
  bool accumulate = false;
  bool c_is_f32 = false;  // Half, BFloat16: c takes the sums, not rounded; not with accumulate
  const void* col_bias = nullptr;
  bool wraps = false;  // integers of one dtype, c too, which wrap around
};

// Threaded; scratch memory comes from ctx. On MemoryAllocationFailed c holds what it held.
[[nodiscard]] runtime::Error multiply(runtime::KernelRuntimeContext& ctx, const Matmul& product);

// The part of multiply() for products that wrap; takes no memory.
void matmul_integers(const Matmul& product);

}  // namespace executorch::kernels::optimized
