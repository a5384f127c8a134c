// SPDX-License-Identifier: BSD-3-Clause
// A vendor's library that is found while the program runs, and the table of its functions:
//
//   const auto library = ET_UNWRAP(DynamicLibrary::open({"libvendor.so.2", "libvendor.so"},
//                                                       "Vendor's library", "install the driver"));
//   auto functions = library.functions();
//   functions.find("vendor_run", api.run);
//   ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotFound, "expected Vendor 2.1 or later"));
//
// Backends call dlopen and LoadLibrary nowhere else. Targets that use it link ${CMAKE_DL_LIBS}.
#pragma once

#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/log.h>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace executorch::runtime {

/// Functions by name, from whatever gives addresses: a library, or a function of its own for it.
/// Notes those that are missing, so that one message names all of them.
template <typename Resolve>
class FunctionFinder {
 public:
  /// `owner`: what lacks a function, in the message of check().
  FunctionFinder(std::string owner, Resolve resolve)
      : owner_(std::move(owner)), resolve_(std::move(resolve)) {}

  template <typename Function>
  void find(const char* name, Function& out) {
    if (!find_optional(name, out)) {
      missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
    }
  }

  /// False, and null, for one that may be missing.
  template <typename Function>
  bool find_optional(const char* name, Function& out) {
    out = reinterpret_cast<Function>(resolve_(name));
    return out != nullptr;
  }

  /// `error`, with the names in the log, when one was missing; `expected`: what has them.
  Error check(Error error, const char* expected) const {
    if (missing_.empty()) {
      return Error::Ok;
    }
    ET_LOG(Error, "%s lacks %s: %s", owner_.c_str(), missing_.c_str(), expected);
    return error;
  }

 private:
  std::string owner_;
  Resolve resolve_;
  std::string missing_;
};

/// Loaded for the rest of the process: what it gave out may be called until the end, so that
/// nothing unloads it. Copies name the same library. Threads: any.
class DynamicLibrary {
 public:
  /// The first of `names`, paths or names that the system looks for, that loads. NotFound when none
  /// does, with what the system says of each; `title` and `how_to_get` are for people.
  static Result<DynamicLibrary> open(const std::vector<std::string>& names, const char* title,
                                     const char* how_to_get) {
    std::string reasons;
    for (const std::string& name : names) {
      if (void* found = load(name.c_str())) {
        return DynamicLibrary(name, found);
      }
      reasons += (reasons.empty() ? "" : "; ") + last_error();
    }
    ET_LOG(Error, "%s was not loaded (%s): %s", title, reasons.c_str(), how_to_get);
    return Error::NotFound;
  }

  /// The file that the environment's `variable` names, else what the system finds for `stem`:
  /// libstem.so, libstem.dylib, stem.dll.
  static Result<DynamicLibrary> open_named(const char* variable, const std::string& stem,
                                           const char* title, const char* how_to_get) {
    const char* given = std::getenv(variable);
    const std::string name = kPrefix + stem + kSuffix;
    return open({given != nullptr && *given != '\0' ? given : name.c_str()}, title, how_to_get);
  }

  const std::string& name() const { return name_; }

  /// The file that its `function` is of, as the system tells it; name() where it does not.
  std::string file_of(const char* function) const {
#ifndef _WIN32
    Dl_info found = {};
    const void* const address = symbol_of(handle_, function);
    if (address != nullptr && dladdr(address, &found) != 0 && found.dli_fname != nullptr) {
      return found.dli_fname;
    }
#endif
    return name_;
  }

  auto functions() const {
    return FunctionFinder(name_,
                          [handle = handle_](const char* name) { return symbol_of(handle, name); });
  }

 private:
  DynamicLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}

#if defined(_WIN32)
  static constexpr char kPrefix[] = "", kSuffix[] = ".dll";
#elif defined(__APPLE__)
  static constexpr char kPrefix[] = "lib", kSuffix[] = ".dylib";
#else
  static constexpr char kPrefix[] = "lib", kSuffix[] = ".so";
#endif

#ifdef _WIN32
  static void* load(const char* name) { return LoadLibraryA(name); }
  static void* symbol_of(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
  }
  static std::string last_error() { return "Windows error " + std::to_string(GetLastError()); }
#else
  static void* load(const char* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
  static void* symbol_of(void* library, const char* name) { return dlsym(library, name); }
  /// What most libraries are is short, so that a message has room for several names.
  static std::string last_error() {
    const char* found = dlerror();
    std::string text = found != nullptr ? found : "no reason given";
    const size_t missing = text.find("cannot open shared object file: No such file");
    return missing == std::string::npos ? text : text.substr(0, missing) + "not found";
  }
#endif

  std::string name_;
  void* handle_;
};

/// A table of functions that `load` gives, for the rest of the process; after an error it is loaded
/// again at the next call. One table for each type. Threads: any, one at a time loads.
template <typename Api>
Result<const Api*> load_once(Result<Api> (*load)()) {
  static std::mutex mutex;
  static Api api;
  static bool is_loaded = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!is_loaded) {
    api = ET_UNWRAP(load());
    is_loaded = true;
  }
  return &api;
}

}  // namespace executorch::runtime
