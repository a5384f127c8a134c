// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan_device/features.h>

#include <cstring>
#include <iterator>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

constexpr char k8BitStorage[] = VK_KHR_8BIT_STORAGE_EXTENSION_NAME;
constexpr char kPortabilitySubset[] = "VK_KHR_portability_subset";
constexpr const char* kGraphExtensions[] = {
    VK_ARM_TENSORS_EXTENSION_NAME,
    VK_ARM_DATA_GRAPH_EXTENSION_NAME,
    VK_KHR_MAINTENANCE_4_EXTENSION_NAME,
    VK_KHR_MAINTENANCE_5_EXTENSION_NAME,
    VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME,
    VK_EXT_SHADER_REPLICATED_COMPOSITES_EXTENSION_NAME,
};

/// Makes a structure empty, before `next` in a list.
template <typename Structure>
void link(Structure& structure, VkStructureType type, void* next) {
  structure = {};
  structure.sType = type;
  structure.pNext = next;
}

void add_name(std::string& names, const char* name) {
  names += names.empty() ? name : std::string(", ") + name;
}

}  // namespace

bool has(const std::vector<VkExtensionProperties>& extensions, const char* name) {
  for (const VkExtensionProperties& extension : extensions) {
    if (std::strcmp(extension.extensionName, name) == 0) {
      return true;
    }
  }
  return false;
}

std::vector<Features::Need> Features::small_elements() {
  return {{"storageBuffer16BitAccess", &storage16_.storageBuffer16BitAccess},
          {"storageBuffer8BitAccess", &storage8_.storageBuffer8BitAccess}};
}

std::vector<Features::Need> Features::graphs() {
  return {{"shaderInt16", &all_.features.shaderInt16},
          {"shaderInt64", &all_.features.shaderInt64},
          {"storageBuffer16BitAccess", &storage16_.storageBuffer16BitAccess},
          {"storageBuffer8BitAccess", &storage8_.storageBuffer8BitAccess},
          {"shaderInt8", &int8_.shaderInt8},
          {"hostQueryReset", &query_reset_.hostQueryReset},
          {"vulkanMemoryModel", &memory_model_.vulkanMemoryModel},
          {"synchronization2", &synchronization2_.synchronization2},
          {"maintenance4", &maintenance4_.maintenance4},
          {"maintenance5", &maintenance5_.maintenance5},
          {"shaderReplicatedComposites", &replicated_composites_.shaderReplicatedComposites},
          {"tensors", &tensors_.tensors},
          {"shaderTensorAccess", &tensors_.shaderTensorAccess},
          {"dataGraph", &data_graphs_.dataGraph},
          {"dataGraphShaderModule", &data_graphs_.dataGraphShaderModule}};
}

void Features::reset(Scope scope) {
  link(data_graphs_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DATA_GRAPH_FEATURES_ARM, nullptr);
  link(tensors_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TENSOR_FEATURES_ARM, &data_graphs_);
  link(replicated_composites_,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_REPLICATED_COMPOSITES_FEATURES_EXT, &tensors_);
  link(maintenance5_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR,
       &replicated_composites_);
  link(maintenance4_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, &maintenance5_);
  link(synchronization2_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
       &maintenance4_);
  link(memory_model_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
       &synchronization2_);
  link(query_reset_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES, &memory_model_);
  link(int8_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, &query_reset_);
  link(storage8_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,
       scope == Scope::kGraphs ? &int8_ : nullptr);
  link(storage16_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, &storage8_);
  link(all_, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
       scope == Scope::kBase ? nullptr : &storage16_);
}

Error Features::read(const Api& api, VkPhysicalDevice device) {
  uint32_t count = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr),
            "counting the device's extensions"));
  std::vector<VkExtensionProperties> found(count);
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, found.data()),
            "listing the device's extensions"));
  reset(Scope::kGraphs);
  api.vkGetPhysicalDeviceFeatures2(device, &all_);
  has_small_elements_ = has(found, k8BitStorage);
  for (const Need& need : small_elements()) {
    has_small_elements_ = has_small_elements_ && *need.value == VK_TRUE;
  }
  missing_.clear();
  for (const char* name : kGraphExtensions) {
    if (!has(found, name)) {
      add_name(missing_, name);
    }
  }
  // Features are said by extensions: of one that is missing its name is enough.
  for (const Need& need : missing_.empty() ? graphs() : std::vector<Need>()) {
    if (*need.value != VK_TRUE) {
      add_name(missing_, need.name);
    }
  }
  const bool has_graphs = missing_.empty();
  const VkBool32 has_robust_access = all_.features.robustBufferAccess;
  reset(has_graphs ? Scope::kGraphs : has_small_elements_ ? Scope::kSmallElements : Scope::kBase);
  all_.features.robustBufferAccess = has_robust_access;
  std::vector<Need> used = has_graphs ? graphs() : std::vector<Need>();
  if (has_small_elements_) {
    const std::vector<Need> small = small_elements();
    used.insert(used.end(), small.begin(), small.end());
  }
  for (const Need& need : used) {
    *need.value = VK_TRUE;
  }
  extensions_.clear();
  if (has_small_elements_) {
    extensions_.push_back(k8BitStorage);
  }
  if (has(found, kPortabilitySubset)) {
    extensions_.push_back(kPortabilitySubset);
  }
  if (has_graphs) {
    extensions_.insert(extensions_.end(), std::begin(kGraphExtensions), std::end(kGraphExtensions));
  }
  return Error::Ok;
}

}  // namespace executorch::backends::vulkan
