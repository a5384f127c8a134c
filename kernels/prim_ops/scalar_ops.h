// SPDX-License-Identifier: BSD-3-Clause
// Operators on symbolic values. Internal: programs call them through the registry.
#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::prim_ops {

using runtime::EValue;
using runtime::KernelRuntimeContext;
using runtime::Span;
using Args = Span<EValue*>;

enum class Binary {
  kAdd,
  kSub,
  kMul,
  kFloorDiv,
  kTrueDiv,
  kEq,
  kGt,
  kLt,
  kGe,
  kLe,
  // On two Ints only.
  kMax,
  kMin,
  kTruncDiv,
  kRemainder,
};
enum class Unary { kNeg, kToDouble, kToInt, kNot, kCeil, kTrunc, kRound };

// a, b, result.
void run_binary(KernelRuntimeContext& context, Args args, Binary op);
// a, result.
void run_unary(KernelRuntimeContext& context, Args args, Unary op);

// One kernel function per operator; the work is shared.
template <Binary op>
void binary(KernelRuntimeContext& context, Args args) {
  run_binary(context, args, op);
}
template <Unary op>
void unary(KernelRuntimeContext& context, Args args) {
  run_unary(context, args, op);
}

// condition, value if true, value if false, result.
void sym_ite(KernelRuntimeContext& context, Args args);
// tensor, dimension, result.
void sym_size(KernelRuntimeContext& context, Args args);
// tensor, result.
void sym_numel(KernelRuntimeContext& context, Args args);
// tensor of one element, result.
void local_scalar_dense(KernelRuntimeContext& context, Args args);

// Whether there are `expected` arguments; fails the context if not.
bool check_count(KernelRuntimeContext& context, Args args, size_t expected);

}  // namespace executorch::kernels::prim_ops
