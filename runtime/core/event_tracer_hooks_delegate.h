// SPDX-License-Identifier: BSD-3-Clause
// What delegates call to report events inside them. A null tracer is fine; without
// ET_EVENT_TRACER_ENABLED all of it compiles to nothing.
//
// An event is named either by a string (then the number is kUnsetDelegateDebugIntId) or by a number
// (then `name` is null).
#pragma once

#include <cstddef>

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/event_tracer_hooks.h>

namespace executorch {
namespace runtime {

inline EventTracerEntry event_tracer_start_profiling_delegate(EventTracer* event_tracer,
                                                              const char* name,
                                                              DebugHandle delegate_debug_id) {
  return internal::is_tracing_all(event_tracer)
             ? event_tracer->start_profiling_delegate(
                   name, static_cast<DelegateDebugIntId>(delegate_debug_id))
             : EventTracerEntry{};
}

inline void event_tracer_end_profiling_delegate(EventTracer* event_tracer,
                                                EventTracerEntry event_tracer_entry,
                                                const void* metadata = nullptr,
                                                size_t metadata_len = 0) {
  if (internal::is_tracing_all(event_tracer)) {
    event_tracer->end_profiling_delegate(event_tracer_entry, metadata, metadata_len);
  }
}

/// An event whose times the delegate measured itself.
inline void event_tracer_log_profiling_delegate(EventTracer* event_tracer, const char* name,
                                                DebugHandle delegate_debug_id,
                                                et_timestamp_t start_time, et_timestamp_t end_time,
                                                const void* metadata = nullptr,
                                                size_t metadata_len = 0) {
  if (internal::is_tracing_all(event_tracer)) {
    event_tracer->log_profiling_delegate(name, static_cast<DelegateDebugIntId>(delegate_debug_id),
                                         start_time, end_time, metadata, metadata_len);
  }
}

/// An intermediate value, of type Tensor, ArrayRef<Tensor>, int, bool or double.
template <typename T>
inline void event_tracer_log_output_delegate(EventTracer* event_tracer, const char* name,
                                             DebugHandle delegate_debug_id, const T& output) {
  if (internal::is_tracing(event_tracer) && event_tracer->intermediate_outputs_logging_status()) {
    (void)event_tracer->log_intermediate_output_delegate(
        name, static_cast<DelegateDebugIntId>(delegate_debug_id), output);
  }
}

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::event_tracer_end_profiling_delegate;
using ::executorch::runtime::event_tracer_log_output_delegate;
using ::executorch::runtime::event_tracer_log_profiling_delegate;
using ::executorch::runtime::event_tracer_start_profiling_delegate;
}  // namespace torch::executor
