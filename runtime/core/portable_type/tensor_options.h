// SPDX-License-Identifier: BSD-3-Clause
// Options of operators that describe tensors.
#pragma once

#include <executorch/runtime/core/historic_namespaces.h>

#include <cstdint>

namespace executorch {
namespace runtime {
namespace etensor {

enum class Layout : int8_t { Strided = 0 };

enum class MemoryFormat : int8_t {
  Contiguous = 0,
  Preserve = 1,
};

} // namespace etensor
} // namespace runtime
} // namespace executorch
