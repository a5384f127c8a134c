// SPDX-License-Identifier: BSD-3-Clause
// ATen mode: kernels run on PyTorch's threads.
#include <executorch/extension/runner_util/threads.h>

#include <ATen/Parallel.h>

namespace executorch::extension {

void set_cpu_threads(int32_t cpu_threads) {
  if (cpu_threads > 0) {  // PyTorch's own default is the number of physical cores
    at::set_num_threads(cpu_threads);
  }
}

size_t num_cpu_threads() {
  return static_cast<size_t>(at::get_num_threads());
}

}  // namespace executorch::extension
