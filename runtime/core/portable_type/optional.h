// SPDX-License-Identifier: BSD-3-Clause
// Former names of std::optional.
#pragma once

#include <executorch/runtime/core/historic_namespaces.h>
#include <executorch/runtime/platform/compiler.h>

#include <optional>

namespace executorch {
namespace runtime {
namespace etensor {
using nullopt_t = std::nullopt_t;
ET_DEPRECATED constexpr std::nullopt_t nullopt{std::nullopt};
template <typename T>
using optional = std::optional<T>;
} // namespace etensor
} // namespace runtime
} // namespace executorch
