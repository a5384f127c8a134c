// SPDX-License-Identifier: BSD-3-Clause
// complex<T> as an element type of tensors.
#pragma once

#include <executorch/runtime/platform/compiler.h>
#include <torch/headeronly/util/complex.h>

namespace executorch {
namespace runtime {
namespace etensor {

using c10::complex;

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch
