// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/openvino/runtime/library.h>
#include <executorch/runtime/backend/dynamic_library.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::backends::openvino {

using runtime::Error;
using runtime::Result;

namespace {

Result<Api> load() {
  const auto loaded = ET_UNWRAP(runtime::DynamicLibrary::open_named(
      "OPENVINO_LIB_PATH", "openvino_c", "OpenVINO's library",
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
  return runtime::load_once(load);
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
