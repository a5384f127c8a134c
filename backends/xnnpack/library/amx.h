// SPDX-License-Identifier: BSD-3-Clause
// Products of bytes on AMX tiles, where processor and system have them. XNNPACK's kernels for those
// take 16 rows and 64 columns, and where XNNPACK takes them, it does so for all products. But a
// narrow layer leaves much of 64 columns empty, and short sums take less time than what follows.
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

/// While it lives, convolutions of bytes that this thread creates are of this size: a product of
/// pixels of `depth` channels with `outputs` filters for each tap. All other products of bytes use
/// tiles.
class ProductSize {
 public:
  ProductSize(size_t depth, size_t outputs);
  ~ProductSize();
  ProductSize(const ProductSize&) = delete;
  ProductSize& operator=(const ProductSize&) = delete;
};

}  // namespace executorch::backends::xnnpack
