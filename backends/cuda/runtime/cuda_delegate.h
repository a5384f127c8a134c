// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method on a GPU: what runs anywhere, and its stream.
#pragma once

#include <executorch/backends/cuda/runtime/cuda_graph.h>
#include <executorch/backends/cuda/runtime/options.h>

#include <memory>

namespace executorch::backends::cuda {

/// Any thread may run it, one at a time.
class CudaDelegate final {
 public:
  /// Errors: those of aoti::Delegate; NotFound without the CUDA runtime, a driver or the device;
  /// those of check_cuda().
  static runtime::Result<std::unique_ptr<CudaDelegate>> create(
      runtime::Span<const uint8_t> payload, const runtime::NamedDataMap* named_data,
      const CudaOptions& options);
  ~CudaDelegate();

  /// Done when it returns; on the stream of a CallerStreamGuard, queued. NotSupported for the
  /// stream of a caller where the method runs as a graph.
  runtime::Error execute(runtime::Span<runtime::EValue*> args);

 private:
  CudaDelegate(const CudaApi& api, int device, std::shared_ptr<Stream> stream)
      : api_(api), device_(device), stream_(std::move(stream)) {}

  const CudaApi& api_;
  int device_;
  std::shared_ptr<Stream> stream_;
  std::unique_ptr<aoti::Delegate> delegate_;
  std::unique_ptr<GraphRunner> graph_;  // null: runs without
};

}  // namespace executorch::backends::cuda
