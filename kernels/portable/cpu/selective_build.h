// SPDX-License-Identifier: BSD-3-Clause
// In builds for the dtypes of one model, ET_SWITCH_* ends the program at a dtype that was left out.
#pragma once

#include <executorch/runtime/core/exec_aten/util/dtype_selection.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

/// Whether this build has `dtype`; a selection of ours serves all operators.
constexpr bool should_include_kernel_dtype([[maybe_unused]] const char* op,
                                           ::executorch::aten::ScalarType dtype) {
  return should_include_dtype(dtype);
}

#undef ET_INTERNAL_CHECK_SELECTIVE_BUILD
#define ET_INTERNAL_CHECK_SELECTIVE_BUILD(enum_type)                       \
  ET_CHECK_MSG(should_include_kernel_dtype(et_switch_name, enum_type),     \
               "%s was built without dtype %s: select it", et_switch_name, \
               ::executorch::runtime::toString(enum_type))
