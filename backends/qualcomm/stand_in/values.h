// SPDX-License-Identifier: BSD-3-Clause
// Values of tensors as they are stored, and as the numbers that their encodings say they stand for.
#pragma once

#include <executorch/backends/qualcomm/stand_in/context_generated.h>
#include <executorch/backends/qualcomm/stand_in/qnn.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace executorch::backends::qualcomm::stand_in {

using TensorSpec = qnn_stand_in::TensorT;
using Dims = std::vector<size_t>;

/// Dense, the last dimension innermost.
struct Value {
  Dims dims;
  std::vector<double> numbers;
};

size_t numel(const Dims& dims);
/// In elements.
Dims strides_of(const Dims& dims);
Dims dims_of(const TensorSpec& spec);
std::string text_of(const Dims& dims);

/// Of one element; 0 for a type that is not known.
size_t num_bytes(uint32_t dtype);
size_t num_bytes(const TensorSpec& spec);

/// Why a tensor cannot be used; empty when it can.
std::string why_not(const TensorSpec& spec);

Value read(const TensorSpec& spec, const uint8_t* bytes);
/// The nearest that the tensor can hold; of two as near, the even one. Floats and integers that are
/// cast go towards 0.
void store(const TensorSpec& spec, const Value& value, uint8_t* out);

/// Calls `use(position of the element, places in each dimension)` for all elements.
template <typename Use>
void for_each_place(const Dims& dims, Use use) {
  Dims places(dims.size(), 0);
  const size_t count = numel(dims);
  for (size_t i = 0; i < count; ++i) {
    use(i, places);
    for (size_t d = dims.size(); d > 0 && ++places[d - 1] == dims[d - 1]; --d) {
      places[d - 1] = 0;
    }
  }
}

}  // namespace executorch::backends::qualcomm::stand_in
