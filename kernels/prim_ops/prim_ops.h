// SPDX-License-Identifier: BSD-3-Clause
// The operators that every program may use whatever kernel library is linked: arithmetic on
// symbolic sizes, and the data movement of loops and views.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {

// Registers all of them; calling it again has no effect. Programs that link target `executorch`
// need not call it.
Error register_prim_ops();

}  // namespace executorch::runtime

namespace torch::executor::function {

// All operators here check the number and the kinds of their arguments, and fail the context with
//   InvalidProgram   wrong number of arguments
//   InvalidType      an argument, or the value in the place of the result, is of a wrong kind
//   InvalidArgument  values without a result: division of integers by zero, rounding of NaN, sizes
//   that do not fit

// copy_to, copy_from, index: copies copy_from to slot `index` of the first dimension of copy_to,
// which is resized to index + 1 slots and keeps its memory.
void et_copy_index(executorch::runtime::KernelRuntimeContext& context,
                   executorch::runtime::Span<executorch::runtime::EValue*> args);

// self, size, out: out becomes a view of the data of self with the given sizes, one of which may be
// -1.
void et_view(executorch::runtime::KernelRuntimeContext& context,
             executorch::runtime::Span<executorch::runtime::EValue*> args);

}  // namespace torch::executor::function
