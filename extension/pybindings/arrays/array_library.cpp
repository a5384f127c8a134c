// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/arrays/array_library.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>

#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/text.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::runtime::TensorInfo;

namespace {

constexpr Dtype kDtypes[] = {
    {ScalarType::Byte, "uint8", 1, 8},
    {ScalarType::Char, "int8", 0, 8},
    {ScalarType::Short, "int16", 0, 16},
    {ScalarType::Int, "int32", 0, 32},
    {ScalarType::Long, "int64", 0, 64},
    {ScalarType::Half, "float16", 2, 16},
    {ScalarType::Float, "float32", 2, 32},
    {ScalarType::Double, "float64", 2, 64},
    {ScalarType::ComplexHalf, "complex32", 5, 32},
    {ScalarType::ComplexFloat, "complex64", 5, 64},
    {ScalarType::ComplexDouble, "complex128", 5, 128},
    {ScalarType::Bool, "bool", 6, 8},
    {ScalarType::BFloat16, "bfloat16", 4, 16},
    {ScalarType::Float8_e5m2, "float8_e5m2", 12, 8},
    {ScalarType::Float8_e4m3fn, "float8_e4m3fn", 10, 8},
    {ScalarType::Float8_e5m2fnuz, "float8_e5m2fnuz", 13, 8},
    {ScalarType::Float8_e4m3fnuz, "float8_e4m3fnuz", 11, 8},
    {ScalarType::UInt16, "uint16", 1, 16},
    {ScalarType::UInt32, "uint32", 1, 32},
    {ScalarType::UInt64, "uint64", 1, 64},
};

// "Float (torch.float32)"
std::string describe_dtype(const ArrayLibrary& library, const std::string& name) {
  for (const Dtype& known : kDtypes) {
    if (name == known.name) {
      return std::string(executorch::runtime::toString(known.type)) + " (" + library.name() + "." +
             name + ")";
    }
  }
  return std::string(library.name()) + "." + name;
}

// Dimensions of size 1 may have any stride.
bool same_strides(const ArrayView& found, const std::vector<StridesType>& expected) {
  for (const int64_t size : found.sizes) {
    if (size == 0) {
      return true;
    }
  }
  for (size_t i = 0; i < found.sizes.size(); ++i) {
    if (found.sizes[i] != 1 && found.strides[i] != expected[i]) {
      return false;
    }
  }
  return true;
}

std::vector<SizesType> checked_sizes(const ArrayView& found, const TensorInfo& expected,
                                     const std::string& what) {
  std::vector<SizesType> sizes;
  for (const int64_t size : found.sizes) {
    if (size > INT32_MAX) {
      fail_argument(what + ": sizes up to 2147483647 are possible, got " + std::to_string(size));
    }
    sizes.push_back(static_cast<SizesType>(size));
  }
  if (sizes.size() != expected.sizes().size()) {
    fail_argument(what + ": expected " + std::to_string(expected.sizes().size()) + " dimensions " +
                  to_text(to_tuple(expected.sizes())) + ", got " + std::to_string(sizes.size()) +
                  " " + to_text(to_tuple(sizes)));
  }
  return sizes;
}

bool is_installed(const char* module) {
  return !py::module_::import("importlib.util").attr("find_spec")(module).is_none();
}

}  // namespace

const Dtype* find_dtype(ScalarType type) {
  for (const Dtype& dtype : kDtypes) {
    if (dtype.type == type) {
      return &dtype;
    }
  }
  return nullptr;
}

const Dtype* find_dtype(uint8_t code, uint8_t bits) {
  for (const Dtype& dtype : kDtypes) {
    if (dtype.code == code && dtype.bits == bits) {
      return &dtype;
    }
  }
  return nullptr;
}

const char* find_dtype_name(ScalarType type) {
  const Dtype* const dtype = find_dtype(type);
  return dtype == nullptr ? nullptr : dtype->name;
}

const char* dtype_name(ScalarType type) {
  if (const char* name = find_dtype_name(type); name != nullptr) {
    return name;
  }
  fail_argument(std::string("Python has no tensors with elements of type ") +
                executorch::runtime::toString(type));
}

Memory make_memory(size_t num_bytes) {
  constexpr std::align_val_t kAlignment{64};
  return Memory(::operator new(std::max<size_t>(num_bytes, 1), kAlignment),
                [](void* memory) { ::operator delete(memory, kAlignment); });
}

py::object ArrayLibrary::copy(const executorch::aten::Tensor& tensor) const {
  Memory memory = make_memory(tensor.nbytes());
  if (tensor.nbytes() > 0) {
    std::memcpy(memory.get(), tensor.const_data_ptr(), tensor.nbytes());
  }
  return view(tensor, std::move(memory));
}

bool LateType::is_of(py::handle value) {
  if (type_ == nullptr) {
    const auto module =
        py::reinterpret_steal<py::object>(PyImport_GetModule(py::str(module_).ptr()));
    if (!module) {
      PyErr_Clear();
      return false;
    }
    type_ = py::object(module.attr(name_)).release().ptr();
  }
  return py::isinstance(value, type_);
}

const ArrayLibrary* library_of(py::handle value) {
  for (const ArrayLibrary* library : {&torch_library(), &numpy_library()}) {
    if (library->owns(value)) {
      return library;
    }
  }
  return nullptr;
}

const ArrayLibrary& default_library() {
  static const bool has_torch = is_installed("torch");
  return has_torch ? torch_library() : numpy_library();
}

TensorPtr borrow_tensor(const ArrayLibrary& library, py::handle tensor, const TensorInfo& expected,
                        const std::string& what) {
  const ArrayView found = library.look_at(tensor, what);
  const char* const dtype = dtype_name(expected.scalar_type());
  if (found.dtype != dtype) {
    fail_argument(what + ": expected elements of type " + describe_dtype(library, dtype) +
                  ", got " + describe_dtype(library, found.dtype) +
                  ". Convert it: " + library.advice_dtype(dtype));
  }
  std::vector<SizesType> sizes = checked_sizes(found, expected, what);
  std::vector<executorch::aten::DimOrderType> dim_order(expected.dim_order().begin(),
                                                        expected.dim_order().end());
  std::vector<StridesType> strides(sizes.size());
  if (executorch::runtime::dim_order_to_stride(sizes.data(), dim_order.data(), sizes.size(),
                                               strides.data()) != executorch::runtime::Error::Ok) {
    fail_argument(what + ": the program has an impossible order of dimensions");
  }
  if (!same_strides(found, strides)) {
    fail_argument(what + ": expected strides " + to_text(to_tuple(strides)) + " for sizes " +
                  to_text(to_tuple(sizes)) + ", got " + to_text(to_tuple(found.strides)) + ". " +
                  library.advice_strides() + ", or give execute(..., copy=True)");
  }
  return make_tensor_ptr(std::move(sizes), found.data, std::move(dim_order), std::move(strides),
                         expected.scalar_type(), executorch::aten::TensorShapeDynamism::STATIC);
}

}  // namespace executorch::extension::pybindings
