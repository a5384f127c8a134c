// SPDX-License-Identifier: BSD-3-Clause
// One step over all elements of a tensor: unary.glsl's codes and parameters, for several families.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/call.h>

namespace executorch::backends::vulkan {

enum UnaryCode : int32_t {
  kAbs = 0,
  kCos,
  kExp,
  kNeg,
  kSigmoid,
  kSin,
  kSqrt,
  kRsqrt,
  kTanh,
  kRound,
  kRelu,
  kHardswish,
  kHardsigmoid,
  kClamp,
  kGelu,
  kGeluTanh,
  kHardshrink,
  kLeakyRelu,
  kTan,
  kPowScalar,
  kEqScalar,
  kNeScalar,
  kLtScalar,
  kLeScalar,
  kGtScalar,
  kGeScalar,
  kLog,
  kIdentity,
  kBoolNot,
  kLogicalNot,
  kToBool,
  kQuantize,
  kDequantize,
  kFill,
  kArange,
  kRequantizeRelu,
  kRequantize,
};

struct UnaryParams {
  float p = 0;
  float q = 0;
  int64_t i0 = 0;
  int64_t i1 = 0;
  int64_t zero_point = 0;
};

/// A float that is infinite where the number is beyond floats.
float to_float(double number);

/// out = f(in), both dense and of as many elements.
ET_NODISCARD runtime::Error apply_unary(Call& call, int32_t code, const Tensor& in,
                                        const Tensor& out, const UnaryParams& params = {});

/// out[...] = f(in[...]) over an iteration whose operands are `in` and `out`.
ET_NODISCARD runtime::Error apply_unary(Call& call, int32_t code, const Tensor& in,
                                        const Tensor& out, Iteration iteration,
                                        const UnaryParams& params = {});

/// The first argument's channels as pixels of its output, r x r of each, with a code of unary.glsl.
ET_NODISCARD runtime::Error shuffle_pixels(Call& call, int64_t r, int32_t code,
                                           const UnaryParams& params);

/// Copies all elements, or makes `out` a view where it may be one. Both have as many.
ET_NODISCARD runtime::Error copy_or_alias(Call& call, const Tensor& in, Tensor& out);

}  // namespace executorch::backends::vulkan
