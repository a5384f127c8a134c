// SPDX-License-Identifier: BSD-3-Clause
// Calls a method of a Module with Python values.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/evalue.h>

namespace executorch::extension::pybindings {

// A Module that one thread uses at a time. Every call that finds another thread in it throws
// RuntimeFailure.
class GuardedModule {
 public:
  explicit GuardedModule(std::unique_ptr<Module> module) : module_(std::move(module)) {}

  // Exclusive use until it is destroyed; made and destroyed under the interpreter lock.
  class Use {
   public:
    explicit Use(GuardedModule& guarded);
    ~Use() { guarded_.in_use_ = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Module& operator*() const { return *guarded_.module_; }
    Module* operator->() const { return guarded_.module_.get(); }

   private:
    GuardedModule& guarded_;
  };

 private:
  std::unique_ptr<Module> module_;
  bool in_use_ = false;  // guarded by the interpreter lock
};

// Input tensors are not copied by the caller, but kept alive until the next inputs are set. Outputs
// that the memory plan leaves to the caller get fresh torch memory in every execution, which the
// returned tensors then own: no copy. Planned outputs are copied, or with clone_outputs = false
// shared with the method, which overwrites them in its next execution.
class MethodRunner {
 public:
  // Loads the method.
  MethodRunner(std::shared_ptr<GuardedModule> module, const std::string& name);

  void set_inputs(const pybind11::sequence& inputs);
  void execute();
  // `owner` is the Python object that keeps the method alive.
  pybind11::list get_outputs(const pybind11::object& owner, bool clone_outputs);

  pybind11::list run(const pybind11::sequence& inputs, const pybind11::object& owner,
                     bool clone_outputs);

  pybind11::object get_attribute(const std::string& name);

 private:
  executorch::runtime::EValue convert_input(pybind11::handle value, size_t index, Module& module);
  void prepare_outputs(Module& module);
  pybind11::object convert_output(const executorch::runtime::EValue& value,
                                  const pybind11::object& owner, bool clone_outputs);

  std::shared_ptr<GuardedModule> module_;
  std::string name_;
  std::vector<executorch::runtime::EValue> inputs_;
  // What the inputs point into.
  std::vector<pybind11::object> input_owners_;
  std::vector<TensorPtr> input_tensors_;
  std::vector<std::unique_ptr<std::pair<std::string, executorch::aten::ArrayRef<char>>>>
      input_strings_;
  std::vector<pybind11::object> output_memory_;  // of the last execution
};

}  // namespace executorch::extension::pybindings
