// SPDX-License-Identifier: BSD-3-Clause
// How far a tensor's shape may change after it was made.
#pragma once

#include <cstdint>

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

enum class TensorShapeDynamism : uint8_t {
  /// Never.
  STATIC = 0,
  /// To anything of the same rank whose elements fit the memory planned for it.
  DYNAMIC_BOUND = 1,
  /// To anything of the same rank; the memory is found when the size is known.
  DYNAMIC_UNBOUND = 2,
};

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::TensorShapeDynamism;
}  // namespace torch::executor
