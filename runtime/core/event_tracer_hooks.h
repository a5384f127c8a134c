// SPDX-License-Identifier: BSD-3-Clause
// What the runtime calls to report events. A null tracer is fine everywhere; without
// ET_EVENT_TRACER_ENABLED all of it compiles to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {
namespace internal {

#ifdef ET_EVENT_TRACER_ENABLED
inline constexpr bool kIsEventTracerCompiledIn = true;
#else
inline constexpr bool kIsEventTracerCompiledIn = false;
#endif

inline bool is_tracing(EventTracer* event_tracer) {
  return kIsEventTracerCompiledIn && event_tracer != nullptr;
}

inline bool is_tracing_all(EventTracer* event_tracer) {
  return is_tracing(event_tracer) && event_tracer->event_tracer_profiling_level() >
                                         EventTracerProfilingLevel::kProfileMethodOnly;
}

/// An event from construction to destruction, when `is_on`.
class EventTracerProfileScope {
 public:
  EventTracerProfileScope(bool is_on, EventTracer* event_tracer, const char* name)
      : event_tracer_(is_on ? event_tracer : nullptr) {
    if (is_tracing(event_tracer_)) {
      event_entry_ = event_tracer_->start_profiling(name);
    }
  }
  ~EventTracerProfileScope() {
    if (is_tracing(event_tracer_)) {
      event_tracer_->end_profiling(event_entry_);
    }
  }
  EventTracerProfileScope(const EventTracerProfileScope&) = delete;
  EventTracerProfileScope& operator=(const EventTracerProfileScope&) = delete;

 private:
  EventTracer* event_tracer_;
  EventTracerEntry event_entry_{};
};

/// A whole method: recorded at every profiling level.
class EventTracerProfileMethodScope final : public EventTracerProfileScope {
 public:
  EventTracerProfileMethodScope(EventTracer* event_tracer, const char* name)
      : EventTracerProfileScope(is_tracing(event_tracer), event_tracer, name) {}
};

/// One operator.
class EventTracerProfileOpScope final : public EventTracerProfileScope {
 public:
  EventTracerProfileOpScope(EventTracer* event_tracer, const char* name)
      : EventTracerProfileScope(is_tracing_all(event_tracer), event_tracer, name) {}
};

/// Tells the tracer which instruction runs, from construction to destruction.
class EventTracerProfileInstructionScope final {
 public:
  EventTracerProfileInstructionScope(EventTracer* event_tracer, ChainID chain_idx,
                                     DebugHandle debug_handle)
      : event_tracer_(event_tracer) {
    if (is_tracing_all(event_tracer_)) {
      event_tracer_->set_chain_debug_handle(chain_idx, debug_handle);
    }
  }
  ~EventTracerProfileInstructionScope() {
    if (is_tracing_all(event_tracer_)) {
      event_tracer_->set_chain_debug_handle(kUnsetChainId, kUnsetDebugHandle);
    }
  }
  EventTracerProfileInstructionScope(const EventTracerProfileInstructionScope&) = delete;
  EventTracerProfileInstructionScope& operator=(const EventTracerProfileInstructionScope&) = delete;

 private:
  EventTracer* event_tracer_;
};

inline void event_tracer_create_event_block(EventTracer* event_tracer, const char* name) {
  if (is_tracing(event_tracer)) {
    event_tracer->create_event_block(name);
  }
}

inline EventTracerEntry event_tracer_begin_profiling_event(EventTracer* event_tracer,
                                                           const char* name) {
  return is_tracing_all(event_tracer) ? event_tracer->start_profiling(name) : EventTracerEntry{};
}

inline void event_tracer_end_profiling_event(EventTracer* event_tracer, EventTracerEntry event) {
  if (is_tracing_all(event_tracer)) {
    event_tracer->end_profiling(event);
  }
}

inline AllocatorID event_tracer_track_allocator(EventTracer* event_tracer, const char* name) {
  return is_tracing(event_tracer) ? event_tracer->track_allocator(name) : 0;
}

inline void event_tracer_track_allocation(EventTracer* event_tracer, AllocatorID id, size_t size) {
  if (is_tracing(event_tracer)) {
    event_tracer->track_allocation(id, size);
  }
}

/// Records a value that an instruction wrote, when intermediate outputs are asked for. What cannot
/// be recorded is logged by the tracer and does not stop the program.
inline void event_tracer_log_evalue(EventTracer* event_tracer, const EValue& evalue) {
  if (is_tracing(event_tracer) && event_tracer->intermediate_outputs_logging_status()) {
    (void)event_tracer->log_evalue(evalue, LoggedEValueType::kIntermediateOutput);
  }
}

/// Records an output of the program, when any values are asked for.
inline void event_tracer_log_evalue_output(EventTracer* event_tracer, const EValue& evalue) {
  if (is_tracing(event_tracer) &&
      event_tracer->event_tracer_debug_level() >= EventTracerDebugLogLevel::kProgramOutputs) {
    (void)event_tracer->log_evalue(evalue, LoggedEValueType::kProgramOutput);
  }
}

inline void event_tracer_set_bundled_input_index(EventTracer* event_tracer,
                                                 int bundled_input_index) {
  if (is_tracing(event_tracer)) {
    event_tracer->set_bundled_input_index(bundled_input_index);
  }
}

}  // namespace internal
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor::internal {
using ::executorch::runtime::internal::event_tracer_begin_profiling_event;
using ::executorch::runtime::internal::event_tracer_create_event_block;
using ::executorch::runtime::internal::event_tracer_end_profiling_event;
using ::executorch::runtime::internal::event_tracer_log_evalue;
using ::executorch::runtime::internal::event_tracer_log_evalue_output;
using ::executorch::runtime::internal::event_tracer_set_bundled_input_index;
using ::executorch::runtime::internal::event_tracer_track_allocation;
using ::executorch::runtime::internal::event_tracer_track_allocator;
using ::executorch::runtime::internal::EventTracerProfileInstructionScope;
using ::executorch::runtime::internal::EventTracerProfileMethodScope;
using ::executorch::runtime::internal::EventTracerProfileOpScope;
using ::executorch::runtime::internal::EventTracerProfileScope;
}  // namespace torch::executor::internal
