// SPDX-License-Identifier: BSD-3-Clause
// What a device is opened with, of what it has: extensions and features.
#pragma once

#include <executorch/backends/vulkan_device/api.h>
#include <executorch/backends/vulkan_device/data_graph_extensions.h>

#include <string>
#include <vector>

namespace executorch::backends::vulkan {

/// Stays where it is: its structures point to each other.
class Features final {
 public:
  Features() = default;
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;

  /// Asks the device, and takes of it what is used.
  ET_NODISCARD runtime::Error read(const Api& api, VkPhysicalDevice device);

  /// For vkCreateDevice().
  const VkPhysicalDeviceFeatures2& chain() const { return all_; }
  const std::vector<const char*>& extensions() const { return extensions_; }

  /// Whether buffers hold elements of 8 and 16 bits.
  bool has_small_elements() const { return has_small_elements_; }
  /// Names of what data graphs need and the device does not have; empty: it runs them.
  const std::string& missing_for_graphs() const { return missing_; }

 private:
  struct Need {
    const char* name;
    VkBool32* value;
  };
  std::vector<Need> small_elements();
  std::vector<Need> graphs();
  /// All features off, and in the chain those that are up to `scope`.
  enum class Scope { kBase, kSmallElements, kGraphs };
  void reset(Scope scope);

  VkPhysicalDeviceFeatures2 all_;
  VkPhysicalDevice16BitStorageFeatures storage16_;
  VkPhysicalDevice8BitStorageFeatures storage8_;
  VkPhysicalDeviceShaderFloat16Int8Features int8_;
  VkPhysicalDeviceHostQueryResetFeatures query_reset_;
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_model_;
  VkPhysicalDeviceSynchronization2Features synchronization2_;
  VkPhysicalDeviceMaintenance4Features maintenance4_;
  VkPhysicalDeviceMaintenance5FeaturesKHR maintenance5_;
  VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT replicated_composites_;
  VkPhysicalDeviceTensorFeaturesARM tensors_;
  VkPhysicalDeviceDataGraphFeaturesARM data_graphs_;
  std::vector<const char*> extensions_;
  std::string missing_;
  bool has_small_elements_ = false;
};

/// Whether it is in a list of extensions.
bool has(const std::vector<VkExtensionProperties>& extensions, const char* name);

}  // namespace executorch::backends::vulkan
