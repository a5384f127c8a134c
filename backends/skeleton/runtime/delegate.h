// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a verified payload, its constants, and how to run it.
#pragma once

#include <executorch/backends/skeleton/runtime/options.h>
#include <executorch/backends/skeleton/skeleton_generated.h>
#include <executorch/runtime/backend/backend_execution_context.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/named_data_map.h>

namespace executorch::backends::skeleton {

/// Reads the payload and the constants where the program has them: both must outlive it. Any thread
/// may run it, one at a time.
class Delegate final {
 public:
  /// A delegate in memory of `allocator`; whoever gets it calls its destructor. Errors:
  /// DelegateInvalidCompatibility for bytes that are no payload; what `named_data` says of a key it
  /// does not have; MemoryAllocationFailed.
  static runtime::Result<Delegate*> create(const void* payload, size_t size,
                                           const runtime::NamedDataMap* named_data,
                                           runtime::MemoryAllocator& allocator,
                                           const SkeletonOptions& options = {});
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  /// `args`: inputs, then outputs, which take the sizes that the inputs give them. InvalidArgument
  /// when they are not what was compiled for, and when check_finite finds another number.
  runtime::Error execute(runtime::BackendExecutionContext& context,
                         runtime::Span<runtime::EValue*> args) const;

 private:
  Delegate(const fb_skeleton::Graph& graph, const SkeletonOptions& options)
      : graph_(graph), options_(options) {}
  runtime::Error load_constants(const runtime::NamedDataMap* named_data,
                                runtime::MemoryAllocator& allocator);

  const fb_skeleton::Graph& graph_;
  SkeletonOptions options_;
  runtime::Span<runtime::FreeableBuffer> constants_;
};

}  // namespace executorch::backends::skeleton
