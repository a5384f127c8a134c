// SPDX-License-Identifier: BSD-3-Clause
// HeldLog: log lines that may turn out not to count, as while formats are tried.
#pragma once

#include <pytorch/tokenizers/log.h>

#include <string>
#include <vector>

namespace tokenizers {

/// While one lives, what its thread logs waits for emit(), and is dropped without it. One inside
/// another takes over meanwhile.
class HeldLog {
 public:
  HeldLog();
  ~HeldLog();
  HeldLog(const HeldLog&) = delete;
  HeldLog& operator=(const HeldLog&) = delete;

  /// What waited, and from then on nothing waits.
  void emit();

 private:
  struct Line {
    LogLevel level;
    const char* file;
    size_t line;
    std::string text;
  };
  friend void log_message(LogLevel level, const char* file, size_t line, const char* format, ...);

  std::vector<Line> lines_;
  HeldLog* outer_;
};

}  // namespace tokenizers
