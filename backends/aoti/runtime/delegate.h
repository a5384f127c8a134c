// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method, as AOTInductor compiled it.
#pragma once

#include <executorch/backends/aoti/runtime/constants.h>
#include <executorch/backends/aoti/runtime/options.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/named_data_map.h>

#include <memory>
#include <string>

namespace executorch::backends::aoti {

/// Keys of named data.
struct PayloadKeys {
  std::string library, constants;

  /// Of a payload, or of an old file's method where it is empty. Internal for other bytes.
  static runtime::Result<PayloadKeys> read(runtime::Span<const uint8_t> payload,
                                           const std::string& method_name);
};

/// Where a backend's methods run.
struct DeviceRow {
  const char* backend;
  /// Where constants are when not in the program, for messages.
  const char* data_file;
  std::vector<runtime::Span<const Shim>> shims;
  /// Where arguments are.
  Place place = {};
};

/// How a backend runs a compiled method, where not as it is.
class MethodRunner {
 public:
  using Tensors = Container::Tensors;

  virtual ~MethodRunner() = default;
  /// As Container::run(). The outputs are read before the next call.
  virtual runtime::Result<Tensors> run(Container& container, Tensors inputs) = 0;
};

/// Any thread may run it, one at a time.
class Delegate final {
 public:
  /// Errors: NotSupported where native code is not allowed; Internal for a payload that is none, or
  /// a library that is not in the program; NotFound for constants that are nowhere;
  /// InvalidExternalData for constants of another method; what NativeLibrary and Container say.
  static runtime::Result<std::unique_ptr<Delegate>> create(const DeviceRow& row,
                                                           runtime::Span<const uint8_t> payload,
                                                           const runtime::NamedDataMap* named_data,
                                                           const AotiOptions& options);

  /// `args`: inputs, then outputs. Queued on the device's `stream`, whose work may go on behind
  /// this. `runner` runs the method where it uses its own buffers, and not a session's.
  /// InvalidArgument when they are not what was compiled for.
  runtime::Error execute(runtime::Span<runtime::EValue*> args, void* stream = nullptr,
                         MethodRunner* runner = nullptr);

 private:
  Delegate(DeviceRow row, std::shared_ptr<Container> container)
      : row_(std::move(row)), container_(std::move(container)) {}
  runtime::Error load_constants(const runtime::NamedDataMap* named_data, const std::string& key);
  runtime::Error join_sessions();
  /// Has the method use the buffers of the session that the calling thread runs, or its own.
  runtime::Error enter_session();

  DeviceRow row_;
  Constants constants_;  // those that are shared, or change with sessions
  std::shared_ptr<Container> container_;
  std::shared_ptr<SessionState> sessions_;
  int session_ = 0;  // whose buffers the method uses; 0: its own
};

}  // namespace executorch::backends::aoti
