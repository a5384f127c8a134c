// SPDX-License-Identifier: BSD-3-Clause
// Trace: what a command-line runner does about ETDumps, as its flags ask for.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include <executorch/devtools/etdump/data_sinks/file_data_sink.h>
#include <executorch/devtools/etdump/etdump_flatcc.h>

namespace executorch::etdump {

struct TraceOptions {
  std::string etdump_path;                   // empty: no file
  std::string debug_buffer_path;             // of the values; empty: none are kept
  std::string debug_level = "intermediate";  // or "program": which values
  bool print_event_table = false;
};

/// Values go straight to their file, so that no buffer limits them.
class Trace {
 public:
  /// Opens the files. InvalidArgument for options that make no sense, NotSupported when this build
  /// has no events, AccessFailed for a file that cannot be written.
  static runtime::Result<std::unique_ptr<Trace>> create(const TraceOptions& options);

  /// For Program::load_method(); null when the options ask for nothing. Lives as long as the Trace.
  runtime::EventTracer* tracer() { return gen_.get(); }

  /// Writes and prints what was asked for, after the last execution.
  runtime::Error finish(std::ostream& out);

 private:
  explicit Trace(const TraceOptions& options) : options_(options) {}

  TraceOptions options_;
  std::unique_ptr<ETDumpGen> gen_;
  std::optional<FileDataSink> etdump_;
  std::optional<FileDataSink> values_;
};

}  // namespace executorch::etdump
