// SPDX-License-Identifier: BSD-3-Clause
// The process's last log messages, and those of one call.
#pragma once

#include <string>
#include <vector>

namespace executorch::extension::jni {

// Every message goes to the ring, to the scopes of its thread, and to where the platform shows it:
// logcat on Android, the standard error elsewhere. To be called once.
void keep_log();

// The last 16 messages, the oldest first: "[TIME FUNCTION FILE:LINE] LEVEL MESSAGE".
std::vector<std::string> last_messages();

// Collects what the calling thread logs while the outermost one lives.
class LogScope {
 public:
  LogScope();
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  // Of the thread's scope: errors, one a line.
  static std::string messages();
};

}  // namespace executorch::extension::jni
