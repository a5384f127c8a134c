// SPDX-License-Identifier: BSD-3-Clause
// Rows that are gone through in order, shared by threads all the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch {
namespace kernels {

constexpr int64_t kThreadGrain = 1 << 15;  // elements worth a thread

// Calls run(begin, end) for ranges of `columns`, which each go through `lines` lines in order. What
// two columns write never meets.
template <typename Run>
void parallel_for_columns(int64_t columns, int64_t lines, const Run& run) {
  constexpr int64_t kLeast = 16;  // of a thread: those of two lie in few common cache lines
  const int64_t share = columns / ::executorch::extension::get_num_threads() + 1;
  const int64_t worthwhile = kThreadGrain / std::max<int64_t>(1, lines);
  ::executorch::extension::parallel_for(0, columns, std::max({share, worthwhile, kLeast}), run);
}

}  // namespace kernels
}  // namespace executorch
