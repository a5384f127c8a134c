// SPDX-License-Identifier: BSD-3-Clause
// The compiler macros that sources written for PyTorch's header-only part use.
#pragma once

#ifndef C10_MACROS_MACROS_H_
#define C10_MACROS_MACROS_H_

#include <cassert>

#include <torch/headeronly/macros/Export.h>

#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_CONCATENATE_IMPL(s1, s2) s1##s2
#define C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
#define C10_MACRO_EXPAND(args) args
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(str) C10_CONCATENATE(str, __COUNTER__)

#ifndef __has_attribute
#define __has_attribute(x) 0
#endif
#ifdef __has_cpp_attribute
#define C10_HAS_CPP_ATTRIBUTE(x) __has_cpp_attribute(x)
#else
#define C10_HAS_CPP_ATTRIBUTE(x) 0
#endif

#define C10_DISABLE_COPY_AND_ASSIGN(classname) \
  classname(const classname&) = delete;        \
  classname& operator=(const classname&) = delete

#define C10_NODISCARD [[nodiscard]]
#define C10_UNUSED [[maybe_unused]]

#if defined(__GNUC__)
#define C10_LIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 1))
#define C10_UNLIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 0))
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE __attribute__((__always_inline__)) inline
#define C10_ALWAYS_INLINE_ATTRIBUTE __attribute__((__always_inline__))
#define C10_ATTR_VISIBILITY_HIDDEN __attribute__((__visibility__("hidden")))
#define C10_USED __attribute__((__used__))
#define C10_RESTRICT __restrict
#elif defined(_MSC_VER)
#define C10_LIKELY(expr) (expr)
#define C10_UNLIKELY(expr) (expr)
#define C10_NOINLINE __declspec(noinline)
#define C10_ALWAYS_INLINE __forceinline
#define C10_ALWAYS_INLINE_ATTRIBUTE
#define C10_ATTR_VISIBILITY_HIDDEN
#define C10_USED
#define C10_RESTRICT __restrict
#else
#define C10_LIKELY(expr) (expr)
#define C10_UNLIKELY(expr) (expr)
#define C10_NOINLINE
#define C10_ALWAYS_INLINE inline
#define C10_ALWAYS_INLINE_ATTRIBUTE
#define C10_ATTR_VISIBILITY_HIDDEN
#define C10_USED
#define C10_RESTRICT
#endif
#define C10_ERASE C10_ALWAYS_INLINE C10_ATTR_VISIBILITY_HIDDEN

#if defined(__ANDROID__)
#define C10_ANDROID 1
#define C10_MOBILE 1
#elif defined(__APPLE__)
#include <TargetConditionals.h>
#if TARGET_OS_IPHONE
#define C10_IOS 1
#define C10_MOBILE 1
#endif
#endif
#if defined(C10_MOBILE) && C10_MOBILE
#define C10_ALWAYS_INLINE_UNLESS_MOBILE inline
#else
#define C10_ALWAYS_INLINE_UNLESS_MOBILE C10_ALWAYS_INLINE
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#define C10_HIP_HOST_DEVICE
#define CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define C10_HOST_CONSTEXPR_EXCEPT_WIN_CUDA constexpr

#if defined(__clang__)
#define _C10_PRAGMA__(string) _Pragma(#string)
#define _C10_PRAGMA_(string) _C10_PRAGMA__(string)
#define C10_CLANG_DIAGNOSTIC_PUSH() _Pragma("clang diagnostic push")
#define C10_CLANG_DIAGNOSTIC_POP() _Pragma("clang diagnostic pop")
#define C10_CLANG_DIAGNOSTIC_IGNORE(flag) _C10_PRAGMA_(clang diagnostic ignored flag)
#define C10_CLANG_HAS_WARNING(flag) __has_warning(flag)
#else
#define C10_CLANG_DIAGNOSTIC_PUSH()
#define C10_CLANG_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_IGNORE(flag)
#define C10_CLANG_HAS_WARNING(flag) 0
#endif

#if defined(__GNUC__)
#define C10_INTERNAL_PRAGMA(text) _Pragma(#text)
/// Silences a warning, given as "-Wname", up to C10_DIAGNOSTIC_POP(). Unknown warnings are fine.
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning)                      \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wpragmas\"") \
      C10_INTERNAL_PRAGMA(GCC diagnostic ignored "-Wunknown-warning-option")     \
          C10_INTERNAL_PRAGMA(GCC diagnostic ignored warning)
#define C10_DIAGNOSTIC_POP() _Pragma("GCC diagnostic pop")
#else
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning)
#define C10_DIAGNOSTIC_POP()
#endif

#if defined(__SANITIZE_ADDRESS__)
#define C10_ASAN_ENABLED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define C10_ASAN_ENABLED 1
#endif
#endif
#ifndef C10_ASAN_ENABLED
#define C10_ASAN_ENABLED 0
#endif
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define C10_UBSAN_ENABLED 1
#endif
#endif
#ifndef C10_UBSAN_ENABLED
#define C10_UBSAN_ENABLED 0
#endif

// HIDDEN_NAMESPACE_BEGIN(a, b) opens namespace a::b, up to three deep; ..._END closes it.
#define C10_INTERNAL_PICK_4TH(_1, _2, _3, name, ...) name
#define C10_INTERNAL_OPEN_1(n1) namespace n1 {
#define C10_INTERNAL_OPEN_2(n1, n2) namespace n1::n2 {
#define C10_INTERNAL_OPEN_3(n1, n2, n3) namespace n1::n2::n3 {
#define HIDDEN_NAMESPACE_BEGIN(...)                                            \
  C10_INTERNAL_PICK_4TH(__VA_ARGS__, C10_INTERNAL_OPEN_3, C10_INTERNAL_OPEN_2, \
                        C10_INTERNAL_OPEN_1, 0)                                \
  (__VA_ARGS__)
#define HIDDEN_NAMESPACE_END(...) }

#if __has_attribute(no_sanitize)
#define __ubsan_ignore_float_divide_by_zero__ __attribute__((no_sanitize("float-divide-by-zero")))
#define __ubsan_ignore_undefined__ __attribute__((no_sanitize("undefined")))
#define __ubsan_ignore_signed_int_overflow__ __attribute__((no_sanitize("signed-integer-overflow")))
#define __ubsan_ignore_pointer_overflow__ __attribute__((no_sanitize("pointer-overflow")))
#define __ubsan_ignore_function__ __attribute__((no_sanitize("function")))
#define __ubsan_ignore_float_cast_overflow__ __attribute__((no_sanitize("float-cast-overflow")))
#else
#define __ubsan_ignore_float_divide_by_zero__
#define __ubsan_ignore_undefined__
#define __ubsan_ignore_signed_int_overflow__
#define __ubsan_ignore_pointer_overflow__
#define __ubsan_ignore_function__
#define __ubsan_ignore_float_cast_overflow__
#endif

#define CUDA_KERNEL_ASSERT(cond) assert(cond)
#define CUDA_KERNEL_ASSERT_MSG(cond, msg) assert((cond) && (msg))
#define SYCL_KERNEL_ASSERT(cond) assert(cond)

#endif  // C10_MACROS_MACROS_H_
