// SPDX-License-Identifier: BSD-3-Clause
// ATen mode only: PyTorch's tensors over memory that they do not own.
#pragma once

#include <cstddef>

#include <ATen/core/Tensor.h>

namespace executorch {
namespace runtime {
namespace internal {

/// A tensor of `nbytes` bytes at most, over `data`, which may be null and must outlive it. The
/// sizes and strides are copied; the tensor itself is on the heap and goes with its last reference.
at::Tensor make_aten_tensor(c10::ScalarType type, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                            void* data, size_t nbytes, c10::Device device);

}  // namespace internal
}  // namespace runtime
}  // namespace executorch
