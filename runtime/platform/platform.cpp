// SPDX-License-Identifier: BSD-3-Clause
// The table of platform functions in force: the weak C functions until somebody registers others.
#include <executorch/runtime/platform/platform.h>

namespace executorch {
namespace runtime {
namespace {

// A function-local static without a guard: constant-initialized, so that global constructors may register into it.
PalImpl& current() {
  static PalImpl impl{
      et_pal_init,
      et_pal_abort,
      et_pal_current_ticks,
      et_pal_ticks_to_ns_multiplier,
      et_pal_emit_log_message,
      et_pal_allocate,
      et_pal_free,
      nullptr};
  return impl;
}

template <typename Method>
void replace(Method& slot, Method method) {
  if (method != nullptr) {
    slot = method;
  }
}

} // namespace

PalImpl PalImpl::create(
    pal_emit_log_message_method emit_log_message, const char* source_filename) {
  return create(
      nullptr, nullptr, nullptr, nullptr, emit_log_message, nullptr, nullptr, source_filename);
}

PalImpl PalImpl::create(
    pal_init_method init,
    pal_abort_method abort,
    pal_current_ticks_method current_ticks,
    pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier,
    pal_emit_log_message_method emit_log_message,
    pal_allocate_method allocate,
    pal_free_method free,
    const char* source_filename) {
  return PalImpl{
      init,
      abort,
      current_ticks,
      ticks_to_ns_multiplier,
      emit_log_message,
      allocate,
      free,
      source_filename};
}

bool register_pal(PalImpl impl) {
  PalImpl& now = current();
  const bool first = now.source_filename == nullptr;
  replace(now.init, impl.init);
  replace(now.abort, impl.abort);
  replace(now.current_ticks, impl.current_ticks);
  replace(now.ticks_to_ns_multiplier, impl.ticks_to_ns_multiplier);
  replace(now.emit_log_message, impl.emit_log_message);
  replace(now.allocate, impl.allocate);
  replace(now.free, impl.free);
  now.source_filename = impl.source_filename != nullptr ? impl.source_filename : "";
  return first;
}

const PalImpl* get_pal_impl() {
  return &current();
}

void pal_init() {
  current().init();
}

void pal_abort() {
  current().abort();
  et_pal_abort(); // a registered abort that returns must not let the caller go on
}

et_timestamp_t pal_current_ticks() {
  return current().current_ticks();
}

et_tick_ratio_t pal_ticks_to_ns_multiplier() {
  return current().ticks_to_ns_multiplier();
}

void pal_emit_log_message(
    et_timestamp_t timestamp,
    et_pal_log_level_t level,
    const char* filename,
    const char* function,
    size_t line,
    const char* message,
    size_t length) {
  current().emit_log_message(timestamp, level, filename, function, line, message, length);
}

void* pal_allocate(size_t size) {
  return current().allocate(size);
}

void pal_free(void* ptr) {
  current().free(ptr);
}

} // namespace runtime
} // namespace executorch
