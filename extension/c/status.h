// SPDX-License-Identifier: BSD-3-Clause
// Where calls of the C interface begin and end: error codes, messages and exceptions become a
// status.
#pragma once

#include <exception>
#include <new>
#include <string>

#include <executorch/c/executorch.h>
#include <executorch/extension/c/handles.h>
#include <executorch/runtime/core/error.h>

namespace executorch::extension::c {

// Collects the errors that the calling thread logs while it lives. One inside another takes over
// meanwhile.
class Messages {
 public:
  Messages();
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  void add(const char* message);
  // "call: Error::Name (0x00)", and a line for each message. Never 0.
  ExecuTorchStatus status(runtime::Error error, const char* call) const noexcept;

 private:
  std::string text_;
  Messages* outer_;
};

// What a function of the table does: `body` returns an Error.
template <typename Body>
ExecuTorchStatus guard(const char* call, Body&& body) noexcept {
  Messages messages;
  runtime::Error error = runtime::Error::Ok;
  try {
    error = body();
  } catch (const std::bad_alloc&) {
    error = runtime::Error::MemoryAllocationFailed;
  } catch (const std::exception& exception) {
    messages.add(exception.what());
    error = runtime::Error::Internal;
  } catch (...) {
    error = runtime::Error::Internal;
  }
  return error == runtime::Error::Ok ? 0 : messages.status(error, call);
}

int32_t status_code(ExecuTorchStatus status) noexcept;
const char* status_message(ExecuTorchStatus status) noexcept;

// Messages that no status has go there; null: to stderr.
void set_log(ExecuTorchLog log, void* context);
// One such message, also of libraries that have a log of their own: into the status, if it is an
// error and a call collects them.
void emit(int32_t level, const char* file, size_t line, const char* message) noexcept;
// Sends the runtime's messages here. No effect if that has been done.
void route_messages();

// Of arguments: InvalidArgument with "expected ..., found NULL".
#define ET_C_NOT_NULL(argument__)                                    \
  ET_CHECK_OR_RETURN_ERROR((argument__) != nullptr, InvalidArgument, \
                           "expected " #argument__ ", found NULL")

}  // namespace executorch::extension::c
