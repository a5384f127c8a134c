// SPDX-License-Identifier: BSD-3-Clause
// Which shared library an address belongs to.
#pragma once

#include <executorch/runtime/platform/compiler.h>

/// Answers of et_pal_get_shared_library_name() when there is no name to give.
inline constexpr const char* DYNAMIC_LIBRARY_NOT_SUPPORTED = "NOT_SUPPORTED";
inline constexpr const char* DYNAMIC_LIBRARY_NOT_FOUND = "NOT_FOUND";

// _GNU_SOURCE, which g++ always defines, brings dladdr() on Linux.
#if defined(ET_USE_LIBDL) && (defined(__linux__) || defined(__APPLE__))
#include <dlfcn.h>

/// The path of the shared library that holds `addr`; owned by the dynamic linker.
inline const char* et_pal_get_shared_library_name(const void* addr) {
  Dl_info info;
  if (dladdr(addr, &info) != 0 && info.dli_fname != nullptr) {
    return info.dli_fname;
  }
  return DYNAMIC_LIBRARY_NOT_FOUND;
}
#else
inline const char* et_pal_get_shared_library_name(ET_UNUSED const void* addr) {
  return DYNAMIC_LIBRARY_NOT_SUPPORTED;
}
#endif
