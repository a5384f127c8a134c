// SPDX-License-Identifier: BSD-3-Clause
// A delegate's event from here to the end of the scope, and events of operators that a vendor's
// library measured.
#pragma once

#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// `tracer` may be null; `name` lives as long as the event.
class DelegateEvent final {
 public:
  DelegateEvent(EventTracer* tracer, const char* name)
      : tracer_(tracer),
        entry_(runtime::event_tracer_start_profiling_delegate(
            tracer, name, static_cast<runtime::DebugHandle>(runtime::kUnsetDelegateDebugIntId))) {}
  ~DelegateEvent() {
    runtime::event_tracer_end_profiling_delegate(tracer_, entry_, metadata_, nbytes_);
  }
  DelegateEvent(const DelegateEvent&) = delete;
  DelegateEvent& operator=(const DelegateEvent&) = delete;

  /// What the event carries; it lives as long as the event.
  void set_metadata(const void* metadata, size_t nbytes) {
    metadata_ = metadata;
    nbytes_ = nbytes;
  }

 private:
  EventTracer* tracer_;
  runtime::EventTracerEntry entry_;
  const void* metadata_ = nullptr;
  size_t nbytes_ = 0;
};

/// The operators of one run, by the vendor's own clock:
///
///   if (OperatorEvents::are_wanted(tracer)) {          // before the vendor is asked
///     OperatorEvents events(tracer, start, 1000 * OperatorEvents::ticks_of_ns());  // microseconds
///     events.add("convolution", 12);                   // the first 12 microseconds of the run
///     events.add("softmax", 3);                        // the next 3
///   }
class OperatorEvents final {
 public:
  /// Whether the build, and the tracer, which may be null, take events of operators.
  static bool are_wanted(EventTracer* tracer) { return runtime::internal::is_tracing_all(tracer); }

  /// Ticks of the platform in a nanosecond.
  static double ticks_of_ns() {
    const et_tick_ratio_t ratio = et_pal_ticks_to_ns_multiplier();
    return static_cast<double>(ratio.denominator) / static_cast<double>(ratio.numerator);
  }

  /// `start`: when the run began, in ticks; `ticks`: in a unit of the vendor's times.
  OperatorEvents(EventTracer* tracer, et_timestamp_t start, double ticks)
      : tracer_(tracer), start_(start), ticks_(ticks) {}

  /// One that took `time`, right behind the one before.
  void add(const char* name, double time, const void* metadata = nullptr, size_t nbytes = 0) {
    log(name, elapsed_, elapsed_ + time, metadata, nbytes);
    elapsed_ += time;
  }

  /// One that ran from `begin` to `end`, from the run's beginning on.
  void log(const char* name, double begin, double end, const void* metadata = nullptr,
           size_t nbytes = 0) const {
    runtime::event_tracer_log_profiling_delegate(
        tracer_, name, static_cast<runtime::DebugHandle>(runtime::kUnsetDelegateDebugIntId),
        at(begin), at(end), metadata, nbytes);
  }

 private:
  et_timestamp_t at(double time) const {
    return start_ + static_cast<et_timestamp_t>(time * ticks_);
  }

  EventTracer* tracer_;
  et_timestamp_t start_;
  double ticks_;
  double elapsed_ = 0;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
