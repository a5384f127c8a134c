// SPDX-License-Identifier: BSD-3-Clause
// The documented flag --cpu_threads of programs that run models.
#pragma once

#include <cstddef>
#include <cstdint>

namespace executorch::extension {

// Sizes the process's thread pool: -1 as many threads as there are performance cores, 0 leaves it
// as it is, n > 0 that many. A build without a thread pool says that it runs on one thread when
// more are asked for. To be called before anything runs.
void set_cpu_threads(int32_t cpu_threads);

// How many threads kernels run on now.
size_t num_cpu_threads();

}  // namespace executorch::extension
