// SPDX-License-Identifier: BSD-3-Clause
// The loader stays loaded: what it gave out is used until the process ends.
#include <executorch/backends/vulkan_device/api.h>
#include <executorch/runtime/platform/log.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

#if defined(_WIN32)
constexpr const char* kLoaders[] = {"vulkan-1.dll"};
#elif defined(__APPLE__)
constexpr const char* kLoaders[] = {"libvulkan.dylib", "libvulkan.1.dylib", "libMoltenVK.dylib"};
#else
constexpr const char* kLoaders[] = {"libvulkan.so.1", "libvulkan.so"};
#endif

PFN_vkGetInstanceProcAddr find_entry() {
  for (const char* name : kLoaders) {
#ifdef _WIN32
    if (const HMODULE library = LoadLibraryA(name)) {
      return reinterpret_cast<PFN_vkGetInstanceProcAddr>(
          GetProcAddress(library, "vkGetInstanceProcAddr"));
    }
#else
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      return reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    }
#endif
  }
  return nullptr;
}

template <typename Function>
Error take(PFN_vkVoidFunction found, const char* name, Function& out) {
  out = reinterpret_cast<Function>(found);
  ET_CHECK_OR_RETURN_ERROR(out != nullptr, NotSupported, "Vulkan: the driver has no %s", name);
  return Error::Ok;
}

}  // namespace

Result<Api> load_api() {
  Api api;
  api.vkGetInstanceProcAddr = find_entry();
  ET_CHECK_OR_RETURN_ERROR(api.vkGetInstanceProcAddr != nullptr, NotFound,
                           "Vulkan: the loader %s is not found: install the GPU's driver, or "
                           "mesa-vulkan-drivers and libvulkan1",
                           kLoaders[0]);
#define EXECUTORCH_VULKAN_FIND(name) \
  ET_CHECK_OK_OR_RETURN_ERROR(take(api.vkGetInstanceProcAddr(nullptr, #name), #name, api.name));
  EXECUTORCH_VULKAN_GLOBAL(EXECUTORCH_VULKAN_FIND)
#undef EXECUTORCH_VULKAN_FIND
  api.vkEnumerateInstanceVersion = reinterpret_cast<PFN_vkEnumerateInstanceVersion>(
      api.vkGetInstanceProcAddr(nullptr, "vkEnumerateInstanceVersion"));
  return api;
}

Error load_instance_functions(Api& api, VkInstance instance) {
#define EXECUTORCH_VULKAN_FIND(name) \
  ET_CHECK_OK_OR_RETURN_ERROR(take(api.vkGetInstanceProcAddr(instance, #name), #name, api.name));
  EXECUTORCH_VULKAN_INSTANCE(EXECUTORCH_VULKAN_FIND)
#undef EXECUTORCH_VULKAN_FIND
  return Error::Ok;
}

Error load_device_functions(Api& api, VkDevice device) {
#define EXECUTORCH_VULKAN_FIND(name) \
  ET_CHECK_OK_OR_RETURN_ERROR(take(api.vkGetDeviceProcAddr(device, #name), #name, api.name));
  EXECUTORCH_VULKAN_DEVICE(EXECUTORCH_VULKAN_FIND)
#undef EXECUTORCH_VULKAN_FIND
  return Error::Ok;
}

Error load_graph_functions(GraphApi& out, const Api& api, VkDevice device) {
#define EXECUTORCH_VULKAN_FIND(name) \
  ET_CHECK_OK_OR_RETURN_ERROR(take(api.vkGetDeviceProcAddr(device, #name), #name, out.name));
  EXECUTORCH_VULKAN_GRAPH(EXECUTORCH_VULKAN_FIND)
#undef EXECUTORCH_VULKAN_FIND
  return Error::Ok;
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
