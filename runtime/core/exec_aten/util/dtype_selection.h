// SPDX-License-Identifier: BSD-3-Clause
// The dtypes that this build's kernels handle: all, or those of the selected operators.
#pragma once

#if defined(EXECUTORCH_SELECTIVE_BUILD_DTYPE)
#include <selected_op_variants.h>
#else
#include <executorch/runtime/core/exec_aten/exec_aten.h>

constexpr bool should_include_dtype(::executorch::aten::ScalarType) {
  return true;
}
#endif
