// SPDX-License-Identifier: BSD-3-Clause
// BFloat16 as an element type of tensors.
#pragma once

#include <executorch/runtime/platform/compiler.h>
#include <torch/headeronly/util/BFloat16.h>

namespace executorch {
namespace runtime {
namespace etensor {

using c10::BFloat16;

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch
