// SPDX-License-Identifier: BSD-3-Clause
// Options that set_option() gives to all that a backend loads from then on. For backends of
// computers and phones: it allocates and locks.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <executorch/runtime/backend/interface.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// The newest value of each key. Threads: any.
class DefaultOptions {
 public:
  void set(const BackendOption& option) {
    const std::lock_guard<std::mutex> lock(mutex_);
    by_key_[option.key] = option;
  }

  void remove(const char* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    by_key_.erase(key);
  }

  /// Fills in those that are set; others stay as they are.
  void get(Span<BackendOption> options) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (BackendOption& option : options) {
      const auto found = by_key_.find(option.key);
      if (found != by_key_.end()) {
        option = found->second;
      }
    }
  }

  std::vector<BackendOption> all() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<BackendOption> options;
    for (const auto& [key, option] : by_key_) {
      options.push_back(option);
    }
    return options;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, BackendOption> by_key_;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
