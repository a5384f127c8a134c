// SPDX-License-Identifier: BSD-3-Clause
// A layer over the platform's log.
#include <executorch/extension/android/jni/log_ring.h>

#include <deque>
#include <mutex>

#include <executorch/runtime/platform/platform.h>

namespace executorch::extension::jni {

namespace {

constexpr size_t kMaxMessages = 16;

std::mutex mutex;
// Never destroyed: a thread may log while the process ends.
std::deque<std::string>& ring = *new std::deque<std::string>();
pal_emit_log_message_method show = nullptr;

thread_local int depth = 0;
thread_local std::string scope_messages;

void emit(et_timestamp_t timestamp, et_pal_log_level_t level, const char* filename,
          const char* function, size_t line, const char* message, size_t length) {
  if (depth > 0 && (level == et_pal_log_level_t::kError || level == et_pal_log_level_t::kFatal)) {
    if (!scope_messages.empty()) {
      scope_messages += '\n';
    }
    scope_messages.append(message, length);
  }
  std::string entry = "[" + std::to_string(timestamp) + " " + function + " " + filename + ":" +
                      std::to_string(line) + "] " + static_cast<char>(level) + " ";
  entry.append(message, length);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ring.push_back(std::move(entry));
    if (ring.size() > kMaxMessages) {
      ring.pop_front();
    }
  }
  show(timestamp, level, filename, function, line, message, length);
}

}  // namespace

void keep_log() {
  show = runtime::get_pal_impl()->emit_log_message;
  runtime::register_pal(runtime::PalImpl::create(emit, __FILE__));
}

std::vector<std::string> last_messages() {
  const std::lock_guard<std::mutex> lock(mutex);
  return {ring.begin(), ring.end()};
}

LogScope::LogScope() {
  if (depth++ == 0) {
    scope_messages.clear();
  }
}

LogScope::~LogScope() {
  --depth;
}

std::string LogScope::messages() {
  return scope_messages;
}

}  // namespace executorch::extension::jni
