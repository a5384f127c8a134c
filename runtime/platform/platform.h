// SPDX-License-Identifier: BSD-3-Clause
// The platform layer: the few services the runtime needs from its surroundings. Each has a weak C default that a program may
// replace at link time, and register_pal() replaces them at run time (preferred: no link-order surprises).
#pragma once

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/types.h>

#include <stddef.h>
#include <stdint.h>

extern "C" {

/// Ratio of ticks to nanoseconds: ns = ticks * numerator / denominator.
typedef struct {
  uint64_t numerator;
  uint64_t denominator;
} et_tick_ratio_t;

/// Severity of a message; the values are printable letters.
typedef enum {
  kDebug = 'D',
  kInfo = 'I',
  kError = 'E',
  kFatal = 'F',
  kUnknown = '?',
} et_pal_log_level_t;

/// Called once by runtime_init(), before any other function here.
void et_pal_init(void);

/// Ends the program.
ET_NORETURN void et_pal_abort(void);

/// A monotonic clock.
et_timestamp_t et_pal_current_ticks(void);

et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void);

/// Shows one message. `message` is NUL-terminated and `length` characters long; it is valid during the call only.
void et_pal_emit_log_message(
    et_timestamp_t timestamp,
    et_pal_log_level_t level,
    const char* filename,
    const char* function,
    size_t line,
    const char* message,
    size_t length);

/// Memory for the default temp allocator; nullptr when there is none. Never called on heapless set-ups that pass their own.
void* et_pal_allocate(size_t size);
void et_pal_free(void* ptr);

typedef void (*pal_init_method)();
typedef void (*pal_abort_method)();
typedef et_timestamp_t (*pal_current_ticks_method)();
typedef et_tick_ratio_t (*pal_ticks_to_ns_multiplier_method)();
typedef void (*pal_emit_log_message_method)(
    et_timestamp_t timestamp,
    et_pal_log_level_t level,
    const char* filename,
    const char* function,
    size_t line,
    const char* message,
    size_t length);
typedef void* (*pal_allocate_method)(size_t size);
typedef void (*pal_free_method)(void* ptr);

} // extern "C"

namespace executorch {
namespace runtime {

/// A set of platform functions; a null member keeps what is there.
struct PalImpl {
  static PalImpl create(
      pal_emit_log_message_method emit_log_message, const char* source_filename);

  static PalImpl create(
      pal_init_method init,
      pal_abort_method abort,
      pal_current_ticks_method current_ticks,
      pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier,
      pal_emit_log_message_method emit_log_message,
      pal_allocate_method allocate,
      pal_free_method free,
      const char* source_filename);

  pal_init_method init = nullptr;
  pal_abort_method abort = nullptr;
  pal_current_ticks_method current_ticks = nullptr;
  pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier = nullptr;
  pal_emit_log_message_method emit_log_message = nullptr;
  pal_allocate_method allocate = nullptr;
  pal_free_method free = nullptr;
  /// File that registered this set, for messages.
  const char* source_filename = nullptr;
};

/// Replaces the platform functions that `impl` names. May be called from a global constructor. Not thread-safe: call it before
/// the runtime is used. Returns false when another set was registered before (the new one still takes effect).
bool register_pal(PalImpl impl);

const PalImpl* get_pal_impl();

void pal_init();
ET_NORETURN void pal_abort();
et_timestamp_t pal_current_ticks();
et_tick_ratio_t pal_ticks_to_ns_multiplier();
void pal_emit_log_message(
    et_timestamp_t timestamp,
    et_pal_log_level_t level,
    const char* filename,
    const char* function,
    size_t line,
    const char* message,
    size_t length);
void* pal_allocate(size_t size);
void pal_free(void* ptr);

} // namespace runtime

namespace platform {
using ::executorch::runtime::PalImpl;
using ::executorch::runtime::register_pal;
} // namespace platform
} // namespace executorch
