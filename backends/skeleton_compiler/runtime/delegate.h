// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a graph of a context that the vendor's library has loaded.
#pragma once

#include <executorch/backends/skeleton_compiler/runtime/library.h>
#include <executorch/backends/skeleton_compiler/runtime/options.h>
#include <executorch/runtime/backend/ports/ports.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/named_data_map.h>

#include <memory>
#include <string>

namespace executorch::backends::skeleton_compiler {

/// Any thread may run it, one at a time.
class Delegate final {
 public:
  /// Reads the context binary for this device where the program has it, which must outlive the
  /// delegate; nothing of the payload is kept. Errors: DelegateInvalidCompatibility for bytes that
  /// are no payload, and NotSupported for one of another version or for other devices, each with
  /// what is there and what is needed; what `named_data` says of a key that it does not have.
  static runtime::Result<std::unique_ptr<Delegate>> create(
      const Api& api, runtime::Span<const uint8_t> payload, const runtime::NamedDataMap* named_data,
      const SkeletonCompilerOptions& options = {});
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  /// `args`: inputs, then outputs. InvalidArgument when they are not what was compiled for.
  runtime::Error execute(runtime::Span<runtime::EValue*> args);

 private:
  Delegate(const Api& api, std::string graph) : api_(api), graph_(std::move(graph)) {}
  runtime::Error load(const SkeletonCompilerOptions& options);

  const Api& api_;
  std::string graph_;
  runtime::FreeableBuffer binary_;
  vendor_context* context_ = nullptr;
  runtime::Ports ports_{"SkeletonCompilerBackend"};
};

}  // namespace executorch::backends::skeleton_compiler
