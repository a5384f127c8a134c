// SPDX-License-Identifier: BSD-3-Clause
// Former spelling of std::string_view.
#pragma once

#include <string_view>

#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {
namespace etensor {

using std::string_view;

}  // namespace etensor
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::etensor::string_view;
}  // namespace torch::executor
