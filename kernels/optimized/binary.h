// SPDX-License-Identifier: BSD-3-Clause
// Elementwise f32 functions of two arguments and selection, SIMD and threads, over rows that
// broadcasting leaves.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstdint>

namespace executorch::kernels::optimized {

enum class Binary {
  // These six are one or two instructions: see map_binary_narrow().
  kAdd,  // x + alpha * y
  kSub,  // x - alpha * y
  kMul,
  kDiv,
  kMax,
  kMin,

  kAtan2,
  kFmod,       // with the sign of x
  kRemainder,  // with the sign of y
  kFloorDiv,   // from the exact remainder, as Python's //
  kTruncDiv,
  kGlu,  // x * sigmoid(y)
  kPow,
};
enum class Compare { kEq, kNe, kLt, kLe, kGt, kGe };
enum class Shift { kLeft, kRight };

// How up to three operands that broadcast to a dense output are walked: `rows` rows of `row` output
// elements each. Within a row an operand advances by inner[i] (0 or 1) elements.
constexpr int kMaxOperands = 3;
constexpr int kMaxOuterDims = 16;
struct Broadcast {
  int64_t row = 1;
  int64_t rows = 1;
  int outer_dims = 0;
  int64_t outer_sizes[kMaxOuterDims] = {};
  int64_t outer_strides[kMaxOperands][kMaxOuterDims] = {};
  int64_t inner[kMaxOperands] = {};
};

// Rows of n elements of two operands, each an array or one value for a row; `out` is dense.
template <typename T>
struct BinaryRows {
  const T* x;
  bool x_array;
  int64_t x_step;  // from row to row, in elements
  const T* y;
  bool y_array;
  int64_t y_step;
  T* out;
  int64_t n;
  int64_t count;
};

// Plans the walk: sizes of the output, and for each operand the stride of every dimension (0 where
// it broadcasts). Dimensions that are contiguous in all operands become one. num_dims <=
// kMaxOuterDims.
Broadcast plan_broadcast(int num_dims, const int64_t* sizes, int num_operands,
                         const int64_t (*strides)[kMaxOuterDims]);

void map_binary(Binary f, float alpha, const Broadcast& walk, const float* x, const float* y,
                float* out);
// The same for arrays of Half or BFloat16, each result rounded once. False, with nothing done, for
// functions after kMin.
bool map_binary_narrow(executorch::aten::ScalarType type, Binary f, float alpha,
                       const Broadcast& walk, const uint16_t* x, const uint16_t* y, uint16_t* out);
// One row on the calling thread: x and y are arrays of n, or one value for all.
void map_binary_row(Binary f, float alpha, const float* x, bool x_array, const float* y,
                    bool y_array, float* out, int64_t n);
void map_compare(Compare f, const Broadcast& walk, const float* x, const float* y, bool* out);

// x shifted by y bits, the sign following to the right. By a negative number, or by more than 63,
// all bits are shifted out.
void map_shift(Shift f, const Broadcast& walk, const int64_t* x, const int64_t* y, int64_t* out);

// out = condition ? x : y
void map_where(const Broadcast& walk, const bool* condition, const float* x, const float* y,
               float* out);

}  // namespace executorch::kernels::optimized
