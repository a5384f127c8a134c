// SPDX-License-Identifier: BSD-3-Clause
// ATen mode: operators that PyTorch computes, as kernels of the runtime. Generated code names them
// (codegen/gen.py --use-aten-lib).
#pragma once

#include <cstddef>
#include <optional>

#include <ATen/core/dispatch/Dispatcher.h>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::aten_mode {

/// "aten::add" and "out", or an empty overload.
struct PyTorchOperator {
  const char* name;
  const char* overload;
};

/// The operator, if the PyTorch that the program runs with has it.
std::optional<c10::OperatorHandle> find(const PyTorchOperator& op);

/// Calls it without autograd on the values of a program: arguments in the order of the schema, then
/// what it returns, which PyTorch has written to the outputs among the arguments. Fails the
/// context, with PyTorch's message in the log: OperatorMissing, InvalidArgument for what PyTorch
/// refuses, MemoryAllocationFailed, else Internal.
void call(const std::optional<c10::OperatorHandle>& found, const PyTorchOperator& op,
          executorch::runtime::KernelRuntimeContext& context,
          executorch::runtime::Span<executorch::runtime::EValue*> args);

/// The kernel of one operator of a list; looked up once, at its first call.
template <const auto& list, size_t index>
void pytorch(executorch::runtime::KernelRuntimeContext& context,
             executorch::runtime::Span<executorch::runtime::EValue*> args) {
  static const std::optional<c10::OperatorHandle> found = find(list[index]);
  call(found, list[index], context, args);
}

}  // namespace executorch::kernels::aten_mode
