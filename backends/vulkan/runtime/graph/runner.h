// SPDX-License-Identifier: BSD-3-Clause
// The memory of a graph, and its commands: recorded once for a plan, submitted at each run.
#pragma once

#include <executorch/backends/vulkan/runtime/graph/graph.h>
#include <executorch/backends/vulkan_device/memory.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace executorch::backends::vulkan {

struct RunnerOptions {
  /// Whether tensors that are not in use at the same time have the same memory. Off for finding out
  /// whether that is what goes wrong.
  bool shares_memory = true;
};

/// When a dispatch ran, in the device's ticks.
struct DispatchTimes {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Threads: one at a time. Device and graph must outlive it.
class Runner final {
 public:
  /// Allocates, makes all pipelines and writes the constants.
  static runtime::Result<std::unique_ptr<Runner>> create(Device& device, Graph& graph,
                                                         const RunnerOptions& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Bytes of storages that the host sees, by their offset.
  uint8_t* host() const { return buffers_[1].mapped(); }

  /// Writes commands for the graph's plan. With `is_timed` the device says when each dispatch ran.
  ET_NODISCARD runtime::Error record(bool is_timed);
  bool is_timed() const { return is_timed_; }

  /// Runs what was recorded, and waits.
  ET_NODISCARD runtime::Error run();

  /// Of the last run, by dispatch; empty where it was not timed.
  runtime::Result<std::vector<DispatchTimes>> times() const;

  /// Of all its buffers.
  uint64_t num_bytes() const;

 private:
  Runner(Device& device, Graph& graph) : device_(device), graph_(graph) {}
  ET_NODISCARD runtime::Error allocate(const RunnerOptions& options);
  ET_NODISCARD runtime::Error create_pools();
  ET_NODISCARD runtime::Error write_constants();
  ET_NODISCARD runtime::Error write_constant(const Tensor& tensor);
  ET_NODISCARD runtime::Error reserve(size_t num_dispatches);
  ET_NODISCARD runtime::Error begin();
  ET_NODISCARD runtime::Error record_dispatch(const Dispatch& dispatch, size_t index);
  void record_copies();
  void barrier(VkPipelineStageFlags from, VkPipelineStageFlags to, VkAccessFlags source,
               VkAccessFlags target);

  /// Bytes that dispatches since the last barrier read and write.
  struct Range {
    uint32_t buffer;
    uint64_t begin;
    uint64_t end;
    bool is_written;
  };
  Range range_of(const Binding& binding) const;
  bool has_hazard(const Dispatch& dispatch) const;

  Device& device_;
  Pipelines* pipelines_ = nullptr;
  Graph& graph_;
  std::vector<Buffer> buffers_;
  Buffer params_;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  size_t capacity_ = 0;  // dispatches that params and descriptors are for
  VkCommandPool commands_pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  size_t num_queries_ = 0;
  std::vector<Range> pending_;
  bool is_timed_ = false;
};

}  // namespace executorch::backends::vulkan
