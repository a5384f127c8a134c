// SPDX-License-Identifier: BSD-3-Clause
// Options that set_option() gives to all that a backend loads from then on, and what a delegate is
// loaded with: the file's, these, and those of the program that loads it, by one table.
//
//   ET_CHECK_OK_OR_RETURN_ERROR(defaults_.set(options, kMyTable));             // set_option()
//   ET_CHECK_OK_OR_RETURN_ERROR(defaults_.read(kMyTable, specs, context.runtime_specs(), options));
//
// For backends of computers and phones: it allocates and locks.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include <executorch/runtime/backend/compile_options.h>
#include <executorch/runtime/backend/interface.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// The newest value of each key. Threads: any.
class DefaultOptions {
 public:
  /// InvalidArgument, and no change, for what the table does not take. Empty text takes an option
  /// away.
  template <typename Options>
  Error set(Span<const BackendOption> options, const OptionTable<Options>& table) {
    Options unused;
    for (const BackendOption& option : options) {
      if (!is_empty(option) || table.find(option.key, /*is_file=*/false) == nullptr) {
        ET_CHECK_OK_OR_RETURN_ERROR(
            read_runtime_options(table, Span<const BackendOption>(&option, 1), unused));
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const BackendOption& option : options) {
      if (is_empty(option)) {
        by_key_.erase(option.key);
      } else {
        by_key_[option.key] = option;
      }
    }
    return Error::Ok;
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

  /// Changes `out` by what a delegate is loaded with. Each wins over the one before: the file, what
  /// is set here, the program that loads it.
  template <typename Options>
  Error read(const OptionTable<Options>& table, ArrayRef<CompileSpec> specs,
             Span<const BackendOption> of_program, Options& out) const {
    ET_CHECK_OK_OR_RETURN_ERROR(read_compile_specs(table, specs, out));
    std::vector<BackendOption> options;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [key, option] : by_key_) {
        options.push_back(option);
      }
    }
    options.insert(options.end(), of_program.begin(), of_program.end());
    return read_runtime_options(table, {options.data(), options.size()}, out);
  }

 private:
  static bool is_empty(const BackendOption& option) {
    const auto* text = std::get_if<std::array<char, kMaxOptionValueLength>>(&option.value);
    return text != nullptr && text->front() == '\0';
  }

  mutable std::mutex mutex_;
  std::map<std::string, BackendOption> by_key_;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
