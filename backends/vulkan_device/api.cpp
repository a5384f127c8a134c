// SPDX-License-Identifier: BSD-3-Clause
// The loader stays loaded: what it gave out is used until the process ends.
#include <executorch/backends/vulkan_device/api.h>
#include <executorch/runtime/backend/dynamic_library.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

Result<runtime::DynamicLibrary> open_loader() {
  return runtime::DynamicLibrary::open(
#if defined(_WIN32)
      {"vulkan-1.dll"},
#elif defined(__APPLE__)
      {"libvulkan.dylib", "libvulkan.1.dylib", "libMoltenVK.dylib"},
#else
      {"libvulkan.so.1", "libvulkan.so"},
#endif
      "Vulkan: the loader", "install the GPU's driver, or mesa-vulkan-drivers and libvulkan1");
}

constexpr char kExpected[] = "expected a driver of Vulkan 1.1 or later";

/// Functions that `get` gives for `owner`, an instance or a device.
template <typename Get, typename Owner>
auto functions_of(Get get, Owner owner) {
  return runtime::FunctionFinder("Vulkan: the driver",
                                 [=](const char* name) { return get(owner, name); });
}

}  // namespace

Result<Api> load_api() {
  const auto loader = ET_UNWRAP(open_loader());
  Api api;
  auto entry = loader.functions();
  entry.find("vkGetInstanceProcAddr", api.vkGetInstanceProcAddr);
  ET_CHECK_OK_OR_RETURN_ERROR(entry.check(Error::NotFound, "expected Vulkan's loader"));
  auto functions = functions_of(api.vkGetInstanceProcAddr, VkInstance{});
#define EXECUTORCH_VULKAN_FIND(name) functions.find(#name, api.name);
  EXECUTORCH_VULKAN_GLOBAL(EXECUTORCH_VULKAN_FIND)
#undef EXECUTORCH_VULKAN_FIND
  functions.find_optional("vkEnumerateInstanceVersion", api.vkEnumerateInstanceVersion);
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotSupported, kExpected));
  return api;
}

Error load_instance_functions(Api& api, VkInstance instance) {
  auto functions = functions_of(api.vkGetInstanceProcAddr, instance);
#define EXECUTORCH_VULKAN_FIND(name) functions.find(#name, api.name);
  EXECUTORCH_VULKAN_INSTANCE(EXECUTORCH_VULKAN_FIND)
#undef EXECUTORCH_VULKAN_FIND
  return functions.check(Error::NotSupported, kExpected);
}

Error load_device_functions(Api& api, VkDevice device) {
  auto functions = functions_of(api.vkGetDeviceProcAddr, device);
#define EXECUTORCH_VULKAN_FIND(name) functions.find(#name, api.name);
  EXECUTORCH_VULKAN_DEVICE(EXECUTORCH_VULKAN_FIND)
#undef EXECUTORCH_VULKAN_FIND
  return functions.check(Error::NotSupported, kExpected);
}

Error load_graph_functions(GraphApi& out, const Api& api, VkDevice device) {
  auto functions = functions_of(api.vkGetDeviceProcAddr, device);
#define EXECUTORCH_VULKAN_FIND(name) functions.find(#name, out.name);
  EXECUTORCH_VULKAN_GRAPH(EXECUTORCH_VULKAN_FIND)
#undef EXECUTORCH_VULKAN_FIND
  return functions.check(Error::NotSupported, "expected a driver of VK_ARM_data_graph");
}

const char* name_of(VkResult result) {
#define EXECUTORCH_VULKAN_NAME(name) \
  case name:                         \
    return #name
  switch (result) {
    EXECUTORCH_VULKAN_NAME(VK_SUCCESS);
    EXECUTORCH_VULKAN_NAME(VK_NOT_READY);
    EXECUTORCH_VULKAN_NAME(VK_TIMEOUT);
    EXECUTORCH_VULKAN_NAME(VK_INCOMPLETE);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_INITIALIZATION_FAILED);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_DEVICE_LOST);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_MEMORY_MAP_FAILED);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_LAYER_NOT_PRESENT);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_FEATURE_NOT_PRESENT);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_TOO_MANY_OBJECTS);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_FRAGMENTED_POOL);
    EXECUTORCH_VULKAN_NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
    default:
      return "an error of the driver";
  }
#undef EXECUTORCH_VULKAN_NAME
}

Error check(VkResult result, const char* what) {
  if (result == VK_SUCCESS) {
    return Error::Ok;
  }
  ET_LOG(Error, "Vulkan: %s: %s (%d)", what, name_of(result), static_cast<int>(result));
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_TOO_MANY_OBJECTS:
      return Error::MemoryAllocationFailed;
    case VK_ERROR_DEVICE_LOST:
      return Error::InvalidState;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return Error::NotSupported;
    default:
      return Error::Internal;
  }
}

}  // namespace executorch::backends::vulkan
