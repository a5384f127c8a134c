// SPDX-License-Identifier: BSD-3-Clause
// One attempt at a time; what was loaded once is there for good.
#include <executorch/backends/skeleton_compiler/runtime/library.h>
#include <executorch/runtime/backend/dynamic_library.h>

#include <cstdlib>
#include <mutex>

namespace executorch::backends::skeleton_compiler {

using runtime::Error;
using runtime::Result;

namespace {

#if defined(_WIN32)
constexpr char kDefaultName[] = "skeleton_compiler_vendor.dll";
#elif defined(__APPLE__)
constexpr char kDefaultName[] = "libskeleton_compiler_vendor.dylib";
#else
constexpr char kDefaultName[] = "libskeleton_compiler_vendor.so";
#endif

Result<Api> load() {
  const char* given = std::getenv("SKELETON_COMPILER_LIBRARY");
  const char* name = given != nullptr && *given != '\0' ? given : kDefaultName;
  const auto loaded = ET_UNWRAP(runtime::DynamicLibrary::open(
      {name}, "the vendor's library", "set SKELETON_COMPILER_LIBRARY to the file in its SDK"));
  Api api;
  auto functions = loaded.functions();
#define SKELETON_COMPILER_FIND(function) functions.find(#function, api.function);
  SKELETON_COMPILER_FUNCTIONS(SKELETON_COMPILER_FIND)
#undef SKELETON_COMPILER_FIND
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotFound, "expected version 2.1 or later"));
  return api;
}

}  // namespace

Result<const Api*> find_library() {
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

Result<const Api*> library() {
  const Api* api = ET_UNWRAP(find_library());
  ET_CHECK_OK_OR_RETURN_ERROR(check_version(*api, VENDOR_VERSION, "SkeletonCompilerBackend"));
  return api;
}

std::string version_text(uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

Error check_version(const Api& api, uint32_t made, const char* what) {
  const uint32_t found = api.vendor_version();
  ET_CHECK_OR_RETURN_ERROR(found >> 16 == made >> 16 && found >= made, NotSupported,
                           "%s was made by the vendor's version %s, the library here is %s: "
                           "expected the same major version, and at least the same minor one",
                           what, version_text(made).c_str(), version_text(found).c_str());
  return Error::Ok;
}

Error check_status(const Api& api, vendor_status status, Error error, const char* what) {
  if (status != VENDOR_OK) {
    ET_LOG(Error, "SkeletonCompilerBackend: %s failed with status %d: %s", what,
           static_cast<int>(status), api.vendor_last_error());
    return error;
  }
  return Error::Ok;
}

}  // namespace executorch::backends::skeleton_compiler
