// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/cuda/caller_stream.h>

namespace executorch::extension::cuda {

namespace {

thread_local std::optional<cudaStream_t> caller_stream;

}  // namespace

std::optional<cudaStream_t> getCallerStream() {
  return caller_stream;
}

CallerStreamGuard::CallerStreamGuard(cudaStream_t stream) : previous_(caller_stream) {
  caller_stream = stream;
}

CallerStreamGuard::~CallerStreamGuard() {
  caller_stream = previous_;
}

}  // namespace executorch::extension::cuda
