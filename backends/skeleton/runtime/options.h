// SPDX-License-Identifier: BSD-3-Clause
// What users may ask of the backend when they compile for it: the runtime's side of aot/options.py.
#pragma once

#include <executorch/runtime/backend/compile_options.h>

namespace executorch::backends::skeleton {

struct SkeletonOptions {
  /// Whether a run whose results are not all finite is an error.
  bool check_finite = false;
};

inline constexpr runtime::CompileOption<SkeletonOptions> kSkeletonOptions[] = {
    {"check_finite", runtime::read_option<&SkeletonOptions::check_finite>},
};

}  // namespace executorch::backends::skeleton
