// SPDX-License-Identifier: BSD-3-Clause
// Elementwise f32 functions of one argument, SIMD and threads.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::kernels::optimized {

enum class Unary {
  kAbs,
  kNeg,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kLog2,
  kLog10,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSin,
  kCos,
  kTan,
  kAcos,
  kAsin,
  kAtan,
  kAtanh,
  kSinh,
  kCosh,
  kLogit,  // of x brought into [a, b]
  kTanh,
  kSigmoid,
  kErf,
  kErfc,
  kGelu,
  kGeluTanh,
  kRelu,
  kHardswish,  // x * clamp(x + 3, 0, 6) / 6
  kClamp,      // to [a, b]
  kLeakyRelu,  // slope a
  kElu,        // x > 0 ? b * x : a * expm1(c * x)
  kCeil,
  kFloor,
  kRound,  // half to even
  kTrunc,
  kSquare,
  kCube,
  kPow,  // x to the power a
};

// The constants of the functions that have some.
struct UnaryConstants {
  float a = 0.0f, b = 0.0f, c = 0.0f;
};

// out[i] = f(in[i]) for dense arrays, which may be the same one. Small arrays stay on the calling
// thread.
void map_unary(Unary f, const UnaryConstants& constants, const float* in, float* out, int64_t n);

// The same on the calling thread.
void map_unary_row(Unary f, const UnaryConstants& constants, const float* in, float* out,
                   int64_t n);

// Functions of integers, which wrap around.
enum class IntegerUnary {
  kAbs,
  kNeg,
  kClamp,  // to [low, high], which are cut to the type's own limits
};

// The same for arrays of an integer type, not in place.
void map_unary_integer(executorch::aten::ScalarType type, IntegerUnary f, int64_t low, int64_t high,
                       const void* in, void* out, int64_t n);

}  // namespace executorch::kernels::optimized
