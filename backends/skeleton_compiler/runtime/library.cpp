// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/skeleton_compiler/runtime/library.h>
#include <executorch/runtime/backend/dynamic_library.h>

namespace executorch::backends::skeleton_compiler {

using runtime::Error;
using runtime::Result;

namespace {

Result<Api> load() {
  const auto loaded = ET_UNWRAP(runtime::DynamicLibrary::open_named(
      "SKELETON_COMPILER_LIBRARY", "skeleton_compiler_vendor", "the vendor's library",
      "set SKELETON_COMPILER_LIBRARY to the file in its SDK"));
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
  return runtime::load_once(load);
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
