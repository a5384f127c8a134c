// SPDX-License-Identifier: BSD-3-Clause
// What QNN is asked through: a log, a backend and a device of a library, and how fast that runs.
#pragma once

#include <executorch/backends/qualcomm/runtime/library.h>
#include <executorch/backends/qualcomm/runtime/options.h>

#include <memory>
#include <string>

namespace executorch::backends::qualcomm {

class Session final {
 public:
  /// `library` outlives it. Internal when a function fails, with its name and the library's
  /// version.
  static runtime::Result<std::shared_ptr<Session>> create(const Library& library,
                                                          const Options& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Library& library() const { return library_; }
  const Functions& functions() const { return library_.functions; }
  Qnn_BackendHandle_t backend() const { return backend_; }
  Qnn_DeviceHandle_t device() const { return device_; }

  /// Empty when `status` is QNN_SUCCESS; else the function, the library, its version and what it
  /// logged; `note`: more.
  std::string why_failed(Qnn_ErrorHandle_t status, const char* function,
                         const std::string& note = "") const;

  /// The same as an error: Internal, with the text in the log.
  runtime::Error check(Qnn_ErrorHandle_t status, const char* function,
                       const std::string& note = "") const;

  runtime::Error set_log_level(int32_t level) const;

 private:
  explicit Session(const Library& library) : library_(library) {}
  runtime::Error open(const Options& options);
  runtime::Error open_device(const Options& options);

  const Library& library_;
  Qnn_LogHandle_t log_ = nullptr;
  Qnn_BackendHandle_t backend_ = nullptr;
  Qnn_DeviceHandle_t device_ = nullptr;
};

/// A session that others have open with the same library and device, else a new one.
runtime::Result<std::shared_ptr<Session>> shared_session(const Library& library,
                                                         const Options& options);

}  // namespace executorch::backends::qualcomm
