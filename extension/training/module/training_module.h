// SPDX-License-Identifier: BSD-3-Clause
// TrainingModule: a Module whose methods compute gradients beside their outputs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::training {

// For programs of torch.export.experimental._export_forward_backward. Threads: one at a time.
//
// Maps are by the parameters' names in the PyTorch model. Their tensors share the method's memory,
// where an optimizer writes the parameters and every execution the gradients; their keys point into
// the program. Both are valid until the method is unloaded.
class TrainingModule final : public Module {
 public:
  // data_map_data_loader: the program's data file (.ptd), if it has one. Otherwise as Module's.
  explicit TrainingModule(std::unique_ptr<runtime::DataLoader> data_loader,
                          std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                          std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                          std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                          std::unique_ptr<runtime::DataLoader> data_map_data_loader = nullptr)
      : Module(std::move(data_loader), std::move(memory_allocator), std::move(temp_allocator),
               std::move(event_tracer), std::move(data_map_data_loader)) {}

  explicit TrainingModule(const Module&) = delete;
  TrainingModule& operator=(const Module&) = delete;
  explicit TrainingModule(Module&&) = delete;
  TrainingModule& operator=(Module&&) = delete;

  // Runs a method: its loss and other outputs of the user; gradients are in named_gradients() then.
  // Errors of Module::execute; InvalidArgument if the method computes no gradients.
  ET_EXPERIMENTAL runtime::Result<std::vector<runtime::EValue>> execute_forward_backward(
      const std::string& method_name, const std::vector<runtime::EValue>& input);

  // Loads the method without running it. InvalidArgument if it computes no gradients.
  ET_EXPERIMENTAL runtime::Result<const std::map<std::string_view, executorch::aten::Tensor>>
  named_parameters(const std::string& method_name);

  // Of the last execute_forward_backward(). InvalidArgument before the first.
  ET_EXPERIMENTAL runtime::Result<const std::map<std::string_view, executorch::aten::Tensor>>
  named_gradients(const std::string& method_name);

  // What the method keeps from run to run: its parameters and the buffers that it writes (running
  // statistics, say), in programs with emit_mutable_buffer_names. Loads the method.
  ET_EXPERIMENTAL runtime::Result<const std::map<std::string_view, executorch::aten::Tensor>>
  named_attributes(const std::string& method_name);

  // As Module's; forgets the maps, too.
  bool unload_method(const std::string& method_name) {
    trained_.erase(method_name);
    return Module::unload_method(method_name);
  }

 private:
  using NamedTensors = std::map<std::string_view, executorch::aten::Tensor>;

  // Of one method. Tensors are handles, so that later executions need not renew the maps.
  struct Trained {
    size_t num_user_outputs = 0;
    NamedTensors parameters;
    NamedTensors gradients;
    bool has_run = false;
  };

  runtime::Result<Trained*> trained(const std::string& method_name);
  runtime::Result<size_t> place(const char* of, const std::string& method_name);

  std::unordered_map<std::string, Trained> trained_;
};

}  // namespace executorch::extension::training
