// SPDX-License-Identifier: BSD-3-Clause
// An object of the device's, destroyed with its owner.
#pragma once

#include <executorch/backends/vulkan_device/api.h>

#include <utility>

namespace executorch::backends::vulkan {

/// Movable; empty when it was made of nothing. The device must outlive it.
template <typename Handle>
class Owned final {
 public:
  using Destroy = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);

  Owned() = default;
  Owned(VkDevice device, Handle handle, Destroy destroy)
      : device_(device), handle_(handle), destroy_(destroy) {}
  ~Owned() {
    if (destroy_ != nullptr) {
      destroy_(device_, handle_, nullptr);
    }
  }
  Owned(Owned&& other) noexcept { swap(other); }
  Owned& operator=(Owned&& other) noexcept {
    swap(other);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  Handle get() const { return handle_; }

 private:
  void swap(Owned& other) {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
  }

  VkDevice device_ = VK_NULL_HANDLE;
  Handle handle_ = VK_NULL_HANDLE;
  Destroy destroy_ = nullptr;
};

/// Calls a vkCreate... function; `what` is for the message.
template <typename Handle, typename Info>
runtime::Error create(VkDevice device, const Info& info,
                      VkResult(VKAPI_PTR* make)(VkDevice, const Info*, const VkAllocationCallbacks*,
                                                Handle*),
                      typename Owned<Handle>::Destroy destroy, const char* what,
                      Owned<Handle>& out) {
  Handle handle = VK_NULL_HANDLE;
  ET_CHECK_OK_OR_RETURN_ERROR(check(make(device, &info, nullptr, &handle), what));
  out = Owned<Handle>(device, handle, destroy);
  return runtime::Error::Ok;
}

}  // namespace executorch::backends::vulkan
