// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/api/pipelines.h>
#include <executorch/backends/vulkan/runtime/api/shaders.h>
#include <executorch/runtime/backend/files/whole_file.h>
#include <executorch/runtime/platform/log.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

constexpr size_t kMaxCacheBytes = size_t{1} << 28;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::vector<char> read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  std::vector<char> data;
  char block[4096];
  size_t size = 0;
  while (file != nullptr && (size = std::fread(block, 1, sizeof(block), file.get())) > 0) {
    data.insert(data.end(), block, block + size);
    if (data.size() > kMaxCacheBytes) {
      return {};
    }
  }
  return data;
}

/// Whether the file's header names this driver; drivers trust the rest.
bool is_of(const std::vector<char>& data, const VkPhysicalDeviceProperties& properties) {
  VkPipelineCacheHeaderVersionOne header;
  if (data.size() < sizeof(header)) {
    return false;
  }
  std::memcpy(&header, data.data(), sizeof(header));
  return header.headerSize >= sizeof(header) && header.headerSize <= data.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendorID == properties.vendorID && header.deviceID == properties.deviceID &&
         std::memcmp(header.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

}  // namespace

bool PipelineKey::operator<(const PipelineKey& other) const {
  const int order = std::strcmp(shader, other.shader);
  return order != 0
             ? order < 0
             : std::tie(num_buffers, constants) < std::tie(other.num_buffers, other.constants);
}

Result<Pipelines*> Pipelines::shared(const Device& device) {
  static Pipelines* const pipelines = new (std::nothrow) Pipelines(device);
  ET_CHECK_OR_RETURN_ERROR(pipelines != nullptr, MemoryAllocationFailed, "Vulkan: no memory");
  return pipelines;
}

Pipelines::~Pipelines() {
  const Api& api = device_.api;
  for (const auto& [key, pipeline] : pipelines_) {
    api.vkDestroyPipeline(device_.handle, pipeline.handle, nullptr);
  }
  for (const auto& [name, module] : modules_) {
    api.vkDestroyShaderModule(device_.handle, module, nullptr);
  }
  for (const Layout& each : layouts_) {
    api.vkDestroyPipelineLayout(device_.handle, each.pipeline, nullptr);
    api.vkDestroyDescriptorSetLayout(device_.handle, each.set, nullptr);
  }
  api.vkDestroyPipelineCache(device_.handle, cache_, nullptr);
}

Result<Pipelines::Layout> Pipelines::layout(size_t num_buffers) {
  Layout& out = layouts_[num_buffers];
  if (out.pipeline != VK_NULL_HANDLE) {
    return out;
  }
  VkDescriptorSetLayoutBinding bindings[kMaxBuffers + 1]{};
  for (size_t i = 0; i <= num_buffers; ++i) {
    bindings[i].binding = static_cast<uint32_t>(i);
    bindings[i].descriptorType =
        i == 0 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = static_cast<uint32_t>(num_buffers + 1);
  set.pBindings = bindings;
  if (out.set == VK_NULL_HANDLE) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        check(device_.api.vkCreateDescriptorSetLayout(device_.handle, &set, nullptr, &out.set),
              "creating a descriptor layout"));
  }
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = 1;
  info.pSetLayouts = &out.set;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(device_.api.vkCreatePipelineLayout(device_.handle, &info, nullptr, &out.pipeline),
            "creating a pipeline layout"));
  return out;
}

Result<VkShaderModule> Pipelines::module(const char* shader) {
  const auto found = modules_.find(shader);
  if (found != modules_.end()) {
    return found->second;
  }
  for (const Shader& each : shaders()) {
    if (std::strcmp(each.name, shader) != 0) {
      continue;
    }
    const ShaderCode& code = device_.has_small_elements ? each.code : each.wide_code;
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = code.num_bytes;
    info.pCode = code.words;
    VkShaderModule made = VK_NULL_HANDLE;
    ET_CHECK_OK_OR_RETURN_ERROR(
        check(device_.api.vkCreateShaderModule(device_.handle, &info, nullptr, &made), each.name));
    modules_.emplace(shader, made);
    return made;
  }
  ET_LOG(Error, "Vulkan: shader %s is not in this library", shader);
  return Error::NotSupported;
}

Error Pipelines::make_cache(const std::vector<char>& data) {
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  return check(device_.api.vkCreatePipelineCache(device_.handle, &info, nullptr, &cache_),
               "creating a pipeline cache");
}

Result<Pipeline> Pipelines::get(const PipelineKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pipelines_.find(key);
  if (found != pipelines_.end()) {
    return found->second;
  }
  ET_CHECK_OR_RETURN_ERROR(key.num_buffers <= kMaxBuffers, Internal, "Vulkan: %zu buffers",
                           key.num_buffers);
  const Layout places = ET_UNWRAP(layout(key.num_buffers));
  if (cache_ == VK_NULL_HANDLE) {
    ET_CHECK_OK_OR_RETURN_ERROR(make_cache({}));
  }
  std::vector<VkSpecializationMapEntry> entries(key.constants.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {static_cast<uint32_t>(i), static_cast<uint32_t>(i * sizeof(int32_t)),
                  sizeof(int32_t)};
  }
  VkSpecializationInfo constants{};
  constants.mapEntryCount = static_cast<uint32_t>(entries.size());
  constants.pMapEntries = entries.data();
  constants.dataSize = key.constants.size() * sizeof(int32_t);
  constants.pData = key.constants.data();
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = ET_UNWRAP(module(key.shader));
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &constants;
  info.layout = places.pipeline;
  Pipeline out{VK_NULL_HANDLE, places.pipeline, places.set};
  ET_CHECK_OK_OR_RETURN_ERROR(check(
      device_.api.vkCreateComputePipelines(device_.handle, cache_, 1, &info, nullptr, &out.handle),
      key.shader));
  pipelines_.emplace(key, out);
  return out;
}

void Pipelines::load(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cache_ != VK_NULL_HANDLE) {
    return;
  }
  const std::vector<char> data = read_file(path);
  if (is_of(data, device_.properties)) {
    static_cast<void>(make_cache(data));
  }
}

Error Pipelines::save(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cache_ == VK_NULL_HANDLE || (pipelines_.size() == num_saved_ && path == saved_at_)) {
    return Error::Ok;
  }
  size_t size = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(device_.api.vkGetPipelineCacheData(device_.handle, cache_, &size, nullptr),
            "asking for the pipeline cache"));
  std::vector<char> data(size);
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(device_.api.vkGetPipelineCacheData(device_.handle, cache_, &size, data.data()),
            "reading the pipeline cache"));
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::write_whole_file(path, {data.data(), size}));
  num_saved_ = pipelines_.size();
  saved_at_ = path;
  return Error::Ok;
}

size_t Pipelines::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return pipelines_.size();
}

}  // namespace executorch::backends::vulkan
