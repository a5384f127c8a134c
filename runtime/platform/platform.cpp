// SPDX-License-Identifier: BSD-3-Clause
// The table of platform functions in use: the et_pal_*() symbols, overlaid by what register_pal()
// was given.
#include <executorch/runtime/platform/platform.h>

#include <executorch/runtime/platform/log.h>

namespace executorch {
namespace runtime {

namespace {

// Constant-initialized, so that global constructors of other files may register a platform before
// or after this one.
PalImpl pal_in_use = {
    et_pal_init,
    et_pal_abort,
    et_pal_current_ticks,
    et_pal_ticks_to_ns_multiplier,
    et_pal_emit_log_message,
    et_pal_allocate,
    et_pal_free,
    __FILE__,
};
bool is_registered = false;

template <typename Method>
void overlay(Method& target, Method replacement) {
  if (replacement != nullptr) {
    target = replacement;
  }
}

}  // namespace

PalImpl PalImpl::create(pal_emit_log_message_method emit_log_message, const char* source_filename) {
  PalImpl impl;
  impl.emit_log_message = emit_log_message;
  impl.source_filename = source_filename;
  return impl;
}

PalImpl PalImpl::create(pal_init_method init, pal_abort_method abort,
                        pal_current_ticks_method current_ticks,
                        pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier,
                        pal_emit_log_message_method emit_log_message, pal_allocate_method allocate,
                        pal_free_method free, const char* source_filename) {
  return {init,     abort, current_ticks,  ticks_to_ns_multiplier, emit_log_message,
          allocate, free,  source_filename};
}

bool register_pal(PalImpl impl) {
  if (is_registered) {
    ET_LOG(Error, "A platform was registered before; the one from %s replaces it",
           impl.source_filename != nullptr ? impl.source_filename : "unknown");
  }
  is_registered = true;
  overlay(pal_in_use.abort, impl.abort);
  overlay(pal_in_use.current_ticks, impl.current_ticks);
  overlay(pal_in_use.ticks_to_ns_multiplier, impl.ticks_to_ns_multiplier);
  overlay(pal_in_use.emit_log_message, impl.emit_log_message);
  overlay(pal_in_use.allocate, impl.allocate);
  overlay(pal_in_use.free, impl.free);
  if (impl.init != nullptr) {
    pal_in_use.init = impl.init;
    impl.init();
  }
  return true;
}

const PalImpl* get_pal_impl() {
  return &pal_in_use;
}

void pal_init() {
  pal_in_use.init();
}

void pal_abort() {
  pal_in_use.abort();
  // A registered function that returns by mistake does not let the program go on.
  et_pal_abort();
}

et_timestamp_t pal_current_ticks() {
  return pal_in_use.current_ticks();
}

et_tick_ratio_t pal_ticks_to_ns_multiplier() {
  return pal_in_use.ticks_to_ns_multiplier();
}

void pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level, const char* filename,
                          const char* function, size_t line, const char* message, size_t length) {
  pal_in_use.emit_log_message(timestamp, level, filename, function, line, message, length);
}

void* pal_allocate(size_t size) {
  return pal_in_use.allocate(size);
}

void pal_free(void* ptr) {
  pal_in_use.free(ptr);
}

}  // namespace runtime
}  // namespace executorch
