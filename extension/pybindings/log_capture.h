// SPDX-License-Identifier: BSD-3-Clause
// Messages of the runtime, and errors as Python exceptions.
#pragma once

#include <stdexcept>
#include <string>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::pybindings {

// Becomes executorch.extension.pybindings._portable_lib.ExecuTorchError, a RuntimeError.
class RuntimeFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Sends messages of the runtime to stderr as "[file:line] message", except for errors that a
// LogCapture collects. To be called once, when the module is imported.
void route_messages();

// For this and other native modules that run on this runtime. Collects the errors that the calling
// thread logs while this lives. One inside another takes over meanwhile. Works with and without the
// interpreter lock.
class __attribute__((visibility("default"))) LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  // Throws RuntimeFailure unless the error is Ok: `what`, the error's name and number, and the
  // messages collected.
  void check(executorch::runtime::Error error, const std::string& what) const;

  template <typename T>
  T take(executorch::runtime::Result<T>&& result, const std::string& what) const {
    check(result.error(), what);
    return std::move(result.get());
  }

 private:
  friend void collect_message(const char* message);

  std::string messages_;
  LogCapture* outer_;
};

// Throws RuntimeFailure for an argument that was found wrong before the runtime saw it.
[[noreturn]] void fail_argument(const std::string& message);

}  // namespace executorch::extension::pybindings
