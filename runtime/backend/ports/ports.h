// SPDX-License-Identifier: BSD-3-Clause
// The inputs and outputs of a delegate that a vendor's library runs: what the library says of them,
// and a method's tensors as memory for it.
//
//   Ports ports("MyBackend", {can_convert});                            // when it is loaded
//   ports.inputs.push_back({"x", ScalarType::Half, PortSizes::ranges({{1, 8}, {3, 3}})});
//   ports.outputs.push_back({"y", ScalarType::Half, PortSizes::fixed({8})});
//
//   ET_CHECK_OK_OR_RETURN_ERROR(ports.check_count(args));               // at each run
//   const Elements x = ET_UNWRAP(ports.prepare_input(0, *args[0]));     // to read
//   const Elements y = ET_UNWRAP(ports.prepare_output(0, *args[1]));    // to write, or none
//   ... run ...
//   ET_CHECK_OK_OR_RETURN_ERROR(ports.store_output(0, y, *args[1]));    // or what was written
//
// The library has the tensor's memory where dtype and layout are what it takes, else a copy. A
// mistake of the caller is InvalidArgument, its text names the argument, what was expected and what
// was found. For backends of computers and phones: it allocates. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <executorch/runtime/backend/element_copy.h>
#include <executorch/runtime/backend/ports/port_sizes.h>
#include <executorch/runtime/backend/tensor_arguments.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// An input or output of the library.
struct Port {
  std::string name{};  // for messages; empty where the library has none
  executorch::aten::ScalarType dtype = executorch::aten::ScalarType::Float;
  PortSizes sizes{};

  /// What the library has instead of the tensor's memory; grows when it has to.
  std::vector<uint8_t> copy{};
  /// The memory that bind() gave to the library.
  Elements bound{};
  bool is_bound = false;

  /// Tells the library by `set(elements)` which memory it has, unless it has that already. What
  /// `set` returns; afterwards it has none if that is an error.
  template <typename Set>
  Error bind(const Elements& elements, Set set) {
    if (is_bound && bound.is_same_memory(elements)) {
      return Error::Ok;
    }
    is_bound = false;
    ET_CHECK_OK_OR_RETURN_ERROR(set(elements));
    bound = elements;
    is_bound = true;
    return Error::Ok;
  }
};

/// What a library takes of tensors, beside its ports' dtypes and sizes.
struct PortRules {
  /// Whether a tensor of one dtype may go into a port of another, or out of it; null: never.
  /// can_convert() where any number may.
  bool (*converts)(executorch::aten::ScalarType from, executorch::aten::ScalarType to) = nullptr;
  /// Whether it takes any strides; else row-major memory alone, and other orders are copied.
  bool takes_strides = false;
  /// Whether it has values without dimensions; else one of one element stands for them.
  bool takes_scalars = true;
  /// Whether it takes inputs without elements.
  bool takes_empty = true;
};

/// Those of one delegate, in the order of its arguments: inputs, then outputs.
class Ports {
 public:
  /// `backend`: its name, for messages; lives as long as the ports.
  explicit Ports(const char* backend, const PortRules& rules = {})
      : backend_(backend), rules_(rules) {}

  Error check_count(Span<EValue*> args) const {
    return TensorArguments::of(backend_, args, inputs.size(), outputs.size()).error();
  }

  /// The elements of an input where the tensor has them: of a dtype that the port's may be made of,
  /// in sizes that it takes.
  Result<Elements> check_input(size_t index, const EValue& value) const {
    const TensorView view = ET_UNWRAP(view_of(name_of_input(index), inputs[index], value, true));
    ET_CHECK_OK_OR_RETURN_ERROR(view.check_memory());
    const Elements found = elements_of(view);
    const Port& port = inputs[index];
    ET_CHECK_OR_RETURN_ERROR(port.sizes.fit(found) && (rules_.takes_empty || found.numel() > 0),
                             InvalidArgument, "%s: expected sizes %s, found %s",
                             name_of_input(index).text().data(), port.sizes.text().c_str(),
                             text_of_sizes(found).c_str());
    return found;
  }

  /// Copies what check_input() found to memory that the backend has for it. InvalidArgument for a
  /// number that the other dtype does not hold.
  Error copy_input(size_t index, const Elements& found, const Elements& target) const {
    return copy_elements(name_of_input(index).text().data(), found, target);
  }

  /// What the library reads, with the port's dtype; valid as long as the tensor, and until the next
  /// call for this port.
  Result<Elements> prepare_input(size_t index, const EValue& value) {
    const Elements found = ET_UNWRAP(check_input(index, value));
    if (is_taken(found, inputs[index])) {
      return found;
    }
    const Elements copy = memory_for(inputs[index], found);
    ET_CHECK_OK_OR_RETURN_ERROR(copy_input(index, found, copy));
    return copy;
  }

  /// Memory to write to, valid likewise, where the port's sizes are fixed: the tensor takes these.
  /// Without memory, and the tensor as it was, where only the run will say them.
  Result<Elements> prepare_output(size_t index, const EValue& value) {
    Port& port = outputs[index];
    const TensorView view = ET_UNWRAP(view_of(name_of_output(index), port, value, false));
    if (!port.sizes.are_fixed()) {
      return Elements();
    }
    const std::vector<int64_t> sizes = port.sizes.sizes();
    ET_CHECK_OK_OR_RETURN_ERROR(resize(view, {sizes.data(), sizes.size()}));
    const Elements found = elements_of(view);
    return is_taken(found, port) ? found : memory_for(port, found);
  }

  /// A result of the library for the tensor, which takes its sizes. Nothing is copied where the
  /// result is in the tensor's memory already. NotSupported for more than the tensor has room for.
  Error store_output(size_t index, const Elements& result, const EValue& value) const {
    const TensorView view = ET_UNWRAP(view_of(name_of_output(index), outputs[index], value, false));
    if (result.data != nullptr && result.data == view.data<void>()) {
      return Error::Ok;
    }
    ET_CHECK_OK_OR_RETURN_ERROR(
        resize(view, executorch::aten::ArrayRef<int64_t>(result.sizes, result.rank)));
    return copy_elements(name_of_output(index).text().data(), result, elements_of(view));
  }

  std::vector<Port> inputs;
  std::vector<Port> outputs;

 private:
  ArgumentName name_of_input(size_t index) const {
    return {backend_, "input", index, inputs[index].name.c_str()};
  }
  ArgumentName name_of_output(size_t index) const {
    return {backend_, "output", index, outputs[index].name.c_str()};
  }

  /// A rule has one dtype: the tensor's, where it may become the port's or be made of it.
  Result<TensorView> view_of(const ArgumentName& name, const Port& port, const EValue& value,
                             bool is_input) const {
    TensorRule rule{port.dtype, kAnyRank, /*is_contiguous=*/false};
    if (value.isTensor() && rules_.converts != nullptr) {
      const auto found = value.toTensor().scalar_type();
      const bool is_converted =
          is_input ? rules_.converts(found, port.dtype) : rules_.converts(port.dtype, found);
      rule.dtype = is_converted ? found : port.dtype;
    }
    return TensorView::of(name, value, rule);
  }

  Elements elements_of(const TensorView& view) const {
    Elements elements = Elements::of(view.tensor());
    if (elements.rank == 0 && !rules_.takes_scalars) {
      elements = Elements::row_major(elements.data, elements.dtype, std::vector<int64_t>{1});
    }
    return elements;
  }

  /// A tensor without dimensions stays so where the library has one element for it.
  Error resize(const TensorView& view, executorch::aten::ArrayRef<int64_t> sizes) const {
    const bool is_scalar =
        view.rank() == 0 && !rules_.takes_scalars && sizes.size() == 1 && sizes[0] == 1;
    return is_scalar ? view.check_memory() : view.resize(sizes);
  }

  bool is_taken(const Elements& found, const Port& port) const {
    return found.dtype == port.dtype && (rules_.takes_strides || found.is_row_major());
  }

  static Elements memory_for(Port& port, const Elements& like) {
    Elements made =
        Elements::row_major(nullptr, port.dtype, Span<const int64_t>(like.sizes, like.rank));
    port.copy.resize(std::max(port.copy.size(), made.nbytes()));
    made.data = port.copy.data();
    return made;
  }

  static std::string text_of_sizes(const Elements& found) {
    return PortSizes::fixed({found.sizes, found.sizes + found.rank}).text();
  }

  const char* backend_;
  PortRules rules_;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
