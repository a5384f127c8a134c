// SPDX-License-Identifier: BSD-3-Clause
// Memory of packed weights, side by side in large pages where the system has those: a pass over
// the weights of a language model looks up a page of 4 KiB every few hundred cycles, which takes
// as long as reading it.
#pragma once

#include <pthreadpool.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace executorch::backends::xnnpack {

/// Memory of kBlockAlignment (memory.h), all zero; null when there is none. Any thread. Waits for
/// large pages no longer than 20 ms for each 256 MB, then takes ordinary ones, which become large
/// afterwards (extension/memory_allocator/large_pages.h). The system clears pages on the threads of
/// `pool`, null: on the calling one.
void* allocate_weights(size_t size, pthreadpool_t pool = nullptr);

/// What allocate_weights gave, to the system; null has no effect. Any thread.
void free_weights(void* block);

/// Ticks of the steady clock for which large pages are waited for.
using Patience = std::atomic<int64_t>;

/// Makes the large pages that begin in these bytes be there: mapped memory without contents, for
/// which the system may use large pages. Each changes `patience` by how much sooner it came than as
/// many ordinary pages do; without patience it is ordinary ones: where. Any thread, with those of
/// `pool`.
std::vector<uint8_t*> touch_large_pages(uint8_t* begin, size_t size, Patience& patience,
                                        pthreadpool_t pool = nullptr);

}  // namespace executorch::backends::xnnpack
