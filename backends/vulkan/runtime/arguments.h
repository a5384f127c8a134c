// SPDX-License-Identifier: BSD-3-Clause
// Elements between the method's tensors and the device's buffers.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/graph.h>
#include <executorch/runtime/backend/ports/ports.h>

namespace executorch::backends::vulkan {

/// Copies `count` elements of a file into a buffer's. Doubles are rounded, Longs cut to 32 bits.
ET_NODISCARD runtime::Error to_elements(const void* from, VkDataType dtype, size_t count,
                                        Element element, uint8_t* out);

/// Whether a method's tensor of one dtype may be the delegate's of another: Long and Int, Float and
/// Half, Float and Double.
bool converts(executorch::aten::ScalarType from, executorch::aten::ScalarType to);

/// An input or output: of the dtype that the method's tensor has in the file, and at most of its
/// sizes there.
runtime::Port port_of(const Tensor& tensor);

/// The device's memory of a tensor, row-major, with the sizes that it has now. Devices have
/// integers of 32 bits: programs that were lowered without VulkanPartitioner take more.
runtime::Elements elements_of(const Tensor& tensor, uint8_t* data);

}  // namespace executorch::backends::vulkan
