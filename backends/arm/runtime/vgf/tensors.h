// SPDX-License-Identifier: BSD-3-Clause
// Tensors of a VGF file on the device, those that are no constants.
#pragma once

#include <executorch/backends/arm/runtime/vgf/payload.h>
#include <executorch/backends/vulkan_device/memory.h>

#include <vector>

namespace executorch::backends::arm::vgf {

/// How Vulkan sees a resource, which must outlive it.
VkTensorDescriptionARM description_of(const Resource& resource);

/// Movable; the device must outlive it.
class Tensors final {
 public:
  /// Those that segments and ports name; inputs and outputs in memory that the host sees.
  static runtime::Result<Tensors> create(vulkan::Device& device, const Payload& payload);

  VkTensorViewARM view(uint32_t resource) const { return tensors_[resource].view.get(); }
  /// Of an input or output.
  uint8_t* mapped(uint32_t resource) const { return memories_[tensors_[resource].memory].mapped(); }

 private:
  struct Tensor {
    vulkan::Owned<VkTensorARM> handle;
    vulkan::Owned<VkTensorViewARM> view;
    size_t memory = 0;
    VkMemoryRequirements needed{};
  };
  ET_NODISCARD runtime::Error create_tensor(vulkan::Device& device, const Resource& resource,
                                            Tensor& out);
  ET_NODISCARD runtime::Error allocate(vulkan::Device& device, const Payload& payload,
                                       const std::vector<bool>& is_port);
  ET_NODISCARD runtime::Error bind(vulkan::Device& device, const Payload& payload);

  std::vector<vulkan::Memory> memories_;
  std::vector<Tensor> tensors_;  // by resource; destroyed before their memory
};

}  // namespace executorch::backends::arm::vgf
