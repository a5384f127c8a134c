// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace executorch::runtime {

// Brings the cache line at `address` into L2 for a read that follows. Any address may be given; no
// effect with compilers that have no builtin for it.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address, /*rw=*/0, /*locality=*/2);
#endif
}

}  // namespace executorch::runtime
