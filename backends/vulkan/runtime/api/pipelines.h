// SPDX-License-Identifier: BSD-3-Clause
// Pipelines of the device: one for each shader and its constants, made once for all delegates.
#pragma once

#include <executorch/backends/vulkan_device/device.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace executorch::backends::vulkan {

/// Storage buffers of one dispatch, at most.
constexpr size_t kMaxBuffers = 8;
/// Bytes of parameters of one dispatch, at most: a uniform block.
constexpr size_t kMaxParamBytes = 512;

/// Which pipeline: a shader's name (a string constant or one of the table), how many storage
/// buffers it has, and its specialization constants, number 0 first.
struct PipelineKey {
  const char* shader = nullptr;
  size_t num_buffers = 0;
  std::vector<int32_t> constants;

  bool operator<(const PipelineKey& other) const;
};

/// Handles live as long as the device.
struct Pipeline {
  VkPipeline handle = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
};

/// Threads: any.
class Pipelines final {
 public:
  /// Those of the process's device, for as long as the process lives.
  static runtime::Result<Pipelines*> shared(const Device& device);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// Makes it when it is asked for the first time. NotSupported for a shader that is not there.
  runtime::Result<Pipeline> get(const PipelineKey& key);

  /// Takes the driver's compiled code from a file that save() wrote; a file that is not there, or
  /// of another driver, is none. Once pipelines are there it has no effect.
  void load(const std::string& path);
  /// Writes it when there are pipelines that the file does not have. AccessFailed.
  ET_NODISCARD runtime::Error save(const std::string& path);

  size_t size() const;

 private:
  explicit Pipelines(const Device& device) : device_(device) {}
  struct Layout {
    VkDescriptorSetLayout set = VK_NULL_HANDLE;
    VkPipelineLayout pipeline = VK_NULL_HANDLE;
  };
  runtime::Result<Layout> layout(size_t num_buffers);
  runtime::Result<VkShaderModule> module(const char* shader);
  ET_NODISCARD runtime::Error make_cache(const std::vector<char>& data);

  const Device& device_;
  mutable std::mutex mutex_;
  std::map<PipelineKey, Pipeline> pipelines_;
  std::map<std::string, VkShaderModule> modules_;
  Layout layouts_[kMaxBuffers + 1];
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  size_t num_saved_ = 0;  // with the last save(), at this path
  std::string saved_at_;
};

}  // namespace executorch::backends::vulkan
