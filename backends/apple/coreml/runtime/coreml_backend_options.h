// SPDX-License-Identifier: BSD-3-Clause
// Options to load programs with:
//
//   LoadOptionsBuilder coreml;
//   coreml.setComputeUnit(LoadOptionsBuilder::ComputeUnit::CPU_AND_NE);
//   LoadBackendOptionsMap options;
//   options.set_options(coreml);
//   module.load(options);
#pragma once

#include <executorch/runtime/backend/options.h>

namespace executorch::backends::coreml {

class LoadOptionsBuilder final {
 public:
  enum class ComputeUnit { CPU_ONLY, CPU_AND_GPU, CPU_AND_NE, ALL };

  /// On which processors models run; wins over the compile spec of the program.
  LoadOptionsBuilder& setComputeUnit(ComputeUnit unit) {
    constexpr const char* kNames[] = {"cpu_only", "cpu_and_gpu", "cpu_and_ne", "all"};
    return set("compute_unit", kNames[static_cast<size_t>(unit)]);
  }

  /// Where compiled models are kept: a path of at most 255 bytes. A longer one is not taken.
  LoadOptionsBuilder& setCacheDirectory(const char* path) { return set("cache_dir", path); }

  /// Without effect: there is one cache.
  LoadOptionsBuilder& setUseNewCache(bool value) {
    static_cast<void>(options_.set_option("_use_new_cache", value));
    return *this;
  }

  static constexpr const char* backend_id() { return "CoreMLBackend"; }
  /// Refers to the object.
  runtime::Span<runtime::BackendOption> view() { return options_.view(); }

 private:
  template <size_t N>
  LoadOptionsBuilder& set(const char (&key)[N], const char* value) {
    static_cast<void>(options_.set_option(key, value));  // says what is wrong in the log
    return *this;
  }
  runtime::BackendOptions<8> options_;
};

}  // namespace executorch::backends::coreml
