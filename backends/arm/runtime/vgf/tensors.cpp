// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/arm/runtime/vgf/tensors.h>

#include <algorithm>
#include <map>

namespace executorch::backends::arm::vgf {

using runtime::Error;
using runtime::Result;
using vulkan::check;
using vulkan::Device;
using vulkan::GraphApi;
using vulkan::Memory;
using vulkan::MemoryKind;

VkTensorDescriptionARM description_of(const Resource& resource) {
  VkTensorDescriptionARM out{VK_STRUCTURE_TYPE_TENSOR_DESCRIPTION_ARM};
  out.tiling = VK_TENSOR_TILING_LINEAR_ARM;
  out.format = static_cast<VkFormat>(resource.format->number);
  out.dimensionCount = static_cast<uint32_t>(resource.sizes.size());
  out.pDimensions = resource.sizes.data();
  out.usage = VK_TENSOR_USAGE_DATA_GRAPH_BIT_ARM;
  return out;
}

Result<Tensors> Tensors::create(Device& device, const Payload& payload) {
  std::vector<bool> is_port(payload.resources.size());
  for (const std::vector<uint32_t>* ports : {&payload.inputs, &payload.outputs}) {
    for (const uint32_t resource : *ports) {
      is_port[resource] = true;
    }
  }
  std::vector<bool> is_used = is_port;
  for (const Segment& segment : payload.segments) {
    for (const Binding& binding : segment.bindings) {
      is_used[binding.resource] = true;
    }
  }
  Tensors out;
  out.tensors_.resize(payload.resources.size());
  for (size_t i = 0; i < payload.resources.size(); ++i) {
    if (is_used[i]) {
      ET_CHECK_OK_OR_RETURN_ERROR(out.create_tensor(device, payload.resources[i], out.tensors_[i]));
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(out.allocate(device, payload, is_port));
  ET_CHECK_OK_OR_RETURN_ERROR(out.bind(device, payload));
  return out;
}

Error Tensors::create_tensor(Device& device, const Resource& resource, Tensor& out) {
  const GraphApi& api = device.graph_api;
  const VkTensorDescriptionARM description = description_of(resource);
  VkTensorCreateInfoARM info{VK_STRUCTURE_TYPE_TENSOR_CREATE_INFO_ARM};
  info.pDescription = &description;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(device.handle, info, api.vkCreateTensorARM,
                                             api.vkDestroyTensorARM, "creating a tensor",
                                             out.handle));
  VkTensorMemoryRequirementsInfoARM asked{VK_STRUCTURE_TYPE_TENSOR_MEMORY_REQUIREMENTS_INFO_ARM};
  asked.tensor = out.handle.get();
  VkMemoryRequirements2 needed{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  api.vkGetTensorMemoryRequirementsARM(device.handle, &asked, &needed);
  out.needed = needed.memoryRequirements;
  out.needed.size = std::max<VkDeviceSize>(out.needed.size, resource.num_bytes);
  return Error::Ok;
}

/// Memory for each tensor, and one for each group of those that share it.
Error Tensors::allocate(Device& device, const Payload& payload, const std::vector<bool>& is_port) {
  struct Wanted {
    VkMemoryRequirements needed{0, 1, ~uint32_t{0}};
    bool is_port = false;
  };
  std::vector<Wanted> wanted;
  std::map<int64_t, size_t> groups;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    Tensor& tensor = tensors_[i];
    const int64_t group = payload.resources[i].alias_group;
    if (tensor.handle.get() == VK_NULL_HANDLE) {
      continue;
    }
    tensor.memory = wanted.size();
    if (group >= 0) {
      tensor.memory = groups.emplace(group, wanted.size()).first->second;
    }
    if (tensor.memory == wanted.size()) {
      wanted.emplace_back();
    }
    Wanted& memory = wanted[tensor.memory];
    memory.needed.size = std::max(memory.needed.size, tensor.needed.size);
    memory.needed.memoryTypeBits &= tensor.needed.memoryTypeBits;
    memory.is_port = memory.is_port || is_port[i];
  }
  for (const Wanted& each : wanted) {
    memories_.push_back(ET_UNWRAP(Memory::allocate(
        device, each.needed, each.is_port ? MemoryKind::kShared : MemoryKind::kDevice)));
  }
  return Error::Ok;
}

Error Tensors::bind(Device& device, const Payload& payload) {
  const GraphApi& api = device.graph_api;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    Tensor& tensor = tensors_[i];
    if (tensor.handle.get() == VK_NULL_HANDLE) {
      continue;
    }
    VkBindTensorMemoryInfoARM bound{VK_STRUCTURE_TYPE_BIND_TENSOR_MEMORY_INFO_ARM};
    bound.tensor = tensor.handle.get();
    bound.memory = memories_[tensor.memory].handle();
    ET_CHECK_OK_OR_RETURN_ERROR(
        check(api.vkBindTensorMemoryARM(device.handle, 1, &bound), "binding a tensor's memory"));
    VkTensorViewCreateInfoARM info{VK_STRUCTURE_TYPE_TENSOR_VIEW_CREATE_INFO_ARM};
    info.tensor = tensor.handle.get();
    info.format = static_cast<VkFormat>(payload.resources[i].format->number);
    ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(device.handle, info, api.vkCreateTensorViewARM,
                                               api.vkDestroyTensorViewARM,
                                               "creating a view of a tensor", tensor.view));
  }
  return Error::Ok;
}

}  // namespace executorch::backends::arm::vgf
