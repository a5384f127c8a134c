// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

using ::executorch::aten::Tensor;

// Copies `in`, of any dtype, to `out` of the same dtype and dim order: where a model is cut on
// purpose, so that no delegate takes both sides.
Tensor& fallback_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out);

}  // namespace native
}  // namespace executor
}  // namespace torch
