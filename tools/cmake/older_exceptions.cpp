// SPDX-License-Identifier: BSD-3-Clause
// How std::exception_ptr counts references, for modules that load with a libstdc++ older than GCC
// 11's, which keeps these two functions to itself (EXECUTORCH_OLDER_LIBRARIES). Its copies and its
// destructor do the same. Headers have those inline, on top of these two, so the library's own are
// asked for by name.
#include <dlfcn.h>

#define ET_OLDER __attribute__((weak, visibility("hidden")))

namespace {
template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(
      dlsym(dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD), name));
}
}  // namespace

extern "C" {
ET_OLDER void et_add_reference(void* const* pointer) __asm__(
    "_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv");
void et_add_reference(void* const* pointer) {
  static const auto copy =
      find<void(void**, void* const*)>("_ZNSt15__exception_ptr13exception_ptrC1ERKS0_");
  void* copied;
  copy(&copied, pointer);
}

ET_OLDER void et_release(void** pointer) __asm__(
    "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
void et_release(void** pointer) {
  static const auto destroy = find<void(void**)>("_ZNSt15__exception_ptr13exception_ptrD1Ev");
  destroy(pointer);
  *pointer = nullptr;
}
}
