// SPDX-License-Identifier: BSD-3-Clause
// 8-bit GEMMs on AMX tiles, where processor and system have them. XNNPACK's kernels for those
// take 16 rows and 64 columns, and where XNNPACK takes them, it does so for all GEMMs. But a
// narrow layer leaves much of 64 columns empty, and short sums take less time than what follows.
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

/// While it lives, 8-bit convolutions that this thread creates are of this size: a GEMM of pixels
/// of `depth` channels with `outputs` filters for each tap. All other 8-bit GEMMs use tiles.
class GemmSize {
 public:
  GemmSize(size_t depth, size_t outputs);
  ~GemmSize();
  GemmSize(const GemmSize&) = delete;
  GemmSize& operator=(const GemmSize&) = delete;
};

}  // namespace executorch::backends::xnnpack
