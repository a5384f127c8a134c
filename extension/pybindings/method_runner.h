// SPDX-License-Identifier: BSD-3-Clause
// Calls a method of a Module with Python values.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/pybindings/arrays/array_library.h>
#include <executorch/extension/pybindings/tracing.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/evalue.h>

namespace executorch::extension::pybindings {

// A Module that one thread uses at a time, or all those of a program whose events are traced. Every
// call that finds another thread in it throws RuntimeFailure.
class GuardedModule {
 public:
  // `tracing` may be null.
  GuardedModule(std::unique_ptr<Module> module, std::shared_ptr<Tracing> tracing)
      : tracing_(std::move(tracing)), module_(std::move(module)) {}

  executorch::runtime::EventTracer* tracer() const {
    return tracing_ == nullptr ? nullptr : tracing_->tracer();
  }

  // Exclusive use until it is destroyed; made and destroyed under the interpreter lock.
  class Use {
   public:
    explicit Use(GuardedModule& guarded);
    ~Use() { guarded_.in_use() = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Module& operator*() const { return *guarded_.module_; }
    Module* operator->() const { return guarded_.module_.get(); }

   private:
    GuardedModule& guarded_;
  };

 private:
  bool& in_use() { return tracing_ == nullptr ? in_use_ : tracing_->in_use; }

  std::shared_ptr<Tracing> tracing_;  // outlives the methods that report to it
  std::unique_ptr<Module> module_;
  bool in_use_ = false;  // guarded by the interpreter lock
};

// Input tensors are not copied by the caller, but kept alive until the next inputs are set. Outputs
// are tensors of the library that the inputs come from: PyTorch's if one of them is PyTorch's,
// NumPy's if all are NumPy's, and without tensors among them default_library()'s. Outputs that the
// memory plan leaves to the caller get fresh memory in every execution, which the returned tensors
// then own: no copy. Planned outputs are copied, or with clone_outputs = false shared with the
// method, which overwrites them in its next execution.
class MethodRunner {
 public:
  // Loads the method.
  MethodRunner(std::shared_ptr<GuardedModule> module, const std::string& name);

  // If they do not fit, the inputs before stay.
  void set_inputs(const pybind11::list& inputs);
  // Whether inputs were set, which execute() takes once more.
  bool has_inputs() const { return !inputs_.values.empty(); }
  // With the inputs that were set last.
  void execute();
  // `run` executes the method; it is called without the interpreter lock.
  void execute(const std::function<executorch::runtime::Error(Module&)>& run);
  // `owner` is the Python object that keeps the method alive.
  pybind11::list get_outputs(const pybind11::object& owner, bool clone_outputs);

  // All three: inputs, execution, outputs.
  pybind11::list run(const pybind11::list& inputs, const pybind11::object& owner,
                     bool clone_outputs);

  // A copy, or with clone = false the method's memory, which `owner` keeps alive.
  pybind11::object get_attribute(const std::string& name, const pybind11::object& owner,
                                 bool clone);

 private:
  // Values, and what they point into.
  struct Inputs {
    std::vector<executorch::runtime::EValue> values;
    std::vector<pybind11::object> owners;
    std::vector<TensorPtr> tensors;
    std::vector<std::unique_ptr<std::pair<std::string, executorch::aten::ArrayRef<char>>>> strings;
    const ArrayLibrary* library = nullptr;  // of the tensors
  };

  // What the program says of an input.
  struct Expected {
    std::string name;  // how messages begin
    executorch::runtime::Tag tag;
    std::optional<executorch::runtime::TensorInfo> tensor;
  };

  // An output that the memory plan leaves to the caller.
  struct Unplanned {
    size_t index;
    size_t num_bytes;
    TensorPtr tensor;  // over `memory`
    Memory memory;     // of the last execution
  };

  // Read once, by the first call that needs them.
  const std::vector<Expected>& expected_inputs(Module& module);
  std::vector<Unplanned>& unplanned_outputs(Module& module);

  executorch::runtime::EValue convert_input(pybind11::handle value, const Expected& expected,
                                            const ArrayLibrary* library, Inputs* inputs) const;
  [[noreturn]] void fail_count(Module& module, const pybind11::list& inputs) const;
  void prepare_outputs(Module& module);
  pybind11::object convert_output(const executorch::runtime::EValue& value,
                                  const pybind11::object& owner, bool clone_outputs);
  const ArrayLibrary& library() const;

  std::shared_ptr<GuardedModule> module_;
  std::string name_;
  Inputs inputs_;
  std::optional<std::vector<Expected>> expected_inputs_;
  std::optional<std::vector<Unplanned>> unplanned_outputs_;
};

}  // namespace executorch::extension::pybindings
