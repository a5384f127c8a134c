// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan_device/device.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <new>
#include <vector>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

constexpr char kPortabilityEnumeration[] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;

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

std::vector<VkQueueFamilyProperties> families_of(const Api& api, VkPhysicalDevice device) {
  uint32_t count = 0;
  api.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  return families;
}

/// The number of a family that does it: `preferred`, or the first; -1: none does.
int64_t find_family(const std::vector<VkQueueFamilyProperties>& families, VkQueueFlagBits what,
                    size_t preferred = 0) {
  const auto does = [&](size_t i) {
    return i < families.size() && (families[i].queueFlags & what) != 0 &&
           families[i].queueCount > 0;
  };
  if (does(preferred)) {
    return static_cast<int64_t>(preferred);
  }
  for (size_t i = 0; i < families.size(); ++i) {
    if (does(i)) {
      return static_cast<int64_t>(i);
    }
  }
  return -1;
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
  application.apiVersion = std::min<uint32_t>(version, VK_API_VERSION_1_3);
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
    const std::vector<VkQueueFamilyProperties> families = families_of(api, each.device);
    const int64_t family = find_family(families, VK_QUEUE_COMPUTE_BIT);
    if (each.properties.apiVersion < VK_API_VERSION_1_1 || family < 0) {
      continue;
    }
    each.queue_family = static_cast<uint32_t>(family);
    each.timestamp_bits = families[each.queue_family].timestampValidBits;
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
  Features features;
  ET_CHECK_OK_OR_RETURN_ERROR(features.read(api, physical_));
  has_small_elements =
      features.has_small_elements() && std::getenv("ETVK_WIDE_ELEMENTS") == nullptr;
  missing_for_graphs = features.missing_for_graphs();
  const std::vector<VkQueueFamilyProperties> families = families_of(api, physical_);
  const int64_t family = find_family(families, VK_QUEUE_DATA_GRAPH_BIT_ARM, queue_family);
  if (missing_for_graphs.empty() && family < 0) {
    missing_for_graphs = "a queue of data graphs";
  }
  graph_family = family < 0 ? queue_family : static_cast<uint32_t>(family);
  graph_timestamp_bits = families[graph_family].timestampValidBits;
  const float priority = 1;
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (const uint32_t family : {queue_family, graph_family}) {
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueFamilyIndex = family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    if (queues.empty() || (missing_for_graphs.empty() && graph_family != queue_family)) {
      queues.push_back(queue);
    }
  }
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features.chain();
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<uint32_t>(features.extensions().size());
  info.ppEnabledExtensionNames = features.extensions().data();
  VkDevice made = VK_NULL_HANDLE;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkCreateDevice(physical_, &info, nullptr, &made), "creating a device"));
  ET_CHECK_OK_OR_RETURN_ERROR(load_device_functions(api, made));
  handle = made;
  if (missing_for_graphs.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(load_graph_functions(graph_api, api, made));
  }
  api.vkGetDeviceQueue(handle, queue_family, 0, &compute_.handle);
  if (queues.size() > 1) {
    api.vkGetDeviceQueue(handle, graph_family, 0, &graphs_.handle);
  }
  api.vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  VkPhysicalDeviceMaintenance3Properties maintenance{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceProperties2 limits{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &maintenance};
  api.vkGetPhysicalDeviceProperties2(physical_, &limits);
  max_allocation = maintenance.maxMemoryAllocationSize;
  return Error::Ok;
}

Error Device::run_on(Queue& queue, VkCommandBuffer commands, VkFence fence) {
  ET_CHECK_OR_RETURN_ERROR(!is_lost_, InvalidState,
                           "Vulkan: the device %s was lost: start the program again",
                           properties.deviceName);
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  VkResult result = VK_SUCCESS;
  {
    const std::lock_guard<std::mutex> lock(queue.mutex);
    result = api.vkQueueSubmit(queue.handle, 1, &info, fence);
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
