// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/api/device.h>
#include <executorch/backends/vulkan/runtime/api/pipelines.h>
#include <executorch/runtime/platform/log.h>

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

constexpr char k8BitStorage[] = VK_KHR_8BIT_STORAGE_EXTENSION_NAME;
constexpr char kPortabilitySubset[] = "VK_KHR_portability_subset";
constexpr char kPortabilityEnumeration[] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;

bool has(const std::vector<VkExtensionProperties>& extensions, const char* name) {
  for (const VkExtensionProperties& extension : extensions) {
    if (std::strcmp(extension.extensionName, name) == 0) {
      return true;
    }
  }
  return false;
}

int rank_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 5;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 4;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 3;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 1;
    default:
      return 2;
  }
}

struct Candidate {
  VkPhysicalDevice device = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;
};

bool find_compute_queue(const Api& api, Candidate& out) {
  uint32_t count = 0;
  api.vkGetPhysicalDeviceQueueFamilyProperties(out.device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.vkGetPhysicalDeviceQueueFamilyProperties(out.device, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 && families[i].queueCount > 0) {
      out.queue_family = i;
      out.timestamp_bits = families[i].timestampValidBits;
      return true;
    }
  }
  return false;
}

/// The index that the environment asks for; -1: none.
int64_t asked_index() {
  const char* text = std::getenv("ETVK_DEVICE_INDEX");
  if (text == nullptr || *text == '\0') {
    return -1;
  }
  char* end = nullptr;
  const int64_t index = std::strtoll(text, &end, 10);
  return *end == '\0' ? index : -1;
}

}  // namespace

Device::Device() = default;

Device::~Device() {
  pipelines.reset();
  if (handle != VK_NULL_HANDLE) {
    api.vkDestroyDevice(handle, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE && api.vkDestroyInstance != nullptr) {
    api.vkDestroyInstance(instance_, nullptr);
  }
}

Result<Device*> Device::shared() {
  static std::mutex mutex;
  static Device* device = nullptr;  // not destroyed: drivers' threads may be gone by then
  const std::lock_guard<std::mutex> lock(mutex);
  if (device == nullptr) {
    device = ET_UNWRAP(open());
  }
  return device;
}

Result<Device*> Device::open() {
  std::unique_ptr<Device> device(new (std::nothrow) Device());
  ET_CHECK_OR_RETURN_ERROR(device != nullptr, MemoryAllocationFailed, "Vulkan: no memory");
  device->api = ET_UNWRAP(load_api());
  ET_CHECK_OK_OR_RETURN_ERROR(device->create_instance());
  ET_CHECK_OK_OR_RETURN_ERROR(device->choose());
  ET_CHECK_OK_OR_RETURN_ERROR(device->create_device());
  device->pipelines.reset(new (std::nothrow) Pipelines(*device));
  ET_CHECK_OR_RETURN_ERROR(device->pipelines != nullptr, MemoryAllocationFailed,
                           "Vulkan: no memory");
  ET_LOG(Info, "Vulkan: %s", device->properties.deviceName);
  return device.release();
}

Error Device::create_instance() {
  uint32_t version = VK_API_VERSION_1_0;
  if (api.vkEnumerateInstanceVersion != nullptr) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        check(api.vkEnumerateInstanceVersion(&version), "asking for the loader's version"));
  }
  ET_CHECK_OR_RETURN_ERROR(version >= VK_API_VERSION_1_1, NotSupported,
                           "Vulkan: expected a loader of version 1.1, found %" PRIu32 ".%" PRIu32,
                           VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  uint32_t count = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check(
      api.vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr), "counting extensions"));
  std::vector<VkExtensionProperties> extensions(count);
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkEnumerateInstanceExtensionProperties(nullptr, &count, extensions.data()),
            "listing extensions"));
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "ExecuTorch Vulkan Delegate";
  application.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  const char* names[] = {kPortabilityEnumeration};
#ifdef __APPLE__
  if (has(extensions, kPortabilityEnumeration)) {
    info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = names;
  }
#else
  static_cast<void>(names);
#endif
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkCreateInstance(&info, nullptr, &instance_), "creating an instance"));
  return load_instance_functions(api, instance_);
}

Error Device::choose() {
  uint32_t count = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkEnumeratePhysicalDevices(instance_, &count, nullptr), "counting devices"));
  std::vector<VkPhysicalDevice> devices(count);
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkEnumeratePhysicalDevices(instance_, &count, devices.data()), "listing devices"));
  const int64_t asked = asked_index();
  Candidate best;
  for (uint32_t i = 0; i < count; ++i) {
    Candidate each;
    each.device = devices[i];
    VkPhysicalDeviceProperties2 found{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    api.vkGetPhysicalDeviceProperties2(each.device, &found);
    each.properties = found.properties;
    if (each.properties.apiVersion < VK_API_VERSION_1_1 || !find_compute_queue(api, each)) {
      continue;
    }
    const bool is_better = best.device == VK_NULL_HANDLE || rank_of(each.properties.deviceType) >
                                                                rank_of(best.properties.deviceType);
    if (static_cast<int64_t>(i) == asked) {
      best = each;
      break;
    }
    best = is_better ? each : best;
  }
  ET_CHECK_OR_RETURN_ERROR(best.device != VK_NULL_HANDLE, NotFound,
                           "Vulkan: expected a device of Vulkan 1.1 that computes, found %" PRIu32
                           " devices, none of them such",
                           count);
  physical_ = best.device;
  properties = best.properties;
  queue_family = best.queue_family;
  timestamp_bits = best.timestamp_bits;
  return Error::Ok;
}

Error Device::create_device() {
  uint32_t count = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, nullptr),
            "counting the device's extensions"));
  std::vector<VkExtensionProperties> extensions(count);
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, extensions.data()),
            "listing the device's extensions"));
  VkPhysicalDevice8BitStorageFeatures storage8{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDevice16BitStorageFeatures storage16{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  std::vector<const char*> names;
  features.pNext = &storage16;
  if (has(extensions, k8BitStorage)) {
    storage16.pNext = &storage8;
  }
  api.vkGetPhysicalDeviceFeatures2(physical_, &features);
  has_small_elements =
      storage16.storageBuffer16BitAccess == VK_TRUE && storage8.storageBuffer8BitAccess == VK_TRUE;
  if (std::getenv("ETVK_WIDE_ELEMENTS") != nullptr) {
    has_small_elements = false;
  }
  // Of what there is only what is used.
  const VkBool32 has_robust_access = features.features.robustBufferAccess;
  features.features = {};
  features.features.robustBufferAccess = has_robust_access;
  storage16 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  storage8 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  features.pNext = nullptr;
  if (has_small_elements) {
    storage16.storageBuffer16BitAccess = VK_TRUE;
    storage8.storageBuffer8BitAccess = VK_TRUE;
    features.pNext = &storage16;
    storage16.pNext = &storage8;
    names.push_back(k8BitStorage);
  }
  if (has(extensions, kPortabilitySubset)) {
    names.push_back(kPortabilitySubset);
  }
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(names.size());
  info.ppEnabledExtensionNames = names.data();
  VkDevice made = VK_NULL_HANDLE;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkCreateDevice(physical_, &info, nullptr, &made), "creating a device"));
  ET_CHECK_OK_OR_RETURN_ERROR(load_device_functions(api, made));
  handle = made;
  api.vkGetDeviceQueue(handle, queue_family, 0, &queue_);
  api.vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  VkPhysicalDeviceMaintenance3Properties maintenance{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceProperties2 limits{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &maintenance};
  api.vkGetPhysicalDeviceProperties2(physical_, &limits);
  max_allocation = maintenance.maxMemoryAllocationSize;
  return Error::Ok;
}

Error Device::run(VkCommandBuffer commands, VkFence fence) {
  ET_CHECK_OR_RETURN_ERROR(!is_lost_, InvalidState,
                           "Vulkan: the device %s was lost: start the program again",
                           properties.deviceName);
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  VkResult result = VK_SUCCESS;
  {
    const std::lock_guard<std::mutex> lock(queue_mutex_);
    result = api.vkQueueSubmit(queue_, 1, &info, fence);
  }
  if (result == VK_SUCCESS) {
    result = api.vkWaitForFences(handle, 1, &fence, VK_TRUE, UINT64_MAX);
  }
  if (result == VK_SUCCESS) {
    result = api.vkResetFences(handle, 1, &fence);
  }
  if (result == VK_ERROR_DEVICE_LOST) {
    is_lost_ = true;
  }
  return check(result, "running");
}

Result<uint32_t> Device::find_memory_type(uint32_t type_bits, VkMemoryPropertyFlags needed,
                                          VkMemoryPropertyFlags wanted) const {
  int best = -1;
  int best_count = -1;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    if ((type_bits >> i & 1) == 0 || (flags & needed) != needed) {
      continue;
    }
    int count = 0;
    for (VkMemoryPropertyFlags rest = flags & wanted; rest != 0; rest &= rest - 1) {
      ++count;
    }
    if (count > best_count) {
      best = static_cast<int>(i);
      best_count = count;
    }
  }
  ET_CHECK_OR_RETURN_ERROR(best >= 0, NotFound, "Vulkan: no memory type with flags 0x%" PRIx32,
                           static_cast<uint32_t>(needed));
  return static_cast<uint32_t>(best);
}

}  // namespace executorch::backends::vulkan
