// SPDX-License-Identifier: BSD-3-Clause
// Elements between the method's tensors and the device's buffers.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/graph.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::backends::vulkan {

/// Copies `count` elements of a file into a buffer's. Doubles are rounded, Longs cut to 32 bits.
ET_NODISCARD runtime::Error to_elements(const void* from, VkDataType dtype, size_t count,
                                        Element element, uint8_t* out);

/// The method's tensor into the buffer, row-major, whatever its dim order is. InvalidArgument for a
/// dtype that does not go into the delegate's: it must be the same, Long for INT32, Double for
/// FLOAT32, or Half and FLOAT32.
ET_NODISCARD runtime::Error give_input(const executorch::aten::Tensor& from, size_t index,
                                       const Tensor& tensor, uint8_t* out);

/// Back, into a tensor that has the sizes.
ET_NODISCARD runtime::Error take_output(const uint8_t* from, size_t index, const Tensor& tensor,
                                        const executorch::aten::Tensor& out);

}  // namespace executorch::backends::vulkan
