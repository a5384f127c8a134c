// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/arm/runtime/vgf/graph.h>

#include <algorithm>

namespace executorch::backends::arm::vgf {

using runtime::Error;
using runtime::Result;
using vulkan::Api;
using vulkan::check;
using vulkan::Device;
using vulkan::GraphApi;
using vulkan::Memory;
using vulkan::MemoryKind;

namespace {

size_t num_sets(const Segment& segment) {
  uint32_t last = 0;
  for (const Binding& binding : segment.bindings) {
    last = std::max(last, binding.set);
  }
  return size_t{last} + 1;
}

/// The constants of a segment as Vulkan takes them; stays where it is.
class Constants final {
 public:
  Constants(const Payload& payload, const Segment& segment)
      : descriptions_(segment.constants.size()),
        sparsities_(segment.constants.size()),
        infos_(segment.constants.size()) {
    for (size_t i = 0; i < infos_.size(); ++i) {
      const Constant& constant = payload.constants[segment.constants[i].constant];
      descriptions_[i] = description_of(*constant.resource);
      if (constant.sparse_dim >= 0) {
        sparsities_[i] = {
            VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_CONSTANT_TENSOR_SEMI_STRUCTURED_SPARSITY_INFO_ARM,
            nullptr, static_cast<uint32_t>(constant.sparse_dim), 2, 4};
        descriptions_[i].pNext = &sparsities_[i];
      }
      infos_[i] = {VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_CONSTANT_ARM, &descriptions_[i],
                   segment.constants[i].id, constant.data};
    }
  }
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;

  const std::vector<VkDataGraphPipelineConstantARM>& infos() const { return infos_; }

 private:
  std::vector<VkTensorDescriptionARM> descriptions_;
  std::vector<VkDataGraphPipelineConstantTensorSemiStructuredSparsityInfoARM> sparsities_;
  std::vector<VkDataGraphPipelineConstantARM> infos_;
};

}  // namespace

Result<Graph> Graph::create(Device& device, const Payload& payload, const Segment& segment,
                            const Tensors& tensors) {
  Graph graph;
  ET_CHECK_OK_OR_RETURN_ERROR(graph.create_layout(device, segment));
  ET_CHECK_OK_OR_RETURN_ERROR(graph.create_pipeline(device, payload, segment));
  ET_CHECK_OK_OR_RETURN_ERROR(graph.create_session(device));
  ET_CHECK_OK_OR_RETURN_ERROR(graph.create_sets(device, segment, tensors));
  return graph;
}

Error Graph::create_layout(Device& device, const Segment& segment) {
  const Api& api = device.api;
  std::vector<VkDescriptorSetLayout> handles;
  set_layouts_.resize(num_sets(segment));
  for (uint32_t set = 0; set < set_layouts_.size(); ++set) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (const Binding& binding : segment.bindings) {
      if (binding.set == set) {
        bindings.push_back(
            {binding.number, VK_DESCRIPTOR_TYPE_TENSOR_ARM, 1, VK_SHADER_STAGE_ALL, nullptr});
      }
    }
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = static_cast<uint32_t>(bindings.size());
    info.pBindings = bindings.data();
    ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(
        device.handle, info, api.vkCreateDescriptorSetLayout, api.vkDestroyDescriptorSetLayout,
        "creating a descriptor layout of tensors", set_layouts_[set]));
    handles.push_back(set_layouts_[set].get());
  }
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = static_cast<uint32_t>(handles.size());
  info.pSetLayouts = handles.data();
  return vulkan::create(device.handle, info, api.vkCreatePipelineLayout,
                        api.vkDestroyPipelineLayout, "creating a pipeline layout", layout_);
}

Error Graph::create_pipeline(Device& device, const Payload& payload, const Segment& segment) {
  const Api& api = device.api;
  VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  code.codeSize = segment.code.size() * sizeof(uint32_t);
  code.pCode = segment.code.data();
  vulkan::Owned<VkShaderModule> module;
  ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(device.handle, code, api.vkCreateShaderModule,
                                             api.vkDestroyShaderModule,
                                             "creating a module of a graph", module));
  const Constants constants(payload, segment);
  VkDataGraphPipelineShaderModuleCreateInfoARM graph{
      VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SHADER_MODULE_CREATE_INFO_ARM};
  graph.module = module.get();
  graph.pName = segment.entry_point.c_str();
  graph.constantCount = static_cast<uint32_t>(constants.infos().size());
  graph.pConstants = constants.infos().data();
  const size_t count = segment.bindings.size();
  std::vector<VkTensorDescriptionARM> descriptions(count);
  std::vector<VkDataGraphPipelineResourceInfoARM> resources(count);
  for (size_t i = 0; i < count; ++i) {
    const Binding& binding = segment.bindings[i];
    descriptions[i] = description_of(payload.resources[binding.resource]);
    resources[i] = {VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_RESOURCE_INFO_ARM, &descriptions[i],
                    binding.set, binding.number, 0};
  }
  VkDataGraphPipelineCreateInfoARM info{VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_CREATE_INFO_ARM};
  info.pNext = &graph;
  info.layout = layout_.get();
  info.resourceInfoCount = static_cast<uint32_t>(count);
  info.pResourceInfos = resources.data();
  VkPipeline made = VK_NULL_HANDLE;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(device.graph_api.vkCreateDataGraphPipelinesARM(
                device.handle, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info, nullptr, &made),
            "creating the pipeline of a graph"));
  pipeline_ = vulkan::Owned<VkPipeline>(device.handle, made, api.vkDestroyPipeline);
  return Error::Ok;
}

Error Graph::create_session(Device& device) {
  const GraphApi& api = device.graph_api;
  VkDataGraphPipelineSessionCreateInfoARM info{
      VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SESSION_CREATE_INFO_ARM};
  info.dataGraphPipeline = pipeline_.get();
  ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(
      device.handle, info, api.vkCreateDataGraphPipelineSessionARM,
      api.vkDestroyDataGraphPipelineSessionARM, "creating the session of a graph", session_));
  VkDataGraphPipelineSessionBindPointRequirementsInfoARM asked{
      VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SESSION_BIND_POINT_REQUIREMENTS_INFO_ARM};
  asked.session = session_.get();
  uint32_t count = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check(api.vkGetDataGraphPipelineSessionBindPointRequirementsARM(
                                        device.handle, &asked, &count, nullptr),
                                    "counting what a session needs"));
  std::vector<VkDataGraphPipelineSessionBindPointRequirementARM> points(
      count, {VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SESSION_BIND_POINT_REQUIREMENT_ARM});
  ET_CHECK_OK_OR_RETURN_ERROR(check(api.vkGetDataGraphPipelineSessionBindPointRequirementsARM(
                                        device.handle, &asked, &count, points.data()),
                                    "asking what a session needs"));
  for (const auto& point : points) {
    ET_CHECK_OR_RETURN_ERROR(
        point.bindPointType == VK_DATA_GRAPH_PIPELINE_SESSION_BIND_POINT_TYPE_MEMORY_ARM,
        NotSupported, "VgfBackend: the session of a graph needs something else than memory (%d)",
        static_cast<int>(point.bindPointType));
    for (uint32_t object = 0; object < point.numObjects; ++object) {
      ET_CHECK_OK_OR_RETURN_ERROR(bind_session(device, point.bindPoint, object));
    }
  }
  return Error::Ok;
}

Error Graph::bind_session(Device& device, VkDataGraphPipelineSessionBindPointARM point,
                          uint32_t object) {
  const GraphApi& api = device.graph_api;
  VkDataGraphPipelineSessionMemoryRequirementsInfoARM asked{
      VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SESSION_MEMORY_REQUIREMENTS_INFO_ARM};
  asked.session = session_.get();
  asked.bindPoint = point;
  asked.objectIndex = object;
  VkMemoryRequirements2 needed{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  api.vkGetDataGraphPipelineSessionMemoryRequirementsARM(device.handle, &asked, &needed);
  if (needed.memoryRequirements.size == 0) {
    return Error::Ok;
  }
  session_memory_.push_back(
      ET_UNWRAP(Memory::allocate(device, needed.memoryRequirements, MemoryKind::kDevice)));
  VkBindDataGraphPipelineSessionMemoryInfoARM bound{
      VK_STRUCTURE_TYPE_BIND_DATA_GRAPH_PIPELINE_SESSION_MEMORY_INFO_ARM};
  bound.session = session_.get();
  bound.bindPoint = point;
  bound.objectIndex = object;
  bound.memory = session_memory_.back().handle();
  return check(api.vkBindDataGraphPipelineSessionMemoryARM(device.handle, 1, &bound),
               "binding a session's memory");
}

Error Graph::create_sets(Device& device, const Segment& segment, const Tensors& tensors) {
  const Api& api = device.api;
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_TENSOR_ARM,
                                  static_cast<uint32_t>(segment.bindings.size())};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = static_cast<uint32_t>(set_layouts_.size());
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(device.handle, pool, api.vkCreateDescriptorPool,
                                             api.vkDestroyDescriptorPool,
                                             "creating a pool of descriptors", pool_));
  std::vector<VkDescriptorSetLayout> layouts;
  for (const auto& layout : set_layouts_) {
    layouts.push_back(layout.get());
  }
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool_.get();
  info.descriptorSetCount = static_cast<uint32_t>(layouts.size());
  info.pSetLayouts = layouts.data();
  sets_.resize(layouts.size());
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkAllocateDescriptorSets(device.handle, &info, sets_.data()),
            "allocating descriptors of tensors"));
  for (const Binding& binding : segment.bindings) {
    const VkTensorViewARM view = tensors.view(binding.resource);
    VkWriteDescriptorSetTensorARM written{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_TENSOR_ARM};
    written.tensorViewCount = 1;
    written.pTensorViews = &view;
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.pNext = &written;
    write.dstSet = sets_[binding.set];
    write.dstBinding = binding.number;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_TENSOR_ARM;
    api.vkUpdateDescriptorSets(device.handle, 1, &write, 0, nullptr);
  }
  return Error::Ok;
}

void Graph::record(Device& device, VkCommandBuffer commands) const {
  device.api.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_DATA_GRAPH_ARM, pipeline_.get());
  device.api.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_DATA_GRAPH_ARM, layout_.get(),
                                     0, static_cast<uint32_t>(sets_.size()), sets_.data(), 0,
                                     nullptr);
  device.graph_api.vkCmdDispatchDataGraphARM(commands, session_.get(), nullptr);
}

}  // namespace executorch::backends::arm::vgf
