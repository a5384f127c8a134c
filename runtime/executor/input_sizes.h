// SPDX-License-Identifier: BSD-3-Clause
// The sizes that a method allows its tensor inputs: each dimension within its own range, fixed ones
// exactly, related ones in step (ExecutionPlan.input_dimensions). Plans without that list, which
// other exporters write, bound the number of elements alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch_flatbuffer {
struct ExecutionPlan;
struct Tensor;
}  // namespace executorch_flatbuffer

namespace executorch::ET_RUNTIME_NAMESPACE {

// Whether `sizes`, of the right rank, are among those of dynamic input `input`, which is `tensor`.
// InvalidArgument names the first dimension that is not, and what it may be.
ET_NODISCARD Error check_input_sizes(const executorch_flatbuffer::ExecutionPlan& plan, size_t input,
                                     const executorch_flatbuffer::Tensor& tensor,
                                     executorch::aten::ArrayRef<executorch::aten::SizesType> sizes);

// Whether dimensions that the export found to depend on each other do, in all inputs together:
// `values` are those of the plan. InvalidArgument.
ET_NODISCARD Error check_related_sizes(const executorch_flatbuffer::ExecutionPlan& plan,
                                       Span<const EValue> values);

}  // namespace executorch::ET_RUNTIME_NAMESPACE
