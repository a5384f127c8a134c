// SPDX-License-Identifier: BSD-3-Clause
// Conversion of the platform's ticks.
#pragma once

#include <cstdint>

#include <executorch/runtime/platform/platform.h>

namespace executorch {
namespace runtime {

/// `ticks` in nanoseconds. Exact where the ratio is 1/1; otherwise the product must fit 64 bits.
inline uint64_t ticks_to_ns(et_timestamp_t ticks) {
  const et_tick_ratio_t ratio = pal_ticks_to_ns_multiplier();
  return static_cast<uint64_t>(ticks) * ratio.numerator / ratio.denominator;
}

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::ticks_to_ns;
}  // namespace torch::executor
