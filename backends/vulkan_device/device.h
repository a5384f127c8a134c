// SPDX-License-Identifier: BSD-3-Clause
// The device that delegates run on: one for the process, opened when the first delegate asks for it
// and kept until the process ends.
#pragma once

#include <executorch/backends/vulkan_device/features.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace executorch::backends::vulkan {

/// Threads: any. Members are written while it is opened, and only read afterwards, but those with a
/// lock of their own.
class Device final {
 public:
  /// The shared one: that of ETVK_DEVICE_INDEX when the environment has it, else the best by type
  /// (discrete, integrated, virtual, other, CPU). NotFound without a loader or a device that
  /// computes; NotSupported when none has Vulkan 1.1. After an error the next call tries again.
  static runtime::Result<Device*> shared();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Submits and waits until it is done; submissions of several threads wait for each other only
  /// while they are handed over. InvalidState once the device is lost.
  ET_NODISCARD runtime::Error run(VkCommandBuffer commands, VkFence fence) {
    return run_on(compute_, commands, fence);
  }
  /// The same on the queue of data graphs.
  ET_NODISCARD runtime::Error run_graph(VkCommandBuffer commands, VkFence fence) {
    return run_on(graph_family == queue_family ? compute_ : graphs_, commands, fence);
  }

  /// Memory type of `type_bits` with `needed` flags, and as many of `wanted` as possible; NotFound.
  runtime::Result<uint32_t> find_memory_type(uint32_t type_bits, VkMemoryPropertyFlags needed,
                                             VkMemoryPropertyFlags wanted) const;

  Api api;
  VkDevice handle = VK_NULL_HANDLE;
  uint32_t queue_family = 0;
  /// That of data graphs: the same one where it does both.
  uint32_t graph_family = 0;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceMemoryProperties memory{};
  uint64_t max_allocation = 0;
  /// Bits of a timestamp; 0: there are none.
  uint32_t timestamp_bits = 0;
  uint32_t graph_timestamp_bits = 0;
  /// Whether buffers hold elements of 8 and 16 bits; else all have 32.
  bool has_small_elements = false;
  /// What VK_ARM_data_graph needs and this device lacks, by name; empty: graph_api is there.
  std::string missing_for_graphs;
  GraphApi graph_api;

 private:
  Device();
  static runtime::Result<Device*> open();
  ET_NODISCARD runtime::Error create_instance();
  ET_NODISCARD runtime::Error choose();
  ET_NODISCARD runtime::Error create_device();

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  struct Queue {
    VkQueue handle = VK_NULL_HANDLE;
    std::mutex mutex;
  };
  ET_NODISCARD runtime::Error run_on(Queue& queue, VkCommandBuffer commands, VkFence fence);

  Queue compute_;
  Queue graphs_;
  std::atomic<bool> is_lost_{false};
};

}  // namespace executorch::backends::vulkan
