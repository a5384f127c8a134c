// SPDX-License-Identifier: BSD-3-Clause
// Former name of std::string_view.
#pragma once

#include <executorch/runtime/core/historic_namespaces.h>

#include <string_view>

namespace executorch {
namespace runtime {
namespace etensor {
using string_view = std::string_view;
} // namespace etensor
} // namespace runtime
} // namespace executorch
