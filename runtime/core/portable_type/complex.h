// SPDX-License-Identifier: BSD-3-Clause
// complex<T> as an element type of tensors.
#pragma once

#include <c10/util/complex.h>

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {
namespace etensor {

using c10::complex;

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::etensor::complex;
}  // namespace torch::executor
