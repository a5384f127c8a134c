// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a model that Samsung's library has opened, with its buffers.
#pragma once

#include <executorch/backends/samsung/runtime/library.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>

#include <memory>

namespace executorch::backends::enn {

/// Any thread may run it, one at a time. It refers to the payload.
class Delegate final {
 public:
  /// Internal where the library does not take the payload, InvalidProgram for one that no model
  /// can be.
  static runtime::Result<std::unique_ptr<Delegate>> create(const Api& api,
                                                           runtime::Span<const uint8_t> payload);
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  /// `args`: inputs, then outputs, which are copied. InvalidArgument when they are not what was
  /// compiled for.
  runtime::Error execute(runtime::Span<runtime::EValue*> args);

 private:
  explicit Delegate(const Api& api) : api_(api) {}
  runtime::Error load(runtime::Span<const uint8_t> payload);

  const Api& api_;
  bool is_open_ = false;
  EnnModelId model_ = 0;
  EnnBufferPtr* buffers_ = nullptr;
  NumberOfBuffersInfo counts_ = {};
};

}  // namespace executorch::backends::enn
