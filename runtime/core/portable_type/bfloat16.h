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

// Its bits, where others' code finds them.
namespace internal {
using c10::detail::bits_from_f32;
using c10::detail::f32_from_bits;
using c10::detail::round_to_nearest_even;
}  // namespace internal

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::etensor::BFloat16;
}  // namespace torch::executor
