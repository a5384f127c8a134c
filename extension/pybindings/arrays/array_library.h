// SPDX-License-Identifier: BSD-3-Clause
// Tensors of Python, which are PyTorch's or NumPy's, and our tensors. Nothing here links libtorch;
// each library is imported when one of its tensors is needed.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/executor/method_meta.h>

// Native modules that link _portable_lib find these there.
#define ET_PYBINDINGS_API __attribute__((visibility("default")))

namespace executorch::extension::pybindings {

// What is asked of a tensor that a caller gives.
struct ArrayView {
  std::string dtype;             // its name in both libraries: "float32"
  std::vector<int64_t> sizes;    //
  std::vector<int64_t> strides;  // in elements
  void* data;
};

// Memory of an output, which all tensors over it own.
using Memory = std::shared_ptr<void>;

// Uninitialized; aligned as kernels like it.
Memory make_memory(size_t num_bytes);

class ArrayLibrary {
 public:
  virtual ~ArrayLibrary() = default;

  // "torch", "numpy"
  virtual const char* name() const = 0;
  virtual bool owns(pybind11::handle value) const = 0;
  // The same numbers in memory that can be read as they lie: a conjugated or negated view, which
  // only says so, is computed. This or look_at() is a RuntimeFailure, beginning with `what`, for
  // tensors without such memory (sparse, nested, on another device, fake, of another byte order).
  virtual pybind11::object plain(pybind11::handle tensor, const std::string& what) const = 0;
  // Of a plain tensor.
  virtual ArrayView look_at(pybind11::handle tensor, const std::string& what) const = 0;
  // How a caller converts to this dtype, or makes a tensor contiguous.
  virtual std::string advice_dtype(const char* dtype) const = 0;
  virtual std::string advice_strides() const = 0;

  // A tensor with the type, sizes and strides of `tensor` over `memory`.
  virtual pybind11::object view(const executorch::aten::Tensor& tensor, Memory memory) const = 0;
  // Likewise over the tensor's own data, of which there are some, and which `owner` keeps alive.
  virtual pybind11::object share(const executorch::aten::Tensor& tensor,
                                 const pybind11::object& owner) const = 0;
  // Likewise with a copy of the data.
  pybind11::object copy(const executorch::aten::Tensor& tensor) const;
};

const ArrayLibrary& torch_library();
const ArrayLibrary& numpy_library();

// A type of a module that may be imported later; once it is there, it is kept for good.
class LateType {
 public:
  LateType(const char* module, const char* name) : module_(module), name_(name) {}
  // Under the interpreter lock. A value can be of the type only if the module is there.
  bool is_of(pybind11::handle value);

 private:
  const char* module_;
  const char* name_;
  PyObject* type_ = nullptr;
};

// The library that the value is a tensor of; null if it is no tensor.
ET_PYBINDINGS_API const ArrayLibrary* library_of(pybind11::handle value);

// What makes tensors where no input says which: PyTorch where it is installed, otherwise NumPy.
ET_PYBINDINGS_API const ArrayLibrary& default_library();

// Our tensor over the memory of a plain Python tensor, which must live as long. Type, rank and
// order of dimensions must be those of `expected`: otherwise RuntimeFailure, beginning with `what`,
// says what was expected and found.
TensorPtr borrow_tensor(const ArrayLibrary& library, pybind11::handle tensor,
                        const executorch::runtime::TensorInfo& expected, const std::string& what);

// A type of elements: its name in both libraries, and what it is in DLPack.
struct Dtype {
  executorch::aten::ScalarType type;
  const char* name;
  uint8_t code;
  uint8_t bits;
};

// Null if the libraries have none.
const Dtype* find_dtype(executorch::aten::ScalarType type);
const Dtype* find_dtype(uint8_t code, uint8_t bits);

// The dtype's name in both libraries; null if they have none.
ET_PYBINDINGS_API const char* find_dtype_name(executorch::aten::ScalarType type);
// Likewise; throws RuntimeFailure if they have none.
const char* dtype_name(executorch::aten::ScalarType type);

// "(2, 3)"
template <typename List>
pybind11::tuple to_tuple(const List& list) {
  pybind11::tuple result(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    result[i] = static_cast<int64_t>(list[i]);
  }
  return result;
}

}  // namespace executorch::extension::pybindings
