// SPDX-License-Identifier: BSD-3-Clause
// A VGF file on the device: its tensors, its graphs, and the commands that run them, recorded once.
#pragma once

#include <executorch/backends/arm/runtime/vgf/graph.h>
#include <executorch/backends/arm/runtime/vgf/payload.h>
#include <executorch/backends/arm/runtime/vgf/tensors.h>
#include <executorch/backends/vulkan_device/device.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>

#include <memory>
#include <vector>

namespace executorch::backends::arm::vgf {

/// What the environment asks for (README.md).
struct Settings {
  static Settings of_environment();

  bool is_timed = false;
  const char* dump_folder = nullptr;
  bool ends_behind_dump = false;
};

/// Threads: one at a time; several models run at the same time, and wait for each other at the
/// device's queue.
class Model final {
 public:
  /// The payload's bytes are read during the call only.
  static runtime::Result<std::unique_ptr<Model>> create(vulkan::Device& device, Payload payload,
                                                        const Settings& settings,
                                                        runtime::EventTracer* tracer);

  /// InvalidArgument for arguments that do not fit, before anything is copied; a run that failed
  /// leaves outputs undefined. EndOfMethod when the environment wants inputs and no run.
  ET_NODISCARD runtime::Error execute(runtime::Span<runtime::EValue*> args,
                                      runtime::EventTracer* tracer);

 private:
  Model(vulkan::Device& device, const Settings& settings) : device_(device), settings_(settings) {}
  ET_NODISCARD runtime::Error create_commands();
  ET_NODISCARD runtime::Error create_queries();
  ET_NODISCARD runtime::Error record();
  ET_NODISCARD runtime::Error run(runtime::EventTracer* tracer);
  ET_NODISCARD runtime::Error report_time();

  vulkan::Device& device_;
  Settings settings_;
  std::vector<Resource> resources_;
  std::vector<uint32_t> inputs_;
  std::vector<uint32_t> outputs_;
  Tensors tensors_;
  std::vector<Graph> graphs_;
  vulkan::Owned<VkCommandPool> pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;  // the pool's
  vulkan::Owned<VkFence> fence_;
  vulkan::Owned<VkQueryPool> queries_;
};

}  // namespace executorch::backends::arm::vgf
