// SPDX-License-Identifier: BSD-3-Clause
// A delegate's event from here to the end of the scope.
#pragma once

#include <executorch/runtime/core/event_tracer_hooks_delegate.h>

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
  void tell(const void* metadata, size_t nbytes) {
    metadata_ = metadata;
    nbytes_ = nbytes;
  }

 private:
  EventTracer* tracer_;
  runtime::EventTracerEntry entry_;
  const void* metadata_ = nullptr;
  size_t nbytes_ = 0;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
