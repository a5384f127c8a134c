// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions of two arguments, comparison and selection, SIMD and threads, over rows
// that broadcasting leaves.
#pragma once

#include <executorch/kernels/optimized/broadcast.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstddef>
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

  kAnd,  // of bits, as the two below: integers and Bool only
  kOr,
  kXor,
};
enum class Compare { kEq, kNe, kLt, kLe, kGt, kGe };
enum class Shift { kLeft, kRight };

void map_binary(Binary f, float alpha, const Broadcast& walk, const float* x, const float* y,
                float* out);
// The same for arrays of Half or BFloat16, each result rounded once. False, with nothing done, for
// functions after kMin.
bool map_binary_narrow(executorch::aten::ScalarType type, Binary f, float alpha,
                       const Broadcast& walk, const uint16_t* x, const uint16_t* y, uint16_t* out);
// One row on the calling thread: x and y are arrays of n, or one value for all.
void map_binary_row(Binary f, float alpha, const float* x, bool x_array, const float* y,
                    bool y_array, float* out, int64_t n);
// Arrays of integers of one dtype, which wrap around, and of Bool: kAdd, kSub, kMul (not of Bool),
// kMax, kMin, and those of bits.
bool has_integer_loop(executorch::aten::ScalarType type, Binary f);
void map_binary_integer(executorch::aten::ScalarType type, Binary f, int64_t alpha,
                        const Broadcast& walk, const void* x, const void* y, void* out);

// Arrays of Float, Half or BFloat16.
void map_compare(executorch::aten::ScalarType type, Compare f, const Broadcast& walk, const void* x,
                 const void* y, bool* out);
// Arrays of integers or Bool.
void map_compare_integer(executorch::aten::ScalarType type, Compare f, const Broadcast& walk,
                         const void* x, const void* y, bool* out);

// x shifted by y bits, the sign following to the right. By a negative number, or by more than 63,
// all bits are shifted out.
void map_shift(Shift f, const Broadcast& walk, const int64_t* x, const int64_t* y, int64_t* out);

// out = condition ? x : y, of elements of 1, 2, 4 or 8 bytes.
void map_where(size_t element_size, const Broadcast& walk, const bool* condition, const void* x,
               const void* y, void* out);

}  // namespace executorch::kernels::optimized
