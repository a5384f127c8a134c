// SPDX-License-Identifier: BSD-3-Clause
// Questions to the dynamic loader.
#pragma once

#if defined(__linux__) || defined(__APPLE__)
#define ET_HAVE_DLADDR 1
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#endif

constexpr const char* DYNAMIC_LIBRARY_NOT_SUPPORTED = "NOT_SUPPORTED";
constexpr const char* DYNAMIC_LIBRARY_NOT_FOUND = "NOT_FOUND";

/// File name of the library or program that holds `addr`.
inline const char* et_pal_get_shared_library_name(const void* addr) {
#ifdef ET_HAVE_DLADDR
  Dl_info info;
  return dladdr(addr, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname
                                                               : DYNAMIC_LIBRARY_NOT_FOUND;
#else
  (void)addr;
  return DYNAMIC_LIBRARY_NOT_SUPPORTED;
#endif
}
