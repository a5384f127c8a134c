// SPDX-License-Identifier: BSD-3-Clause
// What users may ask of the backend when they compile for it: the runtime's side of aot/options.py.
#pragma once

#include <executorch/runtime/backend/compile_options.h>

namespace executorch::backends::skeleton_compiler {

struct RuntimeOptions {
  /// 0: balanced, 1: burst.
  int32_t performance = 0;
};

struct SkeletonCompilerOptions {
  RuntimeOptions runtime;
};

inline constexpr runtime::CompileOption<SkeletonCompilerOptions> kSkeletonCompilerOptions[] = {
    {"devices", runtime::kForTheCompiler},
    {"compiler.max_bytes", runtime::kForTheCompiler},
    {"runtime.performance",
     runtime::read_option<&SkeletonCompilerOptions::runtime, &RuntimeOptions::performance>},
};

}  // namespace executorch::backends::skeleton_compiler
