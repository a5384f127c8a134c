// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/log_capture.h>

#include <cstdio>

#include <executorch/runtime/platform/platform.h>

namespace executorch::extension::pybindings {

using executorch::runtime::Error;

namespace {

thread_local LogCapture* current = nullptr;

std::string describe(Error error) {
  char number[16];
  std::snprintf(number, sizeof(number), " (0x%02x)", static_cast<unsigned>(error));
  return std::string(executorch::runtime::to_string(error)) + number;
}

}  // namespace

void collect_message(const char* message) {
  current->messages_ += "\n  ";
  current->messages_ += message;
}

namespace {

void emit(et_timestamp_t /*timestamp*/, et_pal_log_level_t level, const char* filename,
          const char* /*function*/, size_t line, const char* message, size_t /*length*/) {
  if (current != nullptr && level == et_pal_log_level_t::kError) {
    collect_message(message);
    return;
  }
  std::fprintf(stderr, "[%s:%zu] %s\n", filename, line, message);
}

}  // namespace

void route_messages() {
  executorch::runtime::register_pal(executorch::runtime::PalImpl::create(emit, __FILE__));
}

LogCapture::LogCapture() : outer_(current) {
  current = this;
}

LogCapture::~LogCapture() {
  current = outer_;
}

void LogCapture::check(Error error, const std::string& what) const {
  if (error != Error::Ok) {
    throw RuntimeFailure(what + ": " + describe(error) + messages_);
  }
}

void fail_argument(const std::string& message) {
  throw RuntimeFailure(message + ": " + describe(Error::InvalidArgument));
}

}  // namespace executorch::extension::pybindings
