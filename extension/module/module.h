// SPDX-License-Identifier: BSD-3-Clause
// Module: a program file, ready to be called. Loads on first use and brings its own memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <executorch/extension/module/shared_arenas.h>
#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/device_memory_buffer.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/compiler.h>

#define ET_MODULE_NAMESPACE ET_MODE_NAMESPACE(module)

namespace executorch::extension {

using ::executorch::runtime::Kernel;
using ::executorch::runtime::LoadBackendOptionsMap;
using ::executorch::runtime::Method;
using ::executorch::runtime::MethodMeta;
using ::executorch::runtime::NamedDataMap;
using ::executorch::runtime::Program;

ET_DECLARE_MODE_NAMESPACE(module)

namespace ET_MODULE_NAMESPACE {

// An input by its name in the model's signature.
struct NamedValue {
  NamedValue(std::string its_name, runtime::EValue its_value)
      : name(std::move(its_name)), value(std::move(its_value)) {}

  std::string name;
  runtime::EValue value;
};

// Making one is cheap: nothing is read before load() or the first call that needs the program or a
// method. Threads: one at a time. Several Modules may share a program (see program()) and run at
// the same time. Values: EValues borrow their tensors. Inputs must live as long as they are used;
// outputs belong to the method and change with its next execution. Methods that take no method name
// are those of "forward".
class Module {
 public:
  // How files are read.
  enum class LoadMode {
    File,                      // into memory, range by range
    Mmap,                      // mapped; pages come and go
    MmapUseMlock,              // mapped and kept in memory; fails if the system does not allow it
    MmapUseMlockIgnoreErrors,  // mapped and kept in memory if the system allows it
    MmapUseMadvise,            // mapped and read ahead
  };

  // file_path, data_map_path, data_files: the program (.pte) and its data (.ptd).
  // event_tracer: sees every method that is loaded without one of its own.
  // memory_allocator, temp_allocator: for the structures of methods and for scratch space; malloc
  // if null. share_memory_arenas: the first two buffers of all methods' memory plans lie in the
  // same memory, as large as the largest: less of it, and state planned at the same place is seen
  // by all methods. What one method leaves there otherwise, another overwrites. Methods whose plans
  // want the memory of another device are NotSupported then.
  explicit Module(const std::string& file_path, const LoadMode load_mode = LoadMode::File,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  bool share_memory_arenas = false);

  explicit Module(const std::string& file_path, const std::string& data_map_path,
                  const LoadMode load_mode = LoadMode::File,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  bool share_memory_arenas = false);

  explicit Module(const std::string& file_path, std::vector<std::string> data_files,
                  const LoadMode load_mode = LoadMode::File,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  bool share_memory_arenas = false);

  explicit Module(std::unique_ptr<runtime::DataLoader> data_loader,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr,
                  bool share_memory_arenas = false);

  // Shares a program that is loaded, and with it its loader.
  explicit Module(std::shared_ptr<Program> program,
                  std::unique_ptr<runtime::MemoryAllocator> memory_allocator = nullptr,
                  std::unique_ptr<runtime::MemoryAllocator> temp_allocator = nullptr,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::DataLoader> data_map_loader = nullptr,
                  bool share_memory_arenas = false);

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  Module(Module&&) = delete;
  Module& operator=(Module&&) = delete;
  virtual ~Module() = default;

  // Reads and checks program and data files. No effect if that has been done. Errors of
  // Program::load, of the loaders, and InvalidExternalData or InvalidArgument for data files that
  // are corrupted or do not fit together.
  ET_NODISCARD virtual runtime::Error load(
      const Program::Verification verification = Program::Verification::InternalConsistency);

  // As above. Once it has succeeded, copies of the options, instead of earlier ones, go to the
  // delegates of all methods loaded later without options of their own.
  ET_NODISCARD virtual runtime::Error load(
      const LoadBackendOptionsMap& backend_options,
      const Program::Verification verification = Program::Verification::InternalConsistency);

  virtual bool is_loaded() const { return program_ != nullptr; }

  // Null before load(). Keeps the loader alive, but not data files.
  std::shared_ptr<Program> program() const { return program_; }

  // These load the program.
  runtime::Result<size_t> num_methods();
  runtime::Result<std::unordered_set<std::string>> method_names();

  // Names of a method's inputs and outputs (MethodMeta::input_name), in their order; an empty one
  // where the program says none. Loads the program.
  runtime::Result<std::vector<std::string>> input_names(const std::string& method_name = "forward");
  runtime::Result<std::vector<std::string>> output_names(
      const std::string& method_name = "forward");

  // What the exporter wrote about the program: a JSON object as text, or nothing. Loads the
  // program.
  runtime::Result<std::string> user_metadata();

  // Prepares a method. No effect if that has been done. Loads the program.
  // planned_memory: instead of memory of our own; must live as long as the method.
  // event_tracer, backend_options: instead of the Module's; likewise.
  // kernel_registry: kernels that the method prefers to the registered ones.
  // Errors: those of load() and Program::load_method().
  ET_NODISCARD runtime::Error load_method(const std::string& method_name,
                                          runtime::HierarchicalAllocator* planned_memory = nullptr,
                                          runtime::EventTracer* event_tracer = nullptr,
                                          const LoadBackendOptionsMap* backend_options = nullptr,
                                          std::vector<Kernel> kernel_registry = {});

  ET_DEPRECATED ET_NODISCARD runtime::Error load_method(const std::string& method_name,
                                                        runtime::EventTracer* event_tracer) {
    return load_method(method_name, nullptr, event_tracer);
  }

  ET_NODISCARD runtime::Error load_forward(runtime::HierarchicalAllocator* planned_memory = nullptr,
                                           runtime::EventTracer* event_tracer = nullptr,
                                           const LoadBackendOptionsMap* backend_options = nullptr,
                                           std::vector<Kernel> kernel_registry = {}) {
    return load_method("forward", planned_memory, event_tracer, backend_options,
                       std::move(kernel_registry));
  }

  ET_DEPRECATED ET_NODISCARD runtime::Error load_forward(runtime::EventTracer* event_tracer) {
    return load_forward(nullptr, event_tracer);
  }

  // Frees a method and its values. False if it was not loaded.
  bool unload_method(const std::string& method_name) { return methods_.erase(method_name) > 0; }
  bool unload_forward() { return unload_method("forward"); }

  bool is_method_loaded(const std::string& method_name) const {
    return methods_.count(method_name) > 0;
  }

  // Loads the method.
  ET_DEPRECATED ET_NODISCARD runtime::Result<Method*> method(const std::string& method_name);

  // Loads the program.
  runtime::Result<MethodMeta> method_meta(const std::string& method_name);

  // Runs a method, which is loaded first. Inputs that are None or missing at the end are those of
  // set_input(). InvalidArgument if there are too many, one is missing, or one does not fit: the
  // message says what was expected.
  ET_NODISCARD virtual runtime::Result<std::vector<runtime::EValue>> execute(
      const std::string& method_name, const std::vector<runtime::EValue>& input_values);

  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(
      const std::string& method_name, const runtime::EValue& input_value) {
    return execute(method_name, std::vector<runtime::EValue>{input_value});
  }
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(
      const std::string& method_name) {
    return execute(method_name, std::vector<runtime::EValue>{});
  }

  // Inputs by name, in any order: module.execute("forward", {{"image", image}, {"mask", mask}}).
  // Those that are not named are those of set_input(). InvalidArgument, too, if the method has no
  // input of a name or one is given twice.
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(
      const std::string& method_name, const std::vector<NamedValue>& named_values);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> execute(
      const std::string& method_name, std::initializer_list<NamedValue> named_values) {
    return execute(method_name, std::vector<NamedValue>(named_values));
  }

  // The first output of execute(). InvalidArgument if there is none.
  ET_NODISCARD runtime::Result<runtime::EValue> get(
      const std::string& method_name, const std::vector<runtime::EValue>& input_values) {
    auto outputs = ET_UNWRAP(execute(method_name, input_values));
    ET_CHECK_OR_RETURN_ERROR(!outputs.empty(), InvalidArgument, "Method %s has no outputs",
                             method_name.c_str());
    return outputs[0];
  }
  ET_NODISCARD runtime::Result<runtime::EValue> get(const std::string& method_name,
                                                    const runtime::EValue& input_value) {
    return get(method_name, std::vector<runtime::EValue>{input_value});
  }
  ET_NODISCARD runtime::Result<runtime::EValue> get(const std::string& method_name) {
    return get(method_name, std::vector<runtime::EValue>{});
  }

  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> forward(
      const std::vector<runtime::EValue>& input_values) {
    return execute("forward", input_values);
  }
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> forward(
      const runtime::EValue& input_value) {
    return forward(std::vector<runtime::EValue>{input_value});
  }
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> forward() {
    return forward(std::vector<runtime::EValue>{});
  }

  // Inputs by name: module.forward({{"image", image}, {"mask", mask}}).
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> forward(
      const std::vector<NamedValue>& named_values) {
    return execute("forward", named_values);
  }
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> forward(
      std::initializer_list<NamedValue> named_values) {
    return execute("forward", named_values);
  }

  // Stores an input for every later execution that does not pass its own; a default-constructed
  // EValue clears it. Loads the method. InvalidArgument if there is no such input or the value does
  // not fit.
  ET_NODISCARD runtime::Error set_input(const std::string& method_name,
                                        const runtime::EValue& input_value, size_t input_index);
  ET_NODISCARD runtime::Error set_input(const runtime::EValue& input_value, size_t input_index) {
    return set_input("forward", input_value, input_index);
  }

  // Stores all inputs; InvalidArgument if there are too few or too many.
  ET_NODISCARD runtime::Error set_inputs(const std::string& method_name,
                                         const std::vector<runtime::EValue>& input_values);
  ET_NODISCARD runtime::Error set_inputs(const std::vector<runtime::EValue>& input_values) {
    return set_inputs("forward", input_values);
  }

  // Makes an output be written to the memory of a tensor from now on. Loads the method.
  // InvalidArgument if it is no tensor or of another type or too small, InvalidState if the memory
  // plan already gives the output its memory.
  ET_NODISCARD runtime::Error set_output(const std::string& method_name,
                                         runtime::EValue output_value, size_t output_index = 0);
  ET_NODISCARD runtime::Error set_output(runtime::EValue output_value, size_t output_index = 0) {
    return set_output("forward", std::move(output_value), output_index);
  }

  // Sets all outputs; InvalidArgument if there are too few or too many.
  ET_NODISCARD runtime::Error set_outputs(const std::string& method_name,
                                          const std::vector<runtime::EValue>& output_values);
  ET_NODISCARD runtime::Error set_outputs(const std::vector<runtime::EValue>& output_values) {
    return set_outputs("forward", output_values);
  }

  // The memory of a method's plan, where its state lies, of which the caller may keep copies and
  // write them back between executions. Loads the method. NotSupported if it is memory that
  // load_method() was given, or another device's.
  ET_NODISCARD runtime::Result<std::vector<runtime::Span<uint8_t>>> planned_memory(
      const std::string& method_name);

  // The values of the last execution. Loads the method.
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> get_outputs(
      const std::string& method_name);
  ET_NODISCARD runtime::Result<std::vector<runtime::EValue>> get_outputs() {
    return get_outputs("forward");
  }
  ET_NODISCARD runtime::Result<runtime::EValue> get_output(const std::string& method_name,
                                                           size_t output_index = 0);
  ET_NODISCARD runtime::Result<runtime::EValue> get_output(size_t output_index = 0) {
    return get_output("forward", output_index);
  }

  // An output of the last execution by its name. InvalidArgument if the method has none of it.
  ET_NODISCARD runtime::Result<runtime::EValue> get_named_output(
      const std::string& output_name, const std::string& method_name = "forward");

  // Null if none was given.
  runtime::EventTracer* event_tracer() const { return event_tracer_.get(); }

  // Always empty: event tracers keep their own buffers.
  ET_DEPRECATED ET_NODISCARD runtime::Span<uint8_t> debug_buffer() { return {}; }

  const LoadBackendOptionsMap& backend_options() const { return backend_options_; }

 protected:
  // The memory of one method's plan.
  struct PlannedMemory {
    std::vector<ZeroedBytes> planned_buffers;
    std::vector<runtime::Span<uint8_t>> planned_spans;
    std::vector<runtime::DeviceMemoryBuffer> device_buffers;
    std::vector<runtime::etensor::Device> planned_devices;
    std::unique_ptr<runtime::HierarchicalAllocator> planned_memory;
  };

  // How the constructors that take paths read them.
  static runtime::Result<std::unique_ptr<runtime::DataLoader>> open_file(const std::string& path,
                                                                         LoadMode load_mode);

  // Several data files that are no paths. To be called before load().
  void set_data_map_loaders(std::vector<std::unique_ptr<runtime::DataLoader>> loaders) {
    data_map_loaders_ = std::move(loaders);
  }

  struct MethodHolder {
    std::unique_ptr<PlannedMemory> planned_memory;
    std::unique_ptr<runtime::MemoryManager> memory_manager;
    std::vector<Kernel> kernel_registry;
    std::unique_ptr<Method> method;
    std::vector<runtime::EValue> inputs;  // of set_input(); None: not set
  };

 private:
  runtime::Error load_data_files();
  runtime::Result<std::unique_ptr<PlannedMemory>> make_planned_memory(const MethodMeta& meta);
  runtime::Result<Method> make_method(const std::string& method_name, MethodHolder& holder,
                                      runtime::EventTracer* event_tracer,
                                      const LoadBackendOptionsMap* backend_options);
  // The loaded method; loads it if need be.
  runtime::Result<MethodHolder*> loaded(const std::string& method_name);

  std::string file_path_;
  std::vector<std::string> data_files_;
  LoadMode load_mode_ = LoadMode::File;
  bool share_memory_arenas_ = false;
  LoadBackendOptionsMap backend_options_;                           // refers to option_copies_
  std::vector<std::vector<runtime::BackendOption>> option_copies_;  // of one backend each

  // In the order in which each needs the ones before.
  std::unique_ptr<runtime::EventTracer> event_tracer_;
  std::unique_ptr<runtime::MemoryAllocator> memory_allocator_;
  std::unique_ptr<runtime::MemoryAllocator> temp_allocator_;
  std::unique_ptr<runtime::DataLoader> data_loader_;  // until the program takes it over
  std::vector<std::unique_ptr<runtime::DataLoader>> data_map_loaders_;
  std::vector<std::unique_ptr<NamedDataMap>> data_maps_;
  std::unique_ptr<NamedDataMap> merged_data_map_;
  std::shared_ptr<Program> program_;
  SharedArenas shared_arenas_;

 protected:
  // Last, because methods need all of the above.
  std::unordered_map<std::string, MethodHolder> methods_;
};

}  // namespace ET_MODULE_NAMESPACE

using ET_MODULE_NAMESPACE::Module;
using ET_MODULE_NAMESPACE::NamedValue;

}  // namespace executorch::extension

namespace torch::executor {
using ::executorch::extension::Module;
}  // namespace torch::executor
