// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/runtime/session.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

namespace executorch::backends::qualcomm {

using runtime::Error;
using runtime::Result;

namespace {

// What a library logged on this thread, at the level of errors.
thread_local std::string last_message;

/// QNN's messages go where ours go.
void log(const char* format, QnnLog_Level_t level, uint64_t, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof(text), format, arguments);
  if (level == QNN_LOG_LEVEL_ERROR) {
    last_message = text;
  } else {
    ET_LOG(Info, "QNN: %s", text);
  }
}

/// The SDK has no level for silence: errors are kept for our own messages.
QnnLog_Level_t level_of(int32_t level) {
  return static_cast<QnnLog_Level_t>(std::clamp(level, 1, 5));
}

}  // namespace

Result<std::shared_ptr<Session>> Session::create(const Library& library, const Options& options) {
  std::shared_ptr<Session> made(new Session(library));
  ET_CHECK_OK_OR_RETURN_ERROR(made->open(options));
  return made;
}

Error Session::open(const Options& options) {
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(functions().logCreate(log, level_of(options.log_level), &log_), "QnnLog_create"));
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(functions().backendCreate(log_, nullptr, &backend_), "QnnBackend_create"));
  return options.is_htp() ? open_device(options) : Error::Ok;
}

/// The chip that graphs are for; on a phone, the one that is there.
Error Session::open_device(const Options& options) {
  QnnHtpDevice_CustomConfig_t soc{}, arch{};
  soc.option = QNN_HTP_DEVICE_CONFIG_OPTION_SOC;
  soc.socModel = options.soc_model;
  arch.option = QNN_HTP_DEVICE_CONFIG_OPTION_ARCH;
  arch.arch.deviceId = 0;
  arch.arch.arch = static_cast<QnnHtpDevice_Arch_t>(options.htp_arch);
  QnnDevice_Config_t configs[2]{};
  configs[0].option = configs[1].option = QNN_DEVICE_CONFIG_OPTION_CUSTOM;
  configs[0].customConfig = &soc;
  configs[1].customConfig = &arch;
  const QnnDevice_Config_t* given[] = {&configs[0], &configs[1], nullptr};
  return check(functions().deviceCreate(log_, given, &device_), "QnnDevice_create");
}

Session::~Session() {
  if (device_ != nullptr) {
    functions().deviceFree(device_);
  }
  if (backend_ != nullptr) {
    functions().backendFree(backend_);
  }
  if (log_ != nullptr) {
    functions().logFree(log_);
  }
}

std::string Session::why_failed(Qnn_ErrorHandle_t status, const char* function,
                                const std::string& note) const {
  std::string message;
  message.swap(last_message);
  if (status == QNN_SUCCESS) {
    return "";
  }
  return std::string(function) + " of " + library_.name + " (" + library_.build_id +
         ") failed with error " + std::to_string(status) + (message.empty() ? "" : ": " + message) +
         (note.empty() ? "" : "; " + note);
}

Error Session::check(Qnn_ErrorHandle_t status, const char* function,
                     const std::string& note) const {
  const std::string why = why_failed(status, function, note);
  ET_CHECK_OR_RETURN_ERROR(why.empty(), Internal, "QnnBackend: %s", why.c_str());
  return Error::Ok;
}

Error Session::set_log_level(int32_t level) const {
  return check(functions().logSetLogLevel(log_, level_of(level)), "QnnLog_setLogLevel");
}

Result<std::shared_ptr<Session>> shared_session(const Library& library, const Options& options) {
  using Key = std::tuple<const Library*, uint32_t, uint32_t>;
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<Session>> all;
  const std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<Session>& place = all[{&library, options.soc_model, options.htp_arch}];
  std::shared_ptr<Session> session = place.lock();
  if (session == nullptr) {
    session = ET_UNWRAP(Session::create(library, options));
    place = session;
  } else {
    ET_CHECK_OK_OR_RETURN_ERROR(session->set_log_level(options.log_level));
  }
  return session;
}

}  // namespace executorch::backends::qualcomm
