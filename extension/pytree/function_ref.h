// SPDX-License-Identifier: BSD-3-Clause
// FunctionRef under the name that tree functions use.
#pragma once

#include <executorch/runtime/core/function_ref.h>

namespace executorch::extension::pytree {
using ::executorch::runtime::FunctionRef;
}  // namespace executorch::extension::pytree
