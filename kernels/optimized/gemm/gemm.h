// SPDX-License-Identifier: BSD-3-Clause
// Matrix multiply, cache-blocked and threaded: what mm, bmm, addmm, linear and convolution are made
// of. f32 operands; bfloat16 and int8 operands where the processor has their dot products.
#pragma once

#include <cstdint>
#include <limits>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/function_ref.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// A piece of the right operand: rows [k_begin, k_end), columns [n_begin, n_end) with n_end -
// n_begin <= width. It is written as panel[(k - k_begin) * width + (n - n_begin)]; columns from
// n_end up to width are set to 0.
struct GemmPanel {
  int64_t k_begin, k_end;
  int64_t n_begin, n_end;
  int64_t width;
};

struct Gemm;

// What a caller does with pieces of a result while they are in a core's own cache.
class Epilogue {
 public:
  // Rows [m_begin, m_end) and columns [n_begin, n_end), in the result or at `data`, where rows are
  // `stride` apart.
  struct Piece {
    int64_t m_begin, m_end;
    int64_t n_begin, n_end;
    float* data = nullptr;
    int64_t stride = 0;
  };

  virtual ~Epilogue() = default;
  // A piece is whole. Called once for each part of the result, from several threads.
  virtual void finish(const Piece& piece) const = 0;
};

// Writes one panel of the right operand of `g`, whatever its layout and dtype are. Called from
// several threads.
using GemmPackFn = void (*)(const Gemm& g, const GemmPanel& panel, float* out);

// Pack functions for dense f32 matrices.
void pack_rows(const Gemm& g, const GemmPanel& panel, float* out);  // (k, n) is at b[k * ldb + n]
void pack_columns(const Gemm& g, const GemmPanel& panel,
                  float* out);  // (k, n) is at b[n * ldb + k]

// C = A * B (+ bias, or + what C holds). The left operand is read in place, so it should be the one
// that is reused: weights, or the larger matrix. The right operand goes through `pack` into panels.
// To swap the operands, compute the transposed result and set c_transposed.
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // m rows of k contiguous values
  int64_t lda = 0;           // values between rows
  GemmPackFn pack = nullptr;
  const void* b = nullptr;  // these three are read by `pack` alone
  int64_t ldb = 0;
  const void* layout = nullptr;
  bool b_in_rows = false;         // B is f32 in pack_rows' layout: it may be read without packing
  const float* packed = nullptr;  // all of B, by pack_matrix(): then none of the above is read
  float* c = nullptr;  // (i, j) is at c[i * ldc + j], or at c[j * ldc + i] when c_transposed
  int64_t ldc = 0;
  bool c_transposed = false;
  bool accumulate = false;          // add to what C holds; the biases are then left alone
  const float* row_bias = nullptr;  // m values, or none
  const float* col_bias = nullptr;  // n values, or none
  // These three not with c_transposed. What C becomes is kept within [min, max]; NaN stays NaN.
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  const Epilogue* epilogue = nullptr;  // or none
  int64_t first_row = 0;               // in pieces, what row 0 is
};

// Computes `batch` matmuls of equal shape on the thread pool: problem(i) describes the i-th one
// and may be called from any thread, several times. Scratch memory (at most 400 KB a thread) comes
// from ctx. The outputs must not overlap. MemoryAllocationFailed when ctx cannot give it; nothing
// has been written then.
[[nodiscard]] runtime::Error gemm(runtime::KernelRuntimeContext& ctx, int64_t batch,
                                  runtime::FunctionRef<Gemm(int64_t)> problem);

// The right operand of many multiplications, packed once: `g.packed` of later ones that have its n,
// k and values. For this process alone, as the layout is that of the processor's vectors.
size_t num_packed(int64_t n, int64_t k);      // floats
void pack_matrix(const Gemm& g, float* out);  // of g's n, k, pack and what that reads; threaded
// The same by panels, from any threads: `pack` is asked for all columns of one at a time.
int64_t num_panels(int64_t n);
GemmPanel panel_of(const Gemm& g, int64_t index);  // all of its rows
void pack_panel(const Gemm& g, int64_t index, float* out);

// gemm() of one problem whose right operand is packed, on the calling thread alone.
void multiply_packed(const Gemm& g);

// Operands of 16 or 8 bits, sums of 32: as Gemm, with both operands dense.
enum class NarrowType {
  kBFloat16,  // sums in f32, rounded once to a bfloat16 C
  kInt8,      // sums in int32 (modulo 2^32), which C holds
};

struct NarrowGemm;

// Writes a piece of the right operand of `g`, of `width` values a row, or a column when
// b_in_columns: value (k, n) to out[(k - k_begin) * width + n - n_begin], or to
// out[(n - n_begin) * width + k - k_begin]. What lies beyond the piece is left alone. Called from
// several threads.
using NarrowUnfoldFn = void (*)(const NarrowGemm& g, const GemmPanel& piece, uint16_t* out);

struct NarrowGemm {
  NarrowType type = NarrowType::kBFloat16;
  int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;  // m rows of k contiguous values
  int64_t lda = 0;          // values between rows
  const void* b = nullptr;  // (k, n) is at b[k * ldb + n], or at b[n * ldb + k] when b_in_columns
  int64_t ldb = 0;
  bool b_in_columns = false;
  NarrowUnfoldFn unfold = nullptr;  // kBFloat16: makes B, instead of reading it at b
  const void* layout = nullptr;     // read by `unfold` alone
  void* c = nullptr;  // (i, j) is at c[i * ldc + j], or at c[j * ldc + i] when c_transposed
  int64_t ldc = 0;
  bool accumulate = false;  // add to what C holds; the biases are then left alone
  // kBFloat16 only:
  bool c_transposed = false;
  bool c_is_f32 = false;            // C holds the sums, not rounded
  const float* row_bias = nullptr;  // m values, or none
  const float* col_bias = nullptr;  // n values, or none
};

// True when the processor multiplies bfloat16 itself. Without, use gemm() on widened operands.
bool has_bfloat16_matmul();

// As gemm(), on AMX tiles where the processor has them and the matmul is large enough; at most 700
// KB of scratch memory a thread. kBFloat16 only if has_bfloat16_matmul().
// The processor's bfloat16 multiplication takes subnormal operands for 0.
[[nodiscard]] runtime::Error gemm_narrow(runtime::KernelRuntimeContext& ctx, int64_t batch,
                                         runtime::FunctionRef<NarrowGemm(int64_t)> problem);

// out[i * out_stride + r] = dot(rows[r], x[i]) (+ bias[r]) for r < num_rows, i < num_x <=
// kMaxDotVectors: matrix times a few vectors, bound by reading the rows once. Threaded; needs no
// scratch memory.
constexpr int64_t kMaxDotVectors = 4;
constexpr int64_t kRowsOfDots = 4;  // rows that are read side by side
struct DotRows {
  int64_t num_rows = 0, num_x = 0, k = 0;
  const void* rows = nullptr;
  executorch::aten::ScalarType row_type = executorch::aten::ScalarType::Float;  // or a narrow one
  int64_t row_stride = 0;
  const float* x = nullptr;
  int64_t x_stride = 0;
  const float* bias = nullptr;
  float* out = nullptr;
  int64_t out_stride = 0;
};
void dot_rows(const DotRows& problem);

}  // namespace executorch::kernels::optimized
