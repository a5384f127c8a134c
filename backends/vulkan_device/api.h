// SPDX-License-Identifier: BSD-3-Clause
// Vulkan's functions, found in the loader (libvulkan) when the first of them is needed: what links
// this library needs no loader, and runs without one.
#pragma once

#include <executorch/backends/vulkan_device/data_graph_extensions.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::backends::vulkan {

// clang-format off
/// Found without an instance, with one, and with a device.
#define EXECUTORCH_VULKAN_GLOBAL(ROW) \
  ROW(vkCreateInstance) ROW(vkEnumerateInstanceExtensionProperties)
#define EXECUTORCH_VULKAN_INSTANCE(ROW) \
  ROW(vkDestroyInstance) ROW(vkEnumeratePhysicalDevices) ROW(vkGetPhysicalDeviceProperties2) \
  ROW(vkGetPhysicalDeviceFeatures2) ROW(vkGetPhysicalDeviceMemoryProperties) \
  ROW(vkGetPhysicalDeviceQueueFamilyProperties) ROW(vkEnumerateDeviceExtensionProperties) \
  ROW(vkCreateDevice) ROW(vkGetDeviceProcAddr)
#define EXECUTORCH_VULKAN_DEVICE(ROW) \
  ROW(vkDestroyDevice) ROW(vkGetDeviceQueue) ROW(vkQueueSubmit) ROW(vkDeviceWaitIdle) \
  ROW(vkAllocateMemory) ROW(vkFreeMemory) ROW(vkMapMemory) ROW(vkUnmapMemory) \
  ROW(vkCreateBuffer) ROW(vkDestroyBuffer) ROW(vkGetBufferMemoryRequirements) ROW(vkBindBufferMemory) \
  ROW(vkCreateShaderModule) ROW(vkDestroyShaderModule) \
  ROW(vkCreatePipelineCache) ROW(vkDestroyPipelineCache) ROW(vkGetPipelineCacheData) \
  ROW(vkCreateComputePipelines) ROW(vkDestroyPipeline) \
  ROW(vkCreatePipelineLayout) ROW(vkDestroyPipelineLayout) \
  ROW(vkCreateDescriptorSetLayout) ROW(vkDestroyDescriptorSetLayout) \
  ROW(vkCreateDescriptorPool) ROW(vkDestroyDescriptorPool) ROW(vkResetDescriptorPool) \
  ROW(vkAllocateDescriptorSets) ROW(vkUpdateDescriptorSets) \
  ROW(vkCreateCommandPool) ROW(vkDestroyCommandPool) ROW(vkResetCommandPool) ROW(vkAllocateCommandBuffers) \
  ROW(vkBeginCommandBuffer) ROW(vkEndCommandBuffer) \
  ROW(vkCmdBindPipeline) ROW(vkCmdBindDescriptorSets) ROW(vkCmdDispatch) ROW(vkCmdPipelineBarrier) \
  ROW(vkCmdCopyBuffer) ROW(vkCmdWriteTimestamp) ROW(vkCmdResetQueryPool) \
  ROW(vkCreateQueryPool) ROW(vkDestroyQueryPool) ROW(vkGetQueryPoolResults) \
  ROW(vkCreateFence) ROW(vkDestroyFence) ROW(vkResetFences) ROW(vkWaitForFences)
/// Of a device with data graphs.
#define EXECUTORCH_VULKAN_GRAPH(ROW) \
  ROW(vkResetQueryPool) \
  ROW(vkCreateTensorARM) ROW(vkDestroyTensorARM) ROW(vkGetTensorMemoryRequirementsARM) ROW(vkBindTensorMemoryARM) \
  ROW(vkCreateTensorViewARM) ROW(vkDestroyTensorViewARM) \
  ROW(vkCreateDataGraphPipelinesARM) \
  ROW(vkCreateDataGraphPipelineSessionARM) ROW(vkDestroyDataGraphPipelineSessionARM) \
  ROW(vkGetDataGraphPipelineSessionBindPointRequirementsARM) ROW(vkGetDataGraphPipelineSessionMemoryRequirementsARM) \
  ROW(vkBindDataGraphPipelineSessionMemoryARM) ROW(vkCmdDispatchDataGraphARM)
// clang-format on

/// A pointer for each function.
struct Api {
#define EXECUTORCH_VULKAN_MEMBER(name) PFN_##name name = nullptr;
  EXECUTORCH_VULKAN_GLOBAL(EXECUTORCH_VULKAN_MEMBER)
  EXECUTORCH_VULKAN_INSTANCE(EXECUTORCH_VULKAN_MEMBER)
  EXECUTORCH_VULKAN_DEVICE(EXECUTORCH_VULKAN_MEMBER)
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
  /// Null in loaders of Vulkan 1.0.
  PFN_vkEnumerateInstanceVersion vkEnumerateInstanceVersion = nullptr;
};

struct GraphApi {
  EXECUTORCH_VULKAN_GRAPH(EXECUTORCH_VULKAN_MEMBER)
};
#undef EXECUTORCH_VULKAN_MEMBER

/// Loads the loader and finds what needs no instance. NotFound, with what was looked for in the
/// log, when there is none.
runtime::Result<Api> load_api();

/// The other functions; NotSupported for a driver that lacks one.
ET_NODISCARD runtime::Error load_instance_functions(Api& api, VkInstance instance);
ET_NODISCARD runtime::Error load_device_functions(Api& api, VkDevice device);
ET_NODISCARD runtime::Error load_graph_functions(GraphApi& out, const Api& api, VkDevice device);

/// Ok for VK_SUCCESS, else `what` and Vulkan's reason in the log: memory as MemoryAllocationFailed,
/// a lost device as InvalidState, what is not there as NotSupported, the rest as Internal.
ET_NODISCARD runtime::Error check(VkResult result, const char* what);

/// The name of a result: "VK_ERROR_DEVICE_LOST".
const char* name_of(VkResult result);

}  // namespace executorch::backends::vulkan
