// SPDX-License-Identifier: BSD-3-Clause
// Registration of the demo backends. Linking the library registers them from a static constructor;
// the call is for programs that want no such thing to be needed.
#pragma once

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/error.h>

namespace executorch::backends::demo {

/// The objects behind the two names; they live as long as the process and have no state.
runtime::BackendInterface& compiler_demo_backend();
runtime::BackendInterface& executor_backend();

/// Registers "BackendWithCompilerDemo" and "ExecutorBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_demo_backends();

}  // namespace executorch::backends::demo
