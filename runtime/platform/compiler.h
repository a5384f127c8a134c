// SPDX-License-Identifier: BSD-3-Clause
// Names for what compilers spell differently: attributes, source positions, builtins.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <executorch/runtime/platform/compatibility.h>

#if !defined(__has_builtin)
#define __has_builtin(x) 0
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#include <sal.h>
#define ET_NOINLINE __declspec(noinline)
#define ET_INLINE __forceinline
#define ET_WEAK
#define ET_UNREACHABLE() __assume(0)
#define ET_PRINTFLIKE(string_index, va_index)
#define ET_LIKELY(expr) (expr)
#define ET_UNLIKELY(expr) (expr)
#define ET_RESTRICT __restrict
#define ET_FUNCTION __FUNCTION__
#define ET_HAVE_GNU_STATEMENT_EXPRESSIONS 0
#else
#define ET_NOINLINE __attribute__((noinline))
#define ET_INLINE __attribute__((always_inline)) inline
#define ET_WEAK __attribute__((weak))
#define ET_UNREACHABLE() __builtin_unreachable()
#define ET_PRINTFLIKE(string_index, va_index) \
  __attribute__((format(printf, string_index, va_index)))
// In parentheses, because `if ET_UNLIKELY (x) {` is written, too.
#define ET_LIKELY(expr) (__builtin_expect(!!(expr), 1))
#define ET_UNLIKELY(expr) (__builtin_expect(!!(expr), 0))
#define ET_RESTRICT __restrict__
#define ET_FUNCTION __FUNCTION__
#define ET_HAVE_GNU_STATEMENT_EXPRESSIONS 1
#endif

#define ET_NORETURN [[noreturn]]
#define ET_NODISCARD [[nodiscard]]
#define ET_UNUSED [[maybe_unused]]
#define ET_FALLTHROUGH [[fallthrough]]
#define ET_DEPRECATED [[deprecated]]
#define ET_EXPERIMENTAL [[deprecated("This API is experimental and may change without notice.")]]

#if defined(__FILE_NAME__)
#define ET_SHORT_FILENAME __FILE_NAME__
#elif __has_builtin(__builtin_strrchr)
#define ET_SHORT_FILENAME (__builtin_strrchr("/" __FILE__, '/') + 1)
#else
#define ET_SHORT_FILENAME __FILE__
#endif
#define ET_LINE __LINE__

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define ET_HAS_EXCEPTIONS 1
#else
#define ET_HAS_EXCEPTIONS 0
#endif

// printf conversions for size_t and ssize_t.
#define ET_PRIsize_t "zu"
#define ET_PRIssize_t "zd"

#if defined(_MSC_VER)
#include <stddef.h>
using ssize_t = ptrdiff_t;
#else
#include <sys/types.h>
#endif

// Older spellings.
#define __ET_DEPRECATED ET_DEPRECATED
#define __ET_FALLTHROUGH ET_FALLTHROUGH
#define __ET_FUNCTION ET_FUNCTION
#define __ET_HAVE_GNU_STATEMENT_EXPRESSIONS ET_HAVE_GNU_STATEMENT_EXPRESSIONS
#define __ET_INLINE ET_INLINE
#define __ET_LIKELY ET_LIKELY
#define __ET_LINE ET_LINE
#define __ET_NODISCARD ET_NODISCARD
#define __ET_NOINLINE ET_NOINLINE
#define __ET_NORETURN ET_NORETURN
#define __ET_PRINTFLIKE ET_PRINTFLIKE
#define __ET_SHORT_FILENAME ET_SHORT_FILENAME
#define __ET_UNLIKELY ET_UNLIKELY
#define __ET_UNREACHABLE ET_UNREACHABLE
#define __ET_UNUSED ET_UNUSED
#define __ET_WEAK ET_WEAK
