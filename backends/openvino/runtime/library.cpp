// SPDX-License-Identifier: BSD-3-Clause
// One attempt at a time; what was loaded once is there for good.
#include <executorch/backends/openvino/runtime/library.h>
#include <executorch/runtime/platform/log.h>

#include <cstdlib>
#include <mutex>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace executorch::backends::openvino {

using runtime::Error;
using runtime::Result;

namespace {

#ifdef _WIN32
constexpr char kDefaultName[] = "openvino_c.dll";
void* open_library(const char* name) {
  return LoadLibraryA(name);
}
void* symbol_of(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
std::string last_error() {
  return "Windows error " + std::to_string(GetLastError());
}
#else
#ifdef __APPLE__
constexpr char kDefaultName[] = "libopenvino_c.dylib";
#else
constexpr char kDefaultName[] = "libopenvino_c.so";
#endif
void* open_library(const char* name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}
void* symbol_of(void* library, const char* name) {
  return dlsym(library, name);
}
std::string last_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "no reason given";
}
#endif

template <typename Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(symbol_of(library, name));
  return out != nullptr;
}

Result<Api> load() {
  const char* given = std::getenv("OPENVINO_LIB_PATH");
  const char* name = given != nullptr && *given != '\0' ? given : kDefaultName;
  void* loaded = open_library(name);
  ET_CHECK_OR_RETURN_ERROR(
      loaded != nullptr, NotFound,
      "OpenVINO's library was not loaded (%s): pip install 'openvino>=2025.4,<2027', or set "
      "OPENVINO_LIB_PATH to the file libopenvino_c of an installation",
      last_error().c_str());
  Api api;
  std::string missing;
#define EXECUTORCH_OPENVINO_FIND(function, ...) \
  if (!find(loaded, #function, api.function)) { \
    missing += missing.empty() ? "" : ", ";     \
    missing += #function;                       \
  }
  EXECUTORCH_OPENVINO_FUNCTIONS(EXECUTORCH_OPENVINO_FIND)
#undef EXECUTORCH_OPENVINO_FIND
  ET_CHECK_OR_RETURN_ERROR(missing.empty(), NotFound,
                           "%s lacks %s: expected OpenVINO 2025.4 or later", name, missing.c_str());
  find(loaded, "ov_get_last_err_msg", api.ov_get_last_err_msg);
  return api;
}

}  // namespace

Result<const Api*> library() {
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

std::string version_of(const Api& api) {
  ov_version_t version{};
  if (api.ov_get_openvino_version(&version) != kOk) {
    return "unknown";
  }
  const std::string build = version.buildNumber != nullptr ? version.buildNumber : "unknown";
  api.ov_version_free(&version);
  return build.substr(0, build.find('-'));
}

Error check_status(const Api& api, ov_status_e status, Error error, const char* what) {
  if (status == kOk) {
    return Error::Ok;
  }
  const char* said = api.ov_get_last_err_msg != nullptr ? api.ov_get_last_err_msg() : nullptr;
  ET_LOG(Error, "OpenVINO %s: %s failed with status %d (%s)%s%s", version_of(api).c_str(), what,
         static_cast<int>(status), api.ov_get_error_info(status),
         said != nullptr && *said != '\0' ? ": " : "", said != nullptr ? said : "");
  return error;
}

}  // namespace executorch::backends::openvino
