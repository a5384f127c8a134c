// SPDX-License-Identifier: BSD-3-Clause
// A runner's flags about ETDumps. The library has none; a program with events links
// examples/portable/executor_runner/tracing.cpp, which comes before what is in the library.
#pragma once

#include <memory>
#include <vector>

#include <executorch/extension/runner_util/flags.h>
#include <executorch/runtime/core/event_tracer.h>

namespace executorch::extension {

class Tracing {
 public:
  Tracing();
  ~Tracing();

  /// Whether this program records anything.
  bool is_built() const;
  void add_flags(std::vector<Flag>* flags);
  /// After the flags are read. *out is null when nothing is to be traced.
  runtime::Error start(runtime::EventTracer** out);
  /// Writes what was traced.
  runtime::Error finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace executorch::extension
