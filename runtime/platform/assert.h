// SPDX-License-Identifier: BSD-3-Clause
// Checks of programmer errors. They end the program: never use them on what a file, a user or a
// tensor brings.
#pragma once

#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/log.h>

#define ET_ASSERT_MESSAGE_EMIT(_format, ...) \
  ET_LOG(Fatal, "In function %s(), assert failed" _format, ET_FUNCTION, ##__VA_ARGS__)

/// Ends the program with a message unless the condition holds.
#define ET_CHECK_MSG(_cond, _format, ...)                               \
  do {                                                                  \
    if (ET_UNLIKELY(!(_cond))) {                                        \
      ET_ASSERT_MESSAGE_EMIT(" (%s): " _format, #_cond, ##__VA_ARGS__); \
      ::executorch::runtime::runtime_abort();                           \
    }                                                                   \
  } while (0)

/// Ends the program unless the condition holds.
#define ET_CHECK(_cond)                       \
  do {                                        \
    if (ET_UNLIKELY(!(_cond))) {              \
      ET_ASSERT_MESSAGE_EMIT(": %s", #_cond); \
      ::executorch::runtime::runtime_abort(); \
    }                                         \
  } while (0)

/// ET_DCHECK is ET_CHECK in debug builds, and nothing in others: its condition is not compiled
/// there. ET_DEBUG_ONLY marks a declaration that only such checks use.
#ifdef NDEBUG
#define ET_DEBUG_ONLY [[maybe_unused]]
#define ET_DCHECK(_cond) ((void)0)
#define ET_DCHECK_MSG(_cond, _format, ...) ((void)0)
#else
#define ET_DEBUG_ONLY
#define ET_DCHECK(_cond) ET_CHECK(_cond)
#define ET_DCHECK_MSG(_cond, _format, ...) ET_CHECK_MSG(_cond, _format, ##__VA_ARGS__)
#endif

/// Marks a place the program cannot come to.
#define ET_ASSERT_UNREACHABLE()                                                \
  do {                                                                         \
    ET_ASSERT_MESSAGE_EMIT(" (false): Execution should not reach this point"); \
    ::executorch::runtime::runtime_abort();                                    \
    ET_UNREACHABLE();                                                          \
  } while (0)
#define ET_ASSERT_UNREACHABLE_MSG(_format, ...)                                         \
  do {                                                                                  \
    ET_ASSERT_MESSAGE_EMIT(" (false): Execution should not reach this point. " _format, \
                           ##__VA_ARGS__);                                              \
    ::executorch::runtime::runtime_abort();                                             \
    ET_UNREACHABLE();                                                                   \
  } while (0)
