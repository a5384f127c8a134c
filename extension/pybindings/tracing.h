// SPDX-License-Identifier: BSD-3-Clause
// Tracing: the events of a program that was loaded with enable_etdump.
#pragma once

#include <memory>
#include <string>

#include <executorch/runtime/core/event_tracer.h>

namespace executorch::extension::pybindings {

/// For one thread at a time.
class Tracing {
 public:
  /// `debug_buffer_size`: bytes for the values that operators give; 0: they are not kept. Throws
  /// RuntimeFailure when this build has no events.
  static std::shared_ptr<Tracing> create(size_t debug_buffer_size);

  virtual ~Tracing() = default;

  bool in_use = false;  // guarded by the interpreter lock

  virtual runtime::EventTracer* tracer() = 0;

  /// Writes the events since the last call, and the values when there are any and
  /// `debug_buffer_path` is not null; no file without events. Throws RuntimeFailure for a file that
  /// cannot be written.
  virtual void write(const std::string& etdump_path, const std::string* debug_buffer_path) = 0;
};

}  // namespace executorch::extension::pybindings
