// SPDX-License-Identifier: BSD-3-Clause
// A method's work as a CUDA graph: run a few times, recorded once, then launched as a whole.
#pragma once

#include <executorch/backends/aoti/runtime/delegate.h>
#include <executorch/backends/cuda/runtime/cuda_stream.h>

#include <memory>

namespace executorch::backends::cuda {

/// Calls before the one that records: kernels are loaded and chosen in them.
inline constexpr int kWarmUpCalls = 3;

/// What is recorded reads and writes memory of its own, so that arguments may be elsewhere in each
/// call. One thread at a time, on the stream that it was made for.
class GraphRunner final : public aoti::MethodRunner {
 public:
  GraphRunner(const CudaApi& api, std::shared_ptr<Stream> stream)
      : api_(api), stream_(std::move(stream)) {}
  ~GraphRunner() override;

  /// InvalidArgument for inputs of other shapes than those recorded; NotSupported for a method that
  /// waits for the GPU; those of check_cuda().
  runtime::Result<Tensors> run(aoti::Container& container, Tensors inputs) override;

 private:
  runtime::Result<Tensors> warm_up(aoti::Container& container, Tensors inputs);
  runtime::Error record(aoti::Container& container);
  runtime::Error queue_and_copy(aoti::Container& container);

  const CudaApi& api_;
  std::shared_ptr<Stream> stream_;
  int calls_ = 0;
  Tensors inputs_, outputs_;  // what is recorded reads and writes
  cudaGraphExec_t recorded_ = nullptr;
};

}  // namespace executorch::backends::cuda
