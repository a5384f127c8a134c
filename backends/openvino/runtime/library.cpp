// SPDX-License-Identifier: BSD-3-Clause
// One attempt at a time; what was loaded once is there for good.
#include <executorch/backends/openvino/runtime/library.h>
#include <executorch/runtime/backend/dynamic_library.h>
#include <executorch/runtime/platform/log.h>

#include <cstdlib>
#include <mutex>

namespace executorch::backends::openvino {

using runtime::Error;
using runtime::Result;

namespace {

#if defined(_WIN32)
constexpr char kDefaultName[] = "openvino_c.dll";
#elif defined(__APPLE__)
constexpr char kDefaultName[] = "libopenvino_c.dylib";
#else
constexpr char kDefaultName[] = "libopenvino_c.so";
#endif

Result<Api> load() {
  const char* given = std::getenv("OPENVINO_LIB_PATH");
  const char* name = given != nullptr && *given != '\0' ? given : kDefaultName;
  const auto loaded = ET_UNWRAP(runtime::DynamicLibrary::open(
      {name}, "OpenVINO's library",
      "pip install 'openvino>=2025.4,<2027', or set OPENVINO_LIB_PATH to the file libopenvino_c of "
      "an installation"));
  Api api;
  auto functions = loaded.functions();
#define EXECUTORCH_OPENVINO_FIND(function, ...) functions.find(#function, api.function);
  EXECUTORCH_OPENVINO_FUNCTIONS(EXECUTORCH_OPENVINO_FIND)
#undef EXECUTORCH_OPENVINO_FIND
  ET_CHECK_OK_OR_RETURN_ERROR(
      functions.check(Error::NotFound, "expected OpenVINO 2025.4 or later"));
  functions.find_optional("ov_get_last_err_msg", api.ov_get_last_err_msg);
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
  const char* message = api.ov_get_last_err_msg != nullptr ? api.ov_get_last_err_msg() : nullptr;
  ET_LOG(Error, "OpenVINO %s: %s failed with status %d (%s)%s%s", version_of(api).c_str(), what,
         static_cast<int>(status), api.ov_get_error_info(status),
         message != nullptr && *message != '\0' ? ": " : "", message != nullptr ? message : "");
  return error;
}

}  // namespace executorch::backends::openvino
