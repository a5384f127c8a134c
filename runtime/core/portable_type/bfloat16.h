// SPDX-License-Identifier: BSD-3-Clause
// BFloat16 as an element type of tensors.
#pragma once

#include <c10/util/BFloat16-math.h>
#include <torch/headeronly/util/BFloat16.h>

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {
namespace etensor {

using c10::BFloat16;

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::etensor::BFloat16;
}  // namespace torch::executor
