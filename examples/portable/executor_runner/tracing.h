// SPDX-License-Identifier: BSD-3-Clause
// The runner's flags about ETDumps: in tracing.cpp, or in no_tracing.cpp for builds without events.
#pragma once

#include <memory>
#include <vector>

#include <executorch/extension/runner_util/flags.h>
#include <executorch/runtime/core/event_tracer.h>

class Tracing {
 public:
  Tracing();
  ~Tracing();

  void add_flags(std::vector<executorch::extension::Flag>* flags);
  /// After the flags are read. *out is null when nothing is to be traced.
  executorch::runtime::Error start(executorch::runtime::EventTracer** out);
  /// Writes what was traced.
  executorch::runtime::Error finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};
