// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/arm/runtime/vgf/arguments.h>
#include <executorch/backends/arm/runtime/vgf/dump.h>
#include <executorch/backends/arm/runtime/vgf/model.h>
#include <executorch/runtime/backend/delegate_event.h>

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <new>

namespace executorch::backends::arm::vgf {

using runtime::DelegateEvent;
using runtime::Error;
using runtime::EValue;
using runtime::EventTracer;
using runtime::Result;
using runtime::Span;
using vulkan::Api;
using vulkan::check;
using vulkan::Device;

namespace {

const char* text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

/// All that was written before is seen by all that comes after.
void barrier(const Api& api, VkCommandBuffer commands, VkPipelineStageFlags after,
             VkAccessFlags access) {
  VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  memory.dstAccessMask = access;
  api.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, after, 0, 1, &memory, 0,
                           nullptr, 0, nullptr);
}

}  // namespace

Settings Settings::of_environment() {
  Settings out;
  out.is_timed = text_of("EXECUTORCH_VGF_ENABLE_TIMESTAMP_QUERIES") != nullptr;
  out.dump_folder = text_of("EXECUTORCH_VGF_DUMP_INPUTS_DIR");
  out.ends_behind_dump = text_of("EXECUTORCH_VGF_DUMP_INPUTS_AND_EXIT") != nullptr;
  if (text_of("EXECUTORCH_VGF_ENABLE_NEURAL_STATISTICS") != nullptr) {
    ET_LOG(Error,
           "VgfBackend: EXECUTORCH_VGF_ENABLE_NEURAL_STATISTICS has no effect: "
           "statistics of accelerators are not read");
  }
  return out;
}

Result<std::unique_ptr<Model>> Model::create(Device& device, Payload payload,
                                             const Settings& settings, EventTracer* tracer) {
  const DelegateEvent whole(tracer, "VGF_INIT_PROCESS_VGF");
  std::unique_ptr<Model> model;
  {
    const DelegateEvent event(tracer, "VGF_INIT_ALLOCATE_REPR");
    model.reset(new (std::nothrow) Model(device, settings));
    ET_CHECK_OR_RETURN_ERROR(model != nullptr, MemoryAllocationFailed, "VgfBackend: no memory");
  }
  {
    const DelegateEvent event(tracer, "VGF_INIT_MAP_IO_MEMORY");
    model->tensors_ = ET_UNWRAP(Tensors::create(device, payload));
  }
  for (const Segment& segment : payload.segments) {
    model->graphs_.push_back(ET_UNWRAP(Graph::create(device, payload, segment, model->tensors_)));
  }
  {
    const DelegateEvent event(tracer, "VGF_INIT_ALLOCATE_COMMAND_BUFFER");
    ET_CHECK_OK_OR_RETURN_ERROR(model->create_commands());
  }
  if (settings.is_timed) {
    const DelegateEvent event(tracer, "VGF_INIT_TIMESTAMP_QUERIES");
    ET_CHECK_OK_OR_RETURN_ERROR(model->create_queries());
  }
  {
    const DelegateEvent event(tracer, "VGF_INIT_RECORD_COMMAND_BUFFER");
    ET_CHECK_OK_OR_RETURN_ERROR(model->record());
  }
  model->resources_ = std::move(payload.resources);
  model->inputs_ = std::move(payload.inputs);
  model->outputs_ = std::move(payload.outputs);
  return model;
}

Error Model::create_commands() {
  const Api& api = device_.api;
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = device_.graph_family;
  ET_CHECK_OK_OR_RETURN_ERROR(vulkan::create(device_.handle, pool, api.vkCreateCommandPool,
                                             api.vkDestroyCommandPool, "creating a command pool",
                                             pool_));
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_.get();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  ET_CHECK_OK_OR_RETURN_ERROR(check(api.vkAllocateCommandBuffers(device_.handle, &info, &commands_),
                                    "allocating a command buffer"));
  const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  return vulkan::create(device_.handle, fence, api.vkCreateFence, api.vkDestroyFence,
                        "creating a fence", fence_);
}

Error Model::create_queries() {
  if (device_.graph_timestamp_bits == 0) {
    ET_LOG(Error, "VgfBackend: the queue of %s has no timestamps", device_.properties.deviceName);
    settings_.is_timed = false;
    return Error::Ok;
  }
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = 2;
  return vulkan::create(device_.handle, info, device_.api.vkCreateQueryPool,
                        device_.api.vkDestroyQueryPool, "creating timestamp queries", queries_);
}

Error Model::record() {
  const Api& api = device_.api;
  const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(api.vkBeginCommandBuffer(commands_, &info), "beginning commands"));
  if (settings_.is_timed) {
    api.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries_.get(), 0);
  }
  for (size_t i = 0; i < graphs_.size(); ++i) {
    if (i > 0) {
      barrier(api, commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
              VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    }
    graphs_[i].record(device_, commands_);
  }
  if (settings_.is_timed) {
    api.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_.get(), 1);
  }
  barrier(api, commands_, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  return check(api.vkEndCommandBuffer(commands_), "ending commands");
}

Error Model::execute(Span<EValue*> args, EventTracer* tracer) {
  const DelegateEvent whole(tracer, "VGF_EXECUTE");
  const Arguments arguments = ET_UNWRAP(Arguments::of(args, resources_, inputs_, outputs_));
  if (settings_.dump_folder != nullptr) {
    ET_CHECK_OK_OR_RETURN_ERROR(dump_inputs(settings_.dump_folder, arguments, resources_, inputs_));
    if (settings_.ends_behind_dump) {
      return Error::EndOfMethod;
    }
  }
  {
    const DelegateEvent event(tracer, "VGF_COPY_INPUTS");
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const runtime::TensorView& input = arguments.inputs[i];
      std::memcpy(tensors_.mapped(inputs_[i]), input.data<void>(), input.nbytes());
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(run(tracer));
  const DelegateEvent event(tracer, "VGF_COPY_OUTPUTS");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const runtime::TensorView& output = arguments.outputs[i];
    std::memcpy(output.mutable_data<void>(), tensors_.mapped(outputs_[i]), output.nbytes());
  }
  return Error::Ok;
}

Error Model::run(EventTracer* tracer) {
  const DelegateEvent whole(tracer, "VGF_DISPATCH_AND_WAIT");
  if (settings_.is_timed) {
    device_.graph_api.vkResetQueryPool(device_.handle, queries_.get(), 0, 2);
  }
  {
    const DelegateEvent event(tracer, "VGF_QUEUE_SUBMIT_AND_WAIT_FENCE");
    ET_CHECK_OK_OR_RETURN_ERROR(device_.run_graph(commands_, fence_.get()));
  }
  if (settings_.is_timed) {
    const DelegateEvent event(tracer, "VGF_TIMESTAMP_QUERY_READBACK");
    ET_CHECK_OK_OR_RETURN_ERROR(report_time());
  }
  return Error::Ok;
}

Error Model::report_time() {
  uint64_t times[2] = {};
  ET_CHECK_OK_OR_RETURN_ERROR(
      check(device_.api.vkGetQueryPoolResults(device_.handle, queries_.get(), 0, 2, sizeof(times),
                                              times, sizeof(times[0]),
                                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
            "reading timestamps"));
  const uint32_t bits = device_.graph_timestamp_bits;
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t ticks = (times[1] - times[0]) & mask;
  ET_LOG(Info, "VGF_DATA_GRAPH_DEVICE_TIME ticks=%" PRIu64 " duration_ms=%.6f", ticks,
         static_cast<double>(ticks) *
             static_cast<double>(device_.properties.limits.timestampPeriod) / 1e6);
  return Error::Ok;
}

}  // namespace executorch::backends::arm::vgf
