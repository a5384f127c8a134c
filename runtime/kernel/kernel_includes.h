// SPDX-License-Identifier: BSD-3-Clause
// What a file of kernels includes.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

// Operator names as template arguments: a structural type where C++ has them (C++20), a character
// array elsewhere.
#if defined(__cpp_nontype_template_args) && __cpp_nontype_template_args >= 201911L
#define ET_USE_STRUCTURAL_OPERATOR_NAME 1
#else
#define ET_USE_STRUCTURAL_OPERATOR_NAME 0
#endif

namespace executorch {
namespace runtime {

/// A string constant that may be a template argument in C++20.
template <size_t N>
struct OperatorName {
  constexpr OperatorName(const char (&name)[N]) {
    for (size_t i = 0; i < N; ++i) {
      value[i] = name[i];
    }
  }
  constexpr operator const char*() const { return value; }

  char value[N] = {};
};

}  // namespace runtime
}  // namespace executorch

/// ET_OPERATOR_NAME_TYPE is the type of such a template parameter; ET_DEFINE_OPERATOR_NAME defines
/// an argument for it.
#if ET_USE_STRUCTURAL_OPERATOR_NAME
#define ET_OPERATOR_NAME_TYPE ::executorch::runtime::OperatorName
#define ET_DEFINE_OPERATOR_NAME(variable, name) \
  static constexpr ::executorch::runtime::OperatorName variable(name)
#else
#define ET_OPERATOR_NAME_TYPE const char*
#define ET_DEFINE_OPERATOR_NAME(variable, name) static constexpr const char variable[] = name
#endif
