// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/arguments.h>
#include <executorch/backends/vulkan/runtime/graph/memory_plan.h>
#include <executorch/backends/vulkan/runtime/graph/runner.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;

namespace {

/// Constants are in buffers of this size, so that no driver is asked for gigabytes at once.
constexpr uint64_t kConstantsAtOnce = uint64_t{256} << 20;
constexpr uint64_t kParamsAlignment = 256;  // what every device takes

}  // namespace

Result<std::unique_ptr<Runner>> Runner::create(Device& device, Graph& graph,
                                               const RunnerOptions& options) {
  std::unique_ptr<Runner> runner(new (std::nothrow) Runner(device, graph));
  ET_CHECK_OR_RETURN_ERROR(runner != nullptr, MemoryAllocationFailed, "Vulkan: no memory");
  runner->pipelines_ = ET_UNWRAP(Pipelines::shared(device));
  for (const Dispatch& dispatch : graph.dispatches()) {
    ET_CHECK_OK_OR_RETURN_ERROR(runner->pipelines_->get(dispatch.key).error());
  }
  ET_CHECK_OK_OR_RETURN_ERROR(runner->allocate(options));
  ET_CHECK_OK_OR_RETURN_ERROR(runner->create_pools());
  ET_CHECK_OK_OR_RETURN_ERROR(runner->write_constants());
  return runner;
}

Runner::~Runner() {
  const Api& api = device_.api;
  api.vkDestroyQueryPool(device_.handle, queries_, nullptr);
  api.vkDestroyFence(device_.handle, fence_, nullptr);
  api.vkDestroyCommandPool(device_.handle, commands_pool_, nullptr);
  api.vkDestroyDescriptorPool(device_.handle, descriptors_, nullptr);
}

Error Runner::allocate(const RunnerOptions& options) {
  const VkPhysicalDeviceLimits& limits = device_.properties.limits;
  const uint64_t alignment = std::max<uint64_t>(
      {16, limits.minStorageBufferOffsetAlignment, limits.optimalBufferCopyOffsetAlignment});
  const std::vector<uint64_t> sizes =
      plan_memory(graph_.storages(), alignment, kConstantsAtOnce, options.shares_memory);
  for (size_t i = 0; i < sizes.size(); ++i) {
    buffers_.push_back(ET_UNWRAP(Buffer::create(
        device_, sizes[i], i == kHostBuffer ? MemoryKind::kHost : MemoryKind::kDevice)));
  }
  return Error::Ok;
}

Error Runner::create_pools() {
  const Api& api = device_.api;
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = device_.queue_family;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkCreateCommandPool(device_.handle, &pool, nullptr, &commands_pool_),
            "creating a command pool"));
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = commands_pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  ET_CHECK_OK_OR_RETURN_ERROR(check(api.vkAllocateCommandBuffers(device_.handle, &info, &commands_),
                                    "allocating commands"));
  const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  return check(api.vkCreateFence(device_.handle, &fence, nullptr, &fence_), "creating a fence");
}

Error Runner::write_constants() {
  for (size_t id = 0; id < graph_.payload().values.size(); ++id) {
    if (graph_.tensor(id).constant >= 0) {
      ET_CHECK_OK_OR_RETURN_ERROR(write_constant(graph_.tensor(id)));
    }
  }
  return Error::Ok;
}

Error Runner::write_constant(const Tensor& tensor) {
  const Storage& storage = graph_.storages()[static_cast<size_t>(tensor.storage)];
  const Buffer& target = buffers_[storage.buffer];
  const uint8_t* source =
      graph_.payload().constants[static_cast<size_t>(tensor.constant)].bytes.data();
  const auto count = static_cast<size_t>(tensor.bound.numel());
  if (target.mapped() != nullptr) {
    return to_elements(source, tensor.dtype, count, tensor.element,
                       target.mapped() + storage.offset);
  }
  const Buffer staging = ET_UNWRAP(Buffer::create(device_, storage.num_bytes, MemoryKind::kHost));
  ET_CHECK_OK_OR_RETURN_ERROR(
      to_elements(source, tensor.dtype, count, tensor.element, staging.mapped()));
  ET_CHECK_OK_OR_RETURN_ERROR(begin());
  const VkBufferCopy region{0, storage.offset, storage.num_bytes};
  device_.api.vkCmdCopyBuffer(commands_, staging.handle(), target.handle(), 1, &region);
  ET_CHECK_OK_OR_RETURN_ERROR(check(device_.api.vkEndCommandBuffer(commands_), "ending commands"));
  return device_.run(commands_, fence_);
}

Error Runner::begin() {
  ET_CHECK_OK_OR_RETURN_ERROR(check(
      device_.api.vkResetCommandPool(device_.handle, commands_pool_, 0), "resetting commands"));
  const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  return check(device_.api.vkBeginCommandBuffer(commands_, &info), "beginning commands");
}

Error Runner::reserve(size_t num_dispatches) {
  const Api& api = device_.api;
  if (num_dispatches <= capacity_ && descriptors_ != VK_NULL_HANDLE) {
    return check(api.vkResetDescriptorPool(device_.handle, descriptors_, 0),
                 "resetting descriptors");
  }
  api.vkDestroyDescriptorPool(device_.handle, descriptors_, nullptr);
  descriptors_ = VK_NULL_HANDLE;
  const auto count = static_cast<uint32_t>(std::max<size_t>(num_dispatches, 1));
  const VkDescriptorPoolSize sizes[] = {
      {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, count},
      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count * static_cast<uint32_t>(kMaxBuffers)}};
  VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = count;
  info.poolSizeCount = 2;
  info.pPoolSizes = sizes;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkCreateDescriptorPool(device_.handle, &info, nullptr, &descriptors_),
            "creating a descriptor pool"));
  params_ = ET_UNWRAP(Buffer::create(device_, count * uint64_t{kMaxParamBytes}, MemoryKind::kHost));
  capacity_ = count;
  return Error::Ok;
}

void Runner::barrier(VkPipelineStageFlags from, VkPipelineStageFlags to, VkAccessFlags source,
                     VkAccessFlags target) {
  VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = source;
  memory.dstAccessMask = target;
  device_.api.vkCmdPipelineBarrier(commands_, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

Runner::Range Runner::range_of(const Binding& binding) const {
  const Storage& storage = graph_.storages()[static_cast<size_t>(binding.storage)];
  return {storage.buffer, storage.offset, storage.offset + storage.num_bytes, binding.is_written};
}

bool Runner::has_hazard(const Dispatch& dispatch) const {
  for (const Binding& binding : dispatch.bindings) {
    const Range range = range_of(binding);
    for (const Range& other : pending_) {
      if (range.buffer == other.buffer && range.begin < other.end && other.begin < range.end &&
          (range.is_written || other.is_written)) {
        return true;
      }
    }
  }
  return false;
}

Error Runner::record(bool is_timed) {
  const Api& api = device_.api;
  const std::vector<Dispatch>& dispatches = graph_.dispatches();
  ET_CHECK_OK_OR_RETURN_ERROR(reserve(dispatches.size()));
  is_timed_ = is_timed && device_.timestamp_bits > 0;
  if (is_timed_ && num_queries_ < 2 * dispatches.size()) {
    api.vkDestroyQueryPool(device_.handle, queries_, nullptr);
    queries_ = VK_NULL_HANDLE;
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    num_queries_ = 2 * dispatches.size();
    info.queryCount = static_cast<uint32_t>(num_queries_);
    ET_CHECK_OK_OR_RETURN_ERROR(check(
        api.vkCreateQueryPool(device_.handle, &info, nullptr, &queries_), "creating timestamps"));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(begin());
  if (is_timed_ && num_queries_ > 0) {
    api.vkCmdResetQueryPool(commands_, queries_, 0, static_cast<uint32_t>(num_queries_));
  }
  // What earlier runs wrote into buffers that are kept.
  barrier(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
          VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
  pending_.clear();
  for (size_t i = 0; i < dispatches.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(record_dispatch(dispatches[i], i));
  }
  record_copies();
  barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_ACCESS_HOST_READ_BIT);
  return check(api.vkEndCommandBuffer(commands_), "ending commands");
}

Error Runner::record_dispatch(const Dispatch& dispatch, size_t index) {
  const Api& api = device_.api;
  const Pipeline pipeline = ET_UNWRAP(pipelines_->get(dispatch.key));
  VkDescriptorSetAllocateInfo allocation{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocation.descriptorPool = descriptors_;
  allocation.descriptorSetCount = 1;
  allocation.pSetLayouts = &pipeline.set_layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  ET_CHECK_OK_OR_RETURN_ERROR(check(api.vkAllocateDescriptorSets(device_.handle, &allocation, &set),
                                    "allocating descriptors"));
  const uint64_t place = index * uint64_t{kMaxParamBytes};
  static_assert(kMaxParamBytes % kParamsAlignment == 0, "offsets of uniform buffers");
  std::memcpy(params_.mapped() + place, dispatch.params.data(), dispatch.params.size());
  VkDescriptorBufferInfo infos[kMaxBuffers + 1];
  VkWriteDescriptorSet writes[kMaxBuffers + 1]{};
  infos[0] = {params_.handle(), place, kMaxParamBytes};
  for (size_t i = 0; i <= dispatch.bindings.size(); ++i) {
    if (i > 0) {
      const Range range = range_of(dispatch.bindings[i - 1]);
      infos[i] = {buffers_[range.buffer].handle(), range.begin, range.end - range.begin};
    }
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set;
    writes[i].dstBinding = static_cast<uint32_t>(i);
    writes[i].descriptorCount = 1;
    writes[i].descriptorType =
        i == 0 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &infos[i];
  }
  api.vkUpdateDescriptorSets(device_.handle, static_cast<uint32_t>(dispatch.bindings.size() + 1),
                             writes, 0, nullptr);
  if (has_hazard(dispatch)) {
    barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    pending_.clear();
  }
  for (const Binding& binding : dispatch.bindings) {
    pending_.push_back(range_of(binding));
  }
  api.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
  api.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1,
                              &set, 0, nullptr);
  if (is_timed_) {
    api.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, queries_,
                            static_cast<uint32_t>(2 * index));
  }
  api.vkCmdDispatch(commands_, dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]);
  if (is_timed_) {
    api.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, queries_,
                            static_cast<uint32_t>(2 * index + 1));
  }
  return Error::Ok;
}

/// Outputs that are constants, into memory that the host sees.
void Runner::record_copies() {
  const std::vector<uint32_t>& outputs = graph_.payload().outputs;
  barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int32_t from = graph_.tensor(outputs[i]).storage;
    const int32_t to = graph_.output_storage(i);
    if (from == to) {
      continue;
    }
    const Range source = range_of({from, false});
    const Range target = range_of({to, true});
    const VkBufferCopy region{source.begin, target.begin,
                              std::min(source.end - source.begin, target.end - target.begin)};
    device_.api.vkCmdCopyBuffer(commands_, buffers_[source.buffer].handle(),
                                buffers_[target.buffer].handle(), 1, &region);
  }
}

Error Runner::run() {
  return device_.run(commands_, fence_);
}

Result<std::vector<DispatchTimes>> Runner::times() const {
  std::vector<DispatchTimes> out;
  if (!is_timed_ || graph_.dispatches().empty()) {
    return out;
  }
  out.resize(graph_.dispatches().size());
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(device_.api.vkGetQueryPoolResults(
                device_.handle, queries_, 0, static_cast<uint32_t>(2 * out.size()),
                out.size() * sizeof(DispatchTimes), out.data(), sizeof(uint64_t),
                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
            "reading timestamps"));
  return out;
}

uint64_t Runner::num_bytes() const {
  uint64_t sum = params_.num_bytes();
  for (const Buffer& buffer : buffers_) {
    sum += buffer.num_bytes();
  }
  return sum;
}

}  // namespace executorch::backends::vulkan
