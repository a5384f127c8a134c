// SPDX-License-Identifier: BSD-3-Clause
// What files and programs tell the runtime half.
#pragma once

#include <executorch/runtime/backend/default_options.h>

#include <string>

namespace executorch::backends::aoti {

#ifdef EXECUTORCH_AOTI_REFUSES_NATIVE_CODE
inline constexpr bool kAllowsNativeCode = false;
#else
inline constexpr bool kAllowsNativeCode = true;
#endif

struct AotiOptions {
  std::string method_name;
  /// Whether machine code that is in a file may be loaded.
  bool allow_native_code = kAllowsNativeCode;
  /// Whether constants and mutable buffers are those of methods that have some of the same name.
  bool shares_constants = false;
};

/// Those that every backend's options have.
inline AotiOptions& common_of(AotiOptions& options) {
  return options;
}

inline constexpr runtime::Option<AotiOptions> kAotiOptions[] = {
    {"method_name", runtime::read_option<&AotiOptions::method_name>},
    {"allow_native_code", runtime::read_option<&AotiOptions::allow_native_code>,
     runtime::OptionSource::kRuntime, runtime::write_option<&AotiOptions::allow_native_code>},
    {"weight_sharing_across_methods", runtime::read_option<&AotiOptions::shares_constants>,
     runtime::OptionSource::kRuntime, runtime::write_option<&AotiOptions::shares_constants>},
    {"march", runtime::kForTheCompiler},
};

inline constexpr runtime::OptionTable<AotiOptions> kAotiTable{"AotiCpuBackend", kAotiOptions};

}  // namespace executorch::backends::aoti
