// SPDX-License-Identifier: BSD-3-Clause
// Registration of EnnBackend. Linking the library registers it from a static constructor.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::backends::enn {

/// Registers "EnnBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_enn_backend();

}  // namespace executorch::backends::enn
