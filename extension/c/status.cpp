// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/status.h>

#include <cstdio>

#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::extension::c {

using runtime::Error;

namespace {

struct StatusObject final : Object {
  static constexpr Kind kKind = Kind::Status;
  StatusObject(Error its_error, std::string its_message)
      : error(its_error), message(std::move(its_message)) {}

  Error error;
  std::string message;
};

thread_local Messages* current = nullptr;
ExecuTorchLog log_of_user = nullptr;
void* context_of_user = nullptr;

int32_t level_of(et_pal_log_level_t level) {
  switch (level) {
    case et_pal_log_level_t::kDebug:
      return EXECUTORCH_LOG_DEBUG;
    case et_pal_log_level_t::kError:
      return EXECUTORCH_LOG_ERROR;
    case et_pal_log_level_t::kFatal:
      return EXECUTORCH_LOG_FATAL;
    default:
      return EXECUTORCH_LOG_INFO;
  }
}

void emit_of_runtime(et_timestamp_t /*timestamp*/, et_pal_log_level_t level, const char* file,
                     const char* /*function*/, size_t line, const char* message,
                     size_t /*length*/) {
  emit(level_of(level), file, line, message);
}

}  // namespace

Messages::Messages() : outer_(current) {
  current = this;
}

Messages::~Messages() {
  current = outer_;
}

void Messages::add(const char* message) {
  text_ += "\n  ";
  text_ += message;
}

ExecuTorchStatus Messages::status(Error error, const char* call) const noexcept {
  try {
    char number[16];
    std::snprintf(number, sizeof(number), " (0x%02x)", static_cast<unsigned>(error));
    std::string message = std::string(call) + ": " + runtime::to_string(error) + number + text_;
    const Handle handle =
        c::add(Kind::Status, std::make_unique<StatusObject>(error, std::move(message)));
    return handle == 0 ? kNoRoom : handle;
  } catch (...) {
    return kNoRoom;
  }
}

int32_t status_code(ExecuTorchStatus status) noexcept {
  if (status == 0 || status == kNoRoom) {
    return status == 0 ? EXECUTORCH_OK : EXECUTORCH_MEMORY_ALLOCATION_FAILED;
  }
  const Messages messages;  // of a wrong handle: nobody asks for them
  const auto pin = Pin<StatusObject>::take(status);
  return pin.ok() ? static_cast<int32_t>((*pin)->error) : -1;
}

const char* status_message(ExecuTorchStatus status) noexcept {
  if (status == 0 || status == kNoRoom) {
    return status == 0 ? "" : "no memory for a status";
  }
  const Messages messages;
  const auto pin = Pin<StatusObject>::take(status);
  return pin.ok() ? (*pin)->message.c_str() : "expected a status, found another handle or none";
}

void set_log(ExecuTorchLog log, void* context) {
  log_of_user = log;
  context_of_user = context;
}

void emit(int32_t level, const char* file, size_t line, const char* message) noexcept {
  if (current != nullptr && level == EXECUTORCH_LOG_ERROR) {
    try {
      current->add(message);
      return;
    } catch (...) {  // no memory: to the log instead
    }
  }
  if (log_of_user != nullptr) {
    log_of_user(context_of_user, level, file, line, message);
  } else {
    std::fprintf(stderr, "[%s:%zu] %s\n", file, line, message);
  }
}

void route_messages() {
  static const bool is_done = [] {
    runtime::runtime_init();
    return runtime::register_pal(runtime::PalImpl::create(emit_of_runtime, __FILE__));
  }();
  (void)is_done;  // made once
}

}  // namespace executorch::extension::c
