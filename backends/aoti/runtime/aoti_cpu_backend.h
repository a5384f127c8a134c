// SPDX-License-Identifier: BSD-3-Clause
// Registration of AotiCpuBackend. Linking the library registers it from a static constructor.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::backends::aoti {

/// Registers "AotiCpuBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_aoti_cpu_backend();

}  // namespace executorch::backends::aoti
