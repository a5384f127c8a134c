// SPDX-License-Identifier: BSD-3-Clause
// Sizes of allocations that are aligned inside a larger block.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::utils {

using ::executorch::runtime::Error;
using ::executorch::runtime::Result;

// Bytes to take from malloc() so that `size` bytes at a multiple of `alignment` lie inside.
// InvalidArgument if the alignment is not a power of two or the sum does not fit.
inline Result<size_t> get_aligned_size(size_t size, size_t alignment) {
  ET_CHECK_OR_RETURN_ERROR(alignment != 0 && (alignment & (alignment - 1)) == 0, InvalidArgument,
                           "Expected an alignment that is a power of two, got %zu", alignment);
  const size_t slack = alignment > alignof(std::max_align_t) ? alignment - 1 : 0;
  ET_CHECK_OR_RETURN_ERROR(size <= static_cast<size_t>(PTRDIFF_MAX) - slack, InvalidArgument,
                           "%zu bytes aligned to %zu cannot be one object", size, alignment);
  return size + slack;
}

}  // namespace executorch::extension::utils
