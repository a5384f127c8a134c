// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a loaded function of a model, and how a program's tensors are
// given to it.
#pragma once

#include <executorch/backends/apple/coreml/runtime/core_ml.h>
#include <executorch/backends/apple/coreml/runtime/payload.h>
#include <executorch/backends/apple/coreml/runtime/settings.h>
#include <executorch/runtime/backend/files/disk_cache.h>
#include <executorch/runtime/backend/ports/ports.h>

#include <memory>
#include <optional>
#include <vector>

namespace executorch::backends::coreml {

/// What init() returns. Different delegates run side by side, each on one thread at a time.
class Delegate final {
 public:
  /// Compiles the model unless `cache` has it, and loads it; nothing of the payload is needed
  /// afterwards. Errors: InvalidProgram for what Core ML does not take, and a model that is not
  /// what its metadata says; DelegateInvalidCompatibility for one of a later system; what the cache
  /// says.
  static runtime::Result<std::unique_ptr<Delegate>> create(
      const CoreML& core_ml, const Payload& payload, const Settings& settings, bool prewarms,
      std::shared_ptr<runtime::DiskCache> cache);

  /// `args`: inputs, then outputs, which take the sizes that the model gives them. Tensors of any
  /// order of dimensions; numbers become the model's dtype, and those that it does not hold are
  /// errors. InvalidArgument for others than were compiled for; DelegateInvalidHandle when the
  /// prediction fails.
  runtime::Error execute(runtime::Span<runtime::EValue*> args, runtime::EventTracer* tracer);

 private:
  Delegate(std::unique_ptr<Model> model, runtime::DiskCache::Entry entry);
  runtime::Error bind(const Payload& payload);
  runtime::Error prewarm();
  runtime::Error predict(const std::vector<NamedElements>& inputs,
                         std::vector<NamedElements> outputs,
                         runtime::Span<runtime::EValue*> values);
  void report(runtime::EventTracer* tracer, uint64_t start, uint64_t end);

  runtime::DiskCache::Entry entry_;  // in use as long as the model is
  std::unique_ptr<Model> model_;
  runtime::Ports ports_;
  bool takes_memory_ = true;  // whether the model writes to memory that it is given
  std::optional<std::vector<PlannedOperation>> plan_;
};

}  // namespace executorch::backends::coreml
