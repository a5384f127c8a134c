// SPDX-License-Identifier: BSD-3-Clause
// One segment of a VGF file on the device: its pipeline, and a session with the memory that it
// needs.
#pragma once

#include <executorch/backends/arm/runtime/vgf/payload.h>
#include <executorch/backends/arm/runtime/vgf/tensors.h>
#include <executorch/backends/vulkan_device/memory.h>

#include <vector>

namespace executorch::backends::arm::vgf {

/// Movable; the device and the tensors must outlive it.
class Graph final {
 public:
  /// The payload is read during the call only: the driver copies constants into the pipeline.
  static runtime::Result<Graph> create(vulkan::Device& device, const Payload& payload,
                                       const Segment& segment, const Tensors& tensors);

  void record(vulkan::Device& device, VkCommandBuffer commands) const;

 private:
  ET_NODISCARD runtime::Error create_layout(vulkan::Device& device, const Segment& segment);
  ET_NODISCARD runtime::Error create_pipeline(vulkan::Device& device, const Payload& payload,
                                              const Segment& segment);
  ET_NODISCARD runtime::Error create_session(vulkan::Device& device);
  ET_NODISCARD runtime::Error bind_session(vulkan::Device& device,
                                           VkDataGraphPipelineSessionBindPointARM point,
                                           uint32_t object);
  ET_NODISCARD runtime::Error create_sets(vulkan::Device& device, const Segment& segment,
                                          const Tensors& tensors);

  std::vector<vulkan::Owned<VkDescriptorSetLayout>> set_layouts_;
  vulkan::Owned<VkPipelineLayout> layout_;
  vulkan::Owned<VkPipeline> pipeline_;
  std::vector<vulkan::Memory> session_memory_;
  vulkan::Owned<VkDataGraphPipelineSessionARM> session_;
  vulkan::Owned<VkDescriptorPool> pool_;
  std::vector<VkDescriptorSet> sets_;  // the pool's
};

}  // namespace executorch::backends::arm::vgf
