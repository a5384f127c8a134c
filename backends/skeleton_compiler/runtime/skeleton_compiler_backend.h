// SPDX-License-Identifier: BSD-3-Clause
// Registration of SkeletonCompilerBackend. Linking the library registers it from a static
// constructor.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::backends::skeleton_compiler {

/// Registers "SkeletonCompilerBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_skeleton_compiler_backend();

}  // namespace executorch::backends::skeleton_compiler
