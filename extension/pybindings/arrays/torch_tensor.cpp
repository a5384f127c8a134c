// SPDX-License-Identifier: BSD-3-Clause
// Tensors of PyTorch, without linking it: this library works with any of its builds. A tensor comes
// and goes by one call of a function in C that PyTorch lends, as DLPack.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <executorch/extension/pybindings/arrays/array_library.h>
#include <executorch/extension/pybindings/arrays/dlpack.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/text.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

using executorch::aten::Tensor;

namespace {

// Kept for good: every call asks for them.
py::handle kept(py::object object) {
  return object.release();
}

py::handle torch() {
  static const py::handle module = kept(py::module_::import("torch"));
  return module;
}

const dlpack::Exchange& find_exchange() {
  const py::object capsule = torch().attr("Tensor").attr("__dlpack_c_exchange_api__");
  const auto* found = static_cast<const dlpack::Exchange*>(
      PyCapsule_GetPointer(capsule.ptr(), dlpack::kExchangeName));
  if (found == nullptr) {
    throw py::error_already_set();
  }
  while (found->version.major != dlpack::kVersion.major && found->older != nullptr) {
    found = found->older;
  }
  if (found->version.major != dlpack::kVersion.major) {
    throw RuntimeFailure("This PyTorch gives tensors as DLPack " +
                         std::to_string(found->version.major) + ", expected version 1");
  }
  return *found;
}

const dlpack::Exchange& exchange() {
  static const dlpack::Exchange& found = find_exchange();
  return found;
}

py::handle interned(const char* name) {
  return PyUnicode_InternFromString(name);
}

std::vector<int64_t> to_numbers(py::handle list) {
  std::vector<int64_t> numbers;
  for (py::handle number : list) {
    numbers.push_back(number.cast<int64_t>());
  }
  return numbers;
}

[[noreturn]] void fail_without_memory(py::handle tensor, const std::string& what) {
  if (tensor.attr("is_nested").cast<bool>()) {
    fail_argument(what + ": expected a tensor with one shape, got a nested one. Pad it with " +
                  "torch.nested.to_padded_tensor()");
  }
  const py::object layout = tensor.attr("layout");
  if (!layout.is(py::object(torch().attr("strided")))) {
    fail_argument(what + ": expected a dense tensor (torch.strided), got one of layout " +
                  to_text(layout) + ". Call .to_dense()");
  }
  if (!tensor.attr("is_cpu").cast<bool>()) {
    fail_argument(what + ": expected a tensor on the CPU, got one on " +
                  to_text(tensor.attr("device")));
  }
  fail_argument(what + ": expected a tensor with data, got a " +
                to_text(py::type::handle_of(tensor).attr("__name__")) +
                " without memory (fake, or freed). Pass a real tensor");
}

// Whether its numbers lie in this processor's memory.
bool has_memory(py::handle tensor) {
  try {
    return tensor.attr("is_cpu").cast<bool>() &&
           (tensor.attr("data_ptr")().cast<uintptr_t>() != 0 ||
            tensor.attr("numel")().cast<int64_t>() == 0);
  } catch (const py::error_already_set&) {  // what torch says of data that it cannot show
    return false;
  }
}

// None where that is not all that is to know: no memory here, a type without counterpart.
std::optional<ArrayView> by_dlpack(py::handle tensor) {
  dlpack::Tensor found;
  if (exchange().look == nullptr || exchange().look(tensor.ptr(), &found) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const Dtype* const dtype = find_dtype(found.dtype.code, found.dtype.bits);
  if (dtype == nullptr || found.dtype.lanes != 1 || found.device.type != dlpack::kCpu ||
      found.data == nullptr || (found.strides == nullptr && found.ndim > 0)) {
    return std::nullopt;
  }
  return ArrayView{dtype->name,
                   {found.shape, found.shape + found.ndim},
                   {found.strides, found.strides + found.ndim},
                   static_cast<char*>(found.data) + found.byte_offset};
}

// A tensor in words of DLPack, and what lives as long as PyTorch uses its memory.
struct Shared {
  dlpack::ManagedTensor managed = {};
  int64_t sizes[executorch::runtime::kTensorDimensionLimit];
  int64_t strides[executorch::runtime::kTensorDimensionLimit];
  py::object owner;
  Memory memory;

  // PyTorch calls it from any thread.
  static void free(dlpack::ManagedTensor* managed) {
    const py::gil_scoped_acquire lock;
    delete static_cast<Shared*>(managed->manager);
  }
};

dlpack::DataType type_of(const Tensor& tensor) {
  const Dtype* const dtype = find_dtype(tensor.scalar_type());
  if (dtype == nullptr) {
    fail_argument(std::string("PyTorch has no tensors with elements of type ") +
                  executorch::runtime::toString(tensor.scalar_type()));
  }
  return {dtype->code, dtype->bits, 1};
}

// A tensor with the type, sizes and strides of `tensor` over `data`, which `shared` keeps.
py::object made(const Tensor& tensor, void* data, std::unique_ptr<Shared> shared) {
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), shared->sizes);
  std::copy(tensor.strides().begin(), tensor.strides().end(), shared->strides);
  shared->managed = {dlpack::kVersion,
                     shared.get(),
                     Shared::free,
                     /*flags=*/0,
                     {data,
                      {dlpack::kCpu, 0},
                      static_cast<int32_t>(tensor.dim()),
                      type_of(tensor),
                      shared->sizes,
                      shared->strides,
                      /*byte_offset=*/0}};
  void* object = nullptr;
  if (exchange().take(&shared.release()->managed, &object) != 0) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(static_cast<PyObject*>(object));
}

class TorchLibrary final : public ArrayLibrary {
 public:
  const char* name() const override { return "torch"; }

  bool owns(py::handle value) const override {
    static LateType tensor("torch", "Tensor");
    return tensor.is_of(value);
  }

  py::object plain(py::handle tensor, const std::string& what) const override {
    (void)what;  // look_at() says what has no memory
    static const py::handle is_conj = interned("is_conj"), is_neg = interned("is_neg");
    for (const py::handle question : {is_conj, is_neg}) {
      const auto answer = py::reinterpret_steal<py::object>(
          PyObject_CallMethodNoArgs(tensor.ptr(), question.ptr()));
      if (!answer) {  // some subclasses have no answer
        PyErr_Clear();
      } else if (answer.ptr() == Py_True) {
        return tensor.attr("resolve_conj")().attr("resolve_neg")();
      }
    }
    return py::reinterpret_borrow<py::object>(tensor);
  }

  ArrayView look_at(py::handle tensor, const std::string& what) const override {
    if (auto view = by_dlpack(tensor)) {
      return *view;
    }
    if (!has_memory(tensor) || tensor.attr("is_nested").cast<bool>()) {
      fail_without_memory(tensor, what);
    }
    constexpr std::string_view kPrefix = "torch.";
    return {to_text(tensor.attr("dtype")).substr(kPrefix.size()), to_numbers(tensor.attr("shape")),
            to_numbers(tensor.attr("stride")()),
            reinterpret_cast<void*>(tensor.attr("data_ptr")().cast<uintptr_t>())};
  }

  std::string advice_dtype(const char* dtype) const override {
    return std::string(".to(torch.") + dtype + ")";
  }

  std::string advice_strides() const override {
    return "Call .contiguous() (or .to(memory_format=...) if the model was exported with another "
           "memory format)";
  }

  py::object view(const Tensor& tensor, Memory memory) const override {
    auto shared = std::make_unique<Shared>();
    shared->memory = std::move(memory);
    void* const data = shared->memory.get();
    return made(tensor, data, std::move(shared));
  }

  py::object share(const Tensor& tensor, const py::object& owner) const override {
    auto shared = std::make_unique<Shared>();
    shared->owner = owner;
    return made(tensor, tensor.mutable_data_ptr(), std::move(shared));
  }
};

}  // namespace

const ArrayLibrary& torch_library() {
  static const TorchLibrary library;
  return library;
}

}  // namespace executorch::extension::pybindings
