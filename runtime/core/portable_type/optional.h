// SPDX-License-Identifier: BSD-3-Clause
// Former spellings of std::optional.
#pragma once

#include <optional>

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {
namespace etensor {

using std::nullopt;
using std::nullopt_t;
using std::optional;

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::etensor::nullopt;
using ::executorch::runtime::etensor::nullopt_t;
using ::executorch::runtime::etensor::optional;
}  // namespace torch::executor
