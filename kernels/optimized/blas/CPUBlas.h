// SPDX-License-Identifier: BSD-3-Clause
// Matrix multiply as in BLAS: column-major, C = alpha op(A) op(B) + beta C. Floats
// go through gemm.h where one of the operands has the layout it needs; others through a plain
// loop. Link optimized_kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include <c10/util/complex.h>

#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/utils/math_utils.h>
#include <executorch/runtime/executor/platform_memory_allocator.h>

namespace executorch {
namespace cpublas {

enum class TransposeType {
  NoTranspose,
  Transpose,
  ConjTranspose,
};

namespace internal {

template <typename T>
struct is_complex_number : std::false_type {};
template <typename T>
struct is_complex_number<c10::complex<T>> : std::true_type {};

/// Element (row, column) of op(matrix).
template <typename T>
inline T element(TransposeType type, const T* matrix, int64_t ld, int64_t row, int64_t column) {
  if (type == TransposeType::NoTranspose) {
    return matrix[row + column * ld];
  }
  const T value = matrix[column + row * ld];
  if constexpr (is_complex_number<T>::value) {
    return type == TransposeType::ConjTranspose ? T(value.real(), -value.imag()) : value;
  } else {
    return value;
  }
}

/// True when gemm.h computed the result.
inline bool gemm_of_floats(TransposeType transa, TransposeType transb, int64_t m, int64_t n,
                           int64_t k, float alpha, const float* a, int64_t lda, const float* b,
                           int64_t ldb, float beta, float* c, int64_t ldc) {
  namespace optimized = ::executorch::kernels::optimized;
  const bool a_transposed = transa != TransposeType::NoTranspose;
  const bool b_transposed = transb != TransposeType::NoTranspose;
  if (alpha != 1.0f || (beta != 0.0f && beta != 1.0f) || (b_transposed && !a_transposed)) {
    return false;
  }
  optimized::Gemm problem;
  problem.k = k;
  problem.accumulate = beta == 1.0f;
  problem.c = c;
  problem.ldc = ldc;
  if (!b_transposed) {
    // The transposed result, row-major: its left operand has the columns of B as rows.
    problem.m = n;
    problem.n = m;
    problem.a = b;
    problem.lda = ldb;
    problem.b = a;
    problem.ldb = lda;
    problem.pack = a_transposed ? optimized::pack_columns : optimized::pack_rows;
    problem.b_in_rows = !a_transposed;
  } else {
    problem.m = m;
    problem.n = n;
    problem.a = a;
    problem.lda = lda;
    problem.b = b;
    problem.ldb = ldb;
    problem.pack = optimized::pack_rows;
    problem.b_in_rows = true;
    problem.c_transposed = true;
  }
  ::executorch::runtime::internal::PlatformMemoryAllocator scratch;
  ::executorch::runtime::KernelRuntimeContext context(nullptr, &scratch);
  const auto one = [&problem](int64_t) { return problem; };
  return optimized::gemm(context, 1, one) == ::executorch::runtime::Error::Ok;
}

}  // namespace internal

/// For double, float, Half, BFloat16, complex numbers and integers. 16-bit floats are summed in
/// float. With beta 0, C is not read.
template <typename T, typename Factor>
void gemm(TransposeType transa, TransposeType transb, int64_t m, int64_t n, int64_t k,
          const Factor alpha, const T* a, int64_t lda, const T* b, int64_t ldb, const Factor beta,
          T* c, int64_t ldc) {
  if constexpr (std::is_same_v<T, float>) {
    if (internal::gemm_of_floats(transa, transb, m, n, k, static_cast<float>(alpha), a, lda, b, ldb,
                                 static_cast<float>(beta), c, ldc)) {
      return;
    }
  }
  using Sum = ::executorch::utils::compute_dtype<T>;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      Sum sum = Sum(0);
      for (int64_t l = 0; l < k; ++l) {
        sum += static_cast<Sum>(internal::element(transa, a, lda, i, l)) *
               static_cast<Sum>(internal::element(transb, b, ldb, l, j));
      }
      T& out = c[i + j * ldc];
      const Sum product = static_cast<Sum>(alpha) * sum;
      out = static_cast<T>(
          beta == Factor(0)
              ? product
              : static_cast<Sum>(product + static_cast<Sum>(beta) * static_cast<Sum>(out)));
    }
  }
}

}  // namespace cpublas
}  // namespace executorch
