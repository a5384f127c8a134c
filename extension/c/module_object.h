// SPDX-License-Identifier: BSD-3-Clause
// Modules behind handles: a Module with what its caller lent it, and the handles of its outputs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <executorch/extension/c/parts/events.h>
#include <executorch/extension/c/sources.h>
#include <executorch/extension/c/tensor.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/function_ref.h>

namespace executorch::extension::c {

// A Module of sources; they outlive it.
class ModuleOfSources final : public Module {
 public:
  using Module::Module;
  using Module::set_data_map_loaders;

  static runtime::Result<std::unique_ptr<runtime::DataLoader>> open(const Source& source,
                                                                    LoadMode load_mode);
};

// A tensor of a method that has a handle, until the caller releases it or the method goes.
struct LentTensor {
  // The handle: the same as before unless it was released.
  runtime::Result<Handle> lend(const executorch::aten::Tensor& its_tensor);
  void end();

  Handle handle = 0;
  const void* impl = nullptr;
};

// A value that a method reads from now on, with what it borrows.
struct HeldValue {
  Pin<TensorObject> tensor;
  std::string text;
  executorch::aten::ArrayRef<char> characters;
};

// What of a method goes with it when it is unloaded.
struct MethodState {
  MethodState() = default;
  MethodState(const MethodState&) = delete;
  MethodState& operator=(const MethodState&) = delete;
  ~MethodState();

  std::vector<LentTensor> outputs;  // of the tensors among them; empty for others
  std::map<std::pair<int32_t, std::string>, LentTensor> trained;    // by ExecuTorchTrained and name
  std::shared_ptr<const bool> life = std::make_shared<bool>(true);  // others see when it goes
  std::map<size_t, HeldValue> inputs;
  std::map<size_t, Pin<TensorObject>> outputs_to;
  std::vector<runtime::Span<uint8_t>> buffers;
  std::unique_ptr<runtime::HierarchicalAllocator> planned_memory;
};

// A method that was asked for. Facts stay, as callers have pointers to them.
struct MethodRecord {
  struct Value {
    std::string name;
    std::vector<int32_t> min_sizes;
  };

  MethodState& started() {
    if (state == nullptr) {
      state = std::make_unique<MethodState>();
    }
    return *state;
  }

  std::string name;
  size_t num_outputs = 0;
  std::map<std::pair<int32_t, size_t>, Value> values;  // by port and index
  std::unique_ptr<MethodState> state;
};

struct ModuleObject final : Object {
  static constexpr Kind kKind = Kind::Module;

  runtime::Result<runtime::MethodMeta> meta(const std::string& method);
  // NULL: "forward". Errors of Module::method_meta(), which has all methods that exist.
  runtime::Result<MethodRecord*> record(const char* method);

  // In the order in which each needs the ones before.
  std::shared_ptr<Sources> sources;
  bool is_for_training = false;
  std::unique_ptr<Events> events;  // null: none are recorded
  std::unordered_map<std::string, MethodRecord> records;
  MethodRecord* last = nullptr;  // the one that was asked for, as most calls ask for it again
  std::string user_metadata;
  std::unique_ptr<Module> module;
  // Of a call; kept, so that calls need not make them anew.
  std::vector<Pin<TensorObject>> pins;
  std::vector<runtime::EValue> values;
};

// Inputs into `run`, by place, and what it returns into `outputs`: how many they are.
// InvalidArgument where there is less room.
using Run = runtime::FunctionRef<runtime::Result<std::vector<runtime::EValue>>(
    const std::vector<runtime::EValue>& values)>;
runtime::Result<size_t> call_method(ModuleObject& object, MethodRecord& method,
                                    runtime::Span<const ExecuTorchValue> inputs,
                                    runtime::Span<ExecuTorchValue> outputs, Run run);

inline std::string name_of_method(const char* method) {
  return method == nullptr ? "forward" : method;
}

ExecuTorchStatus module_load(const ExecuTorchModuleOptions* options,
                             ExecuTorchModule* out_module) noexcept;
ExecuTorchStatus module_share(ExecuTorchModule module, ExecuTorchModule* out_module) noexcept;
ExecuTorchStatus load_method(ExecuTorchModule module, const char* method,
                             const ExecuTorchMemory* buffers, size_t num_buffers) noexcept;
ExecuTorchStatus unload_method(ExecuTorchModule module, const char* method) noexcept;
ExecuTorchStatus module_take_events(ExecuTorchModule module, ExecuTorchMemory* out_events,
                                    ExecuTorchMemory* out_values) noexcept;

ExecuTorchStatus method_name(ExecuTorchModule module, size_t index, const char** out_name) noexcept;
ExecuTorchStatus user_metadata(ExecuTorchModule module, const char** out_json) noexcept;
ExecuTorchStatus method_info(ExecuTorchModule module, const char* method,
                             ExecuTorchMethodInfo* out_info) noexcept;
ExecuTorchStatus value_info(ExecuTorchModule module, const char* method, int32_t port, size_t index,
                            ExecuTorchValueInfo* out_info) noexcept;
ExecuTorchStatus value_index(ExecuTorchModule module, const char* method, int32_t port,
                             const char* name, size_t* out_index) noexcept;
ExecuTorchStatus planned_buffer_size(ExecuTorchModule module, const char* method, size_t index,
                                     size_t* out_size) noexcept;
ExecuTorchStatus method_backend(ExecuTorchModule module, const char* method, size_t index,
                                const char** out_name) noexcept;

ExecuTorchStatus set_input(ExecuTorchModule module, const char* method, size_t index,
                           const ExecuTorchValue* value) noexcept;
ExecuTorchStatus set_output(ExecuTorchModule module, const char* method, size_t index,
                            ExecuTorchTensor tensor) noexcept;
ExecuTorchStatus execute(ExecuTorchModule module, const char* method, const ExecuTorchValue* inputs,
                         size_t num_inputs, ExecuTorchValue* outputs, size_t num_outputs) noexcept;

}  // namespace executorch::extension::c
