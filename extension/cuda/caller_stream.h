// SPDX-License-Identifier: BSD-3-Clause
// The CUDA stream on which a program has its methods run:
//
//   CallerStreamGuard guard(my_stream);  // of this thread, until the end of the block
//   module.forward(input);               // queued on my_stream; the caller waits for it
#pragma once

#include <optional>

struct CUstream_st;
// As NVIDIA's headers declare it.
typedef struct CUstream_st* cudaStream_t;

namespace executorch::extension::cuda {

/// That of the innermost guard of the calling thread.
std::optional<cudaStream_t> getCallerStream();

/// On the stack of one thread. The stream outlives it, and what was queued on it.
class CallerStreamGuard final {
 public:
  explicit CallerStreamGuard(cudaStream_t stream);
  ~CallerStreamGuard();
  CallerStreamGuard(const CallerStreamGuard&) = delete;
  CallerStreamGuard& operator=(const CallerStreamGuard&) = delete;

 private:
  std::optional<cudaStream_t> previous_;
};

}  // namespace executorch::extension::cuda
