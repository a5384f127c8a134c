// SPDX-License-Identifier: BSD-3-Clause
// What a payload is loaded with: compile specs of the file, then options of the program that runs.
#pragma once

#include <executorch/backends/apple/coreml/runtime/core_ml.h>
#include <executorch/runtime/backend/compile_options.h>

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
};

/// A compute unit that is none is InvalidProgram, in a file and as an option.
extern const runtime::OptionTable<Settings> kOptions;

/// As options and compile specs have it, such as "cpu_and_ne".
const char* name_of(ComputeUnit unit);

}  // namespace executorch::backends::coreml
