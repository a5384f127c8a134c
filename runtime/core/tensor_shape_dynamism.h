// SPDX-License-Identifier: BSD-3-Clause
// How a tensor's shape may change.
#pragma once

#include <cstdint>

namespace executorch {
namespace runtime {

enum class TensorShapeDynamism : uint8_t {
  STATIC = 0, // never
  DYNAMIC_BOUND = 1, // up to the element count it was created with
  DYNAMIC_UNBOUND = 2, // without limit; not supported by portable tensors
};

} // namespace runtime
} // namespace executorch
