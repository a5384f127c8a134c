// SPDX-License-Identifier: BSD-3-Clause
// Calls registered kernels from Python with memory that Python owns, so that tests compare them
// with eager PyTorch. Built once for each kernel library.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

namespace py = pybind11;

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

// A tensor over memory that must outlive it. Sizes are upper bounds when `dynamic`.
class TensorView {
 public:
  TensorView(uintptr_t data, int dtype, std::vector<int32_t> sizes, std::vector<uint8_t> dim_order,
             bool dynamic)
      : sizes_(std::move(sizes)),
        dim_order_(std::move(dim_order)),
        strides_(sizes_.size()),
        impl_(make_impl(reinterpret_cast<void*>(data), dtype, dynamic)) {}
  TensorView(const TensorView&) = delete;

  Tensor tensor() { return Tensor(&impl_); }
  std::vector<int32_t> sizes() { return {tensor().sizes().begin(), tensor().sizes().end()}; }

 private:
  TensorImpl make_impl(void* data, int dtype, bool dynamic) {
    const Error error = executorch::runtime::dim_order_to_stride(sizes_.data(), dim_order_.data(),
                                                                 sizes_.size(), strides_.data());
    if (error != Error::Ok) {
      throw std::invalid_argument("bad dim order");
    }
    return TensorImpl(static_cast<ScalarType>(dtype), static_cast<ssize_t>(sizes_.size()),
                      sizes_.data(), data, dim_order_.data(), strides_.data(),
                      dynamic ? TensorShapeDynamism::DYNAMIC_BOUND : TensorShapeDynamism::STATIC);
  }

  std::vector<int32_t> sizes_;
  std::vector<uint8_t> dim_order_;
  std::vector<int32_t> strides_;
  TensorImpl impl_;
};

// Arguments of a call, with everything that EValues point to.
class Arguments {
 public:
  // Each item is (kind, value).
  explicit Arguments(const py::list& items) {
    for (const py::handle& item : items) {
      const auto pair = py::cast<std::pair<std::string, py::object>>(item);
      values_.push_back(value_of(pair.first, pair.second));
    }
    for (EValue& value : values_) {
      stack_.push_back(&value);
    }
  }
  std::vector<EValue*>& stack() { return stack_; }

 private:
  template <typename T>
  struct List {
    std::vector<EValue> values;
    std::vector<EValue*> pointers;
    std::vector<T> unwrapped;
    std::optional<BoxedEvalueList<T>> boxed;
  };

  template <typename T>
  EValue boxed_list(std::deque<List<T>>& lists, std::vector<EValue> values) {
    List<T>& list = lists.emplace_back();
    list.values = std::move(values);
    list.pointers.reserve(list.values.size() + 1);  // memory for an empty list, too
    list.unwrapped.reserve(list.values.size() + 1);
    for (EValue& value : list.values) {
      list.pointers.push_back(&value);
      if constexpr (std::is_same_v<T, Tensor>) {
        list.unwrapped.push_back(value.toTensor());
      } else {
        list.unwrapped.push_back(T());
      }
    }
    list.boxed.emplace(list.pointers.data(), list.unwrapped.data(),
                       static_cast<int>(list.values.size()));
    return EValue(&*list.boxed);
  }

  static EValue tensor_or_none(const py::handle& item) {
    return item.is_none() ? EValue() : EValue(py::cast<TensorView&>(item).tensor());
  }

  EValue value_of(const std::string& kind, const py::object& value) {
    if (kind == "none") {
      return EValue();
    }
    if (kind == "tensor") {
      return tensor_or_none(value);
    }
    if (kind == "int") {
      return EValue(py::cast<int64_t>(value));
    }
    if (kind == "float") {
      return EValue(py::cast<double>(value));
    }
    if (kind == "bool") {
      return EValue(py::cast<bool>(value));
    }
    if (kind == "str") {
      strings_.push_back(py::cast<std::string>(value));
      chars_.emplace_back(strings_.back().data(), strings_.back().size());
      return EValue(&chars_.back());
    }
    return list_of(kind, value);
  }

  EValue list_of(const std::string& kind, const py::object& value) {
    std::vector<EValue> items;
    if (kind == "ints") {
      for (const int64_t item : py::cast<std::vector<int64_t>>(value)) {
        items.emplace_back(item);
      }
      return boxed_list(int_lists_, std::move(items));
    }
    if (kind == "floats") {
      doubles_.push_back(py::cast<std::vector<double>>(value));
      double_refs_.emplace_back(doubles_.back().data(), doubles_.back().size());
      return EValue(&double_refs_.back());
    }
    if (kind == "bools") {
      const auto given = py::cast<std::vector<bool>>(value);
      bools_.emplace_back(given.begin(), given.end());
      bool_refs_.emplace_back(reinterpret_cast<const bool*>(bools_.back().data()),
                              bools_.back().size());
      return EValue(&bool_refs_.back());
    }
    for (const py::handle& item : value) {
      items.push_back(tensor_or_none(item));
    }
    if (kind == "tensors") {
      return boxed_list(tensor_lists_, std::move(items));
    }
    if (kind == "optional_tensors") {
      return boxed_list(optional_tensor_lists_, std::move(items));
    }
    throw std::invalid_argument("unknown kind of argument: " + kind);
  }

  std::deque<EValue> values_;
  std::vector<EValue*> stack_;
  std::deque<std::string> strings_;
  std::deque<ArrayRef<char>> chars_;
  std::deque<std::vector<double>> doubles_;
  std::deque<ArrayRef<double>> double_refs_;
  std::deque<std::vector<uint8_t>> bools_;
  std::deque<ArrayRef<bool>> bool_refs_;
  std::deque<List<int64_t>> int_lists_;
  std::deque<List<Tensor>> tensor_lists_;
  std::deque<List<std::optional<Tensor>>> optional_tensor_lists_;
};

executorch::runtime::OpFunction find(const std::string& name) {
  const auto function = executorch::runtime::get_op_function_from_registry(name.c_str());
  if (!function.ok()) {
    throw py::key_error("no kernel is registered for " + name);
  }
  return *function;
}

// Room for the scratch memory of the largest test case.
std::vector<uint8_t>& scratch() {
  static std::vector<uint8_t> memory(size_t{64} << 20);
  return memory;
}

int call(const std::string& name, const py::list& items, bool has_scratch) {
  Arguments arguments(items);
  MemoryAllocator temporary(static_cast<uint32_t>(scratch().size()), scratch().data());
  KernelRuntimeContext context(nullptr, has_scratch ? &temporary : nullptr);
  find(name)(context, {arguments.stack().data(), arguments.stack().size()});
  return static_cast<int>(context.failure_state());
}

// The shortest of `repeats` calls in seconds.
double best_time(const std::string& name, const py::list& items, int repeats) {
  Arguments arguments(items);
  const auto function = find(name);
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    MemoryAllocator temporary(static_cast<uint32_t>(scratch().size()), scratch().data());
    KernelRuntimeContext context(nullptr, &temporary);
    const auto start = std::chrono::steady_clock::now();
    function(context, {arguments.stack().data(), arguments.stack().size()});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = taken.count() < best ? taken.count() : best;
    if (context.failure_state() != Error::Ok) {
      throw std::runtime_error(name + " failed");
    }
  }
  return best;
}

std::vector<std::string> registered() {
  std::vector<std::string> names;
  for (const auto& kernel : executorch::runtime::get_registered_kernels()) {
    names.emplace_back(kernel.name_);
  }
  return names;
}

}  // namespace

PYBIND11_MODULE(ET_MODULE_NAME, module) {
  executorch::runtime::runtime_init();
  py::class_<TensorView>(module, "TensorView")
      .def(py::init<uintptr_t, int, std::vector<int32_t>, std::vector<uint8_t>, bool>(),
           py::arg("data"), py::arg("dtype"), py::arg("sizes"), py::arg("dim_order"),
           py::arg("dynamic") = false)
      .def("sizes", &TensorView::sizes);
  module.def("call", &call, py::arg("name"), py::arg("items"), py::arg("has_scratch") = true,
             "Runs a kernel; returns its Error as a number.");
  module.def("best_time", &best_time);
  module.def("registered", &registered);
}
