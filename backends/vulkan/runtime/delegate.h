// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method on the device.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/runner.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/ports/ports.h>

#include <memory>
#include <string>

namespace executorch::backends::vulkan {

/// From compile specs of the file, then options of the program that runs.
struct Settings {
  /// One run at the end of loading, so that the first one takes no longer than others.
  bool warms_up = false;
  RunnerOptions runner;
  /// File of the driver's compiled pipelines; empty: none.
  std::string pipeline_cache_path;
};

/// Threads: one at a time; several delegates run at the same time.
class Delegate final {
 public:
  /// The payload is read during the call only.
  static runtime::Result<std::unique_ptr<Delegate>> create(const void* data, size_t size,
                                                           const runtime::NamedDataMap* named_data,
                                                           const Settings& settings);

  /// InvalidArgument for arguments that do not fit; a run that failed leaves outputs undefined.
  ET_NODISCARD runtime::Error execute(runtime::Span<runtime::EValue*> args,
                                      runtime::EventTracer* tracer);

 private:
  Delegate();
  void make_ports();
  ET_NODISCARD runtime::Error fit_outputs(size_t num_args);
  ET_NODISCARD runtime::Error give(size_t index, const runtime::EValue& value);
  ET_NODISCARD runtime::Error plan(bool is_timed);
  ET_NODISCARD runtime::Error take(size_t index, runtime::EValue& value);
  std::string describe(size_t index) const;
  void report(runtime::EventTracer& tracer, uint64_t start) const;

  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Runner> runner_;
  runtime::Ports ports_;  // those of SymInts are not used
  /// Whether sizes or SymInts are other ones than those of the plan.
  bool is_changed_ = true;
  bool has_run_ = false;
};

}  // namespace executorch::backends::vulkan
