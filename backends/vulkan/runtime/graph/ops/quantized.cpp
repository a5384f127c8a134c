// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>
namespace executorch::backends::vulkan {
Operators quantized_operators() {
  return {};
}
}  // namespace executorch::backends::vulkan
