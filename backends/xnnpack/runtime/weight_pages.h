// SPDX-License-Identifier: BSD-3-Clause
// Memory of packed weights, side by side in large pages where the system has those: a pass over
// the weights of a language model looks up a page of 4 KiB every few hundred cycles, which takes
// as long as reading it.
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

/// Memory of kBlockAlignment (memory.h), all zero; null when there is none. Any thread.
void* allocate_weights(size_t size);

/// What allocate_weights gave, to the system; null has no effect. Any thread.
void free_weights(void* block);

}  // namespace executorch::backends::xnnpack
