// SPDX-License-Identifier: BSD-3-Clause
// What a payload is loaded with: compile specs of the file, then options of the program that runs.
#pragma once

#include <executorch/backends/apple/coreml/runtime/core_ml.h>
#include <executorch/runtime/backend/interface.h>

#include <string>

namespace executorch::backends::coreml {

/// Options, given when a method is loaded or by set_option(): they win over compile specs.
constexpr char kComputeUnitKey[] = "compute_unit";
constexpr char kCacheFolderKey[] = "cache_dir";
constexpr char kNewCacheKey[] = "_use_new_cache";  // there is one cache: without effect

struct Settings {
  ComputeUnit compute_unit = ComputeUnit::kAll;
  /// The specification that the model was made for; 0: nothing was said.
  int specification = 0;
  std::string cache_folder;

  /// Takes what a file says. InvalidProgram for values that are none;
  /// DelegateInvalidCompatibility for keys of a newer exporter.
  ET_NODISCARD runtime::Error add(runtime::ArrayRef<runtime::CompileSpec> specs);
  /// InvalidArgument for keys that are not above and for other types; InvalidProgram for a compute
  /// unit that is none.
  ET_NODISCARD runtime::Error add(runtime::Span<const runtime::BackendOption> options);
};

/// As options and compile specs have it, such as "cpu_and_ne".
const char* name_of(ComputeUnit unit);

}  // namespace executorch::backends::coreml
