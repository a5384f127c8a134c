// SPDX-License-Identifier: BSD-3-Clause
// The platform abstraction layer (PAL): what the runtime needs from the system it runs on.
//
// Two ways to replace the default platform (default/posix.cpp or default/minimal.cpp, see
// EXECUTORCH_PAL_DEFAULT):
//  - at run time: executorch::runtime::register_pal(PalImpl::create(...)); null members keep the
//  default;
//  - at link time: define any et_pal_*() function; the defaults are weak symbols.
// Includable from C; the second half is C++ only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Severity of a log message as one printable letter.
typedef enum {
  kDebug = 'D',
  kInfo = 'I',
  kError = 'E',
  kFatal = 'F',
  kUnknown = '?',
} et_pal_log_level_t;

/// Nanoseconds per tick, as numerator / denominator.
typedef struct {
  uint64_t numerator;
  uint64_t denominator;
} et_tick_ratio_t;

typedef void (*pal_init_method)(void);
typedef void (*pal_abort_method)(void);
typedef et_timestamp_t (*pal_current_ticks_method)(void);
typedef pal_current_ticks_method et_pal_current_ticks_t;
typedef et_tick_ratio_t (*pal_ticks_to_ns_multiplier_method)(void);
/// `message` is NUL-terminated at `length`; `filename` and `function` live as long as the program.
typedef void (*pal_emit_log_message_method)(et_timestamp_t timestamp, et_pal_log_level_t level,
                                            const char* filename, const char* function, size_t line,
                                            const char* message, size_t length);
typedef void* (*pal_allocate_method)(size_t size);
typedef void (*pal_free_method)(void* ptr);

/// Prepares the platform; called by runtime_init(), harmless when called again.
void et_pal_init(void);
/// Ends the program. Must not return.
#ifdef __cplusplus
ET_NORETURN
#endif
void et_pal_abort(void);
/// A monotonic time in ticks.
et_timestamp_t et_pal_current_ticks(void);
et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void);
/// Called by one or several threads at a time; must not log through ET_LOG.
void et_pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level,
                             const char* filename, const char* function, size_t line,
                             const char* message, size_t length);
/// Heap of the platform, or null when there is none. The core runtime itself never calls these two.
void* et_pal_allocate(size_t size);
void et_pal_free(void* ptr);

#ifdef __cplusplus
}  // extern "C"

namespace executorch {
namespace runtime {

/// A platform to be registered at run time. A null member stands for the default.
struct PalImpl {
  static PalImpl create(pal_emit_log_message_method emit_log_message, const char* source_filename);
  static PalImpl create(pal_init_method init, pal_abort_method abort,
                        pal_current_ticks_method current_ticks,
                        pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier,
                        pal_emit_log_message_method emit_log_message, pal_allocate_method allocate,
                        pal_free_method free, const char* source_filename);

  pal_init_method init = nullptr;
  pal_abort_method abort = nullptr;
  pal_current_ticks_method current_ticks = nullptr;
  pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier = nullptr;
  pal_emit_log_message_method emit_log_message = nullptr;
  pal_allocate_method allocate = nullptr;
  pal_free_method free = nullptr;
  /// Where the platform comes from, for messages: pass __FILE__.
  const char* source_filename = nullptr;
};

/// Replaces the functions in use by the non-null members of `impl`, and calls its init, if it has
/// one. Callable from a global constructor; not while another thread logs. Returns true; that a
/// platform was registered before is logged as an error.
bool register_pal(PalImpl impl);

/// The platform in use; never null, all function members set.
const PalImpl* get_pal_impl();

// The functions of the platform in use.
void pal_init();
ET_NORETURN void pal_abort();
et_timestamp_t pal_current_ticks();
et_tick_ratio_t pal_ticks_to_ns_multiplier();
void pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level, const char* filename,
                          const char* function, size_t line, const char* message, size_t length);
void* pal_allocate(size_t size);
void pal_free(void* ptr);

}  // namespace runtime

namespace platform {
using ::executorch::runtime::PalImpl;
using ::executorch::runtime::register_pal;
}  // namespace platform
}  // namespace executorch
#endif  // __cplusplus
