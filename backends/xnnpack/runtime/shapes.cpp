// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic is done in 64 bits on 32-bit fields.
#include <executorch/backends/xnnpack/runtime/shapes.h>

#include <algorithm>

namespace executorch::backends::xnnpack {

uint64_t Shape::num_elements() const {
  uint64_t product = 1;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) {
      return 0;
    }
    // Both factors are at most 2^32, so the product does not overflow.
    product =
        product > kMaxElements || dims[i] > kMaxElements ? kMaxElements + 1 : product * dims[i];
  }
  return product;
}

bool Shape::operator==(const Shape& other) const {
  return rank == other.rank && std::equal(dims, dims + rank, other.dims);
}

}  // namespace executorch::backends::xnnpack
