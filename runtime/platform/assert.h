// SPDX-License-Identifier: BSD-3-Clause
// Checks of programmer errors. What comes from a file, a user or a device gives an Error instead.
#pragma once

#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/log.h>

#define ET_ASSERT_MESSAGE_EMIT(_format, ...) \
  ET_LOG(Fatal, "In function %s(), assert failed" _format, ET_FUNCTION, ##__VA_ARGS__)

/// Aborts with a message when `_cond` is false.
#define ET_CHECK_MSG(_cond, _format, ...)                                  \
  do {                                                                     \
    if (ET_UNLIKELY(!(_cond))) {                                           \
      ET_ASSERT_MESSAGE_EMIT(" (%s): " _format, #_cond, ##__VA_ARGS__);    \
      ::executorch::runtime::runtime_abort();                              \
    }                                                                      \
  } while (0)

#define ET_CHECK(_cond)                         \
  do {                                          \
    if (ET_UNLIKELY(!(_cond))) {                \
      ET_ASSERT_MESSAGE_EMIT(": %s", #_cond);   \
      ::executorch::runtime::runtime_abort();   \
    }                                           \
  } while (0)

#ifdef NDEBUG
#define ET_DEBUG_ONLY false
#else
#define ET_DEBUG_ONLY true
#endif

/// As ET_CHECK, in debug builds only.
#define ET_DCHECK(_cond)      \
  do {                        \
    if (ET_DEBUG_ONLY) {      \
      ET_CHECK(_cond);        \
    }                         \
  } while (0)

#define ET_DCHECK_MSG(_cond, _format, ...)            \
  do {                                                \
    if (ET_DEBUG_ONLY) {                              \
      ET_CHECK_MSG(_cond, _format, ##__VA_ARGS__);    \
    }                                                 \
  } while (0)

#define ET_ASSERT_UNREACHABLE()                               \
  do {                                                        \
    ET_ASSERT_MESSAGE_EMIT(": %s", "reached unreachable code"); \
    ::executorch::runtime::runtime_abort();                   \
  } while (0)

#define ET_ASSERT_UNREACHABLE_MSG(_format, ...)     \
  do {                                              \
    ET_ASSERT_MESSAGE_EMIT(": " _format, ##__VA_ARGS__); \
    ::executorch::runtime::runtime_abort();         \
  } while (0)
