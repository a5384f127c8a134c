// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/tracing.h>

#include <executorch/devtools/etdump/trace.h>

#include <iostream>

namespace executorch::extension {

using etdump::Trace;
using etdump::TraceOptions;
using runtime::Error;
using runtime::EventTracer;

struct Tracing::State {
  TraceOptions options;
  std::unique_ptr<Trace> trace;
};

Tracing::Tracing() : state_(std::make_unique<State>()) {}

Tracing::~Tracing() = default;

bool Tracing::is_built() const {
  return true;
}

void Tracing::add_flags(std::vector<Flag>* flags) {
  TraceOptions& options = state_->options;
  flags->insert(
      flags->end(),
      {{"etdump_path", &options.etdump_path,
        "File for the events of loading and of all executions (ETDump), which the Inspector "
        "reads."},
       {"debug_buffer_path", &options.debug_buffer_path,
        "File for the values that operators gave; needs --etdump_path."},
       {"debug_level", &options.debug_level,
        "Which values: program (outputs of the method) or intermediate (of each operator, too)."},
       {"print_event_table", &options.print_event_table,
        "Prints count and time of the events by name."}});
}

Error Tracing::start(EventTracer** out) {
  auto trace = Trace::create(state_->options);
  if (!trace.ok()) {
    return trace.error();
  }
  state_->trace = std::move(*trace);
  *out = state_->trace->tracer();
  return Error::Ok;
}

Error Tracing::finish() {
  return state_->trace->finish(std::cout);
}

}  // namespace executorch::extension
