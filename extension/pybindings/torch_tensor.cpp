// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/torch_tensor.h>

#include <climits>
#include <cstring>
#include <vector>

#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::runtime::TensorInfo;

namespace {

struct DtypeName {
  ScalarType type;
  const char* name;  // attribute of the module torch
};

constexpr DtypeName kDtypes[] = {
    {ScalarType::Byte, "uint8"},
    {ScalarType::Char, "int8"},
    {ScalarType::Short, "int16"},
    {ScalarType::Int, "int32"},
    {ScalarType::Long, "int64"},
    {ScalarType::Half, "float16"},
    {ScalarType::Float, "float32"},
    {ScalarType::Double, "float64"},
    {ScalarType::ComplexHalf, "complex32"},
    {ScalarType::ComplexFloat, "complex64"},
    {ScalarType::ComplexDouble, "complex128"},
    {ScalarType::Bool, "bool"},
    {ScalarType::BFloat16, "bfloat16"},
    {ScalarType::Float8_e5m2, "float8_e5m2"},
    {ScalarType::Float8_e4m3fn, "float8_e4m3fn"},
    {ScalarType::Float8_e5m2fnuz, "float8_e5m2fnuz"},
    {ScalarType::Float8_e4m3fnuz, "float8_e4m3fnuz"},
    {ScalarType::UInt16, "uint16"},
    {ScalarType::UInt32, "uint32"},
    {ScalarType::UInt64, "uint64"},
};

py::module_ torch() {
  return py::module_::import("torch");
}

template <typename List>
py::tuple to_tuple(const List& list) {
  py::tuple result(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    result[i] = static_cast<int64_t>(list[i]);
  }
  return result;
}

std::string text(py::handle value) {
  return py::str(value).cast<std::string>();
}

std::vector<SizesType> read_sizes(py::handle tensor, const std::string& what) {
  std::vector<SizesType> sizes;
  for (py::handle size : tensor.attr("shape")) {
    const auto number = size.cast<int64_t>();
    if (number > INT32_MAX) {
      fail_argument(what + ": sizes up to 2147483647 are possible, got " + std::to_string(number));
    }
    sizes.push_back(static_cast<SizesType>(number));
  }
  return sizes;
}

// "Float (torch.float32)"
std::string describe(const py::object& dtype) {
  for (const DtypeName& known : kDtypes) {
    if (dtype.is(py::object(torch().attr(known.name)))) {
      return std::string(executorch::runtime::toString(known.type)) + " (" + text(dtype) + ")";
    }
  }
  return text(dtype);
}

// Dimensions of size 1 may have any stride.
void check_strides(py::handle tensor, const std::vector<SizesType>& sizes,
                   const std::vector<StridesType>& expected, const std::string& what) {
  const py::tuple strides = tensor.attr("stride")();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      return;
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && strides[i].cast<int64_t>() != expected[i]) {
      fail_argument(
          what + ": expected strides " + text(to_tuple(expected)) + " for sizes " +
          text(to_tuple(sizes)) + ", got " + text(strides) +
          ". Call .contiguous() (or .to(memory_format=...) if the model was exported with another "
          "memory format)");
    }
  }
}

}  // namespace

py::object torch_dtype(ScalarType type) {
  for (const DtypeName& dtype : kDtypes) {
    if (dtype.type == type) {
      return torch().attr(dtype.name);
    }
  }
  fail_argument(std::string("torch has no tensors with elements of type ") +
                executorch::runtime::toString(type));
}

bool is_torch_tensor(py::handle value) {
  // A tensor can exist only if torch is imported already.
  const py::dict modules = py::module_::import("sys").attr("modules");
  return modules.contains("torch") && py::isinstance(value, modules["torch"].attr("Tensor"));
}

void* torch_data_ptr(py::handle tensor) {
  return reinterpret_cast<void*>(tensor.attr("data_ptr")().cast<uintptr_t>());
}

py::object plain_torch_tensor(py::handle tensor, const std::string& what) {
  if (tensor.attr("is_nested").cast<bool>()) {
    fail_argument(what + ": expected a tensor with one shape, got a nested one. Pad it with " +
                  "torch.nested.to_padded_tensor()");
  }
  const py::object layout = tensor.attr("layout");
  if (!layout.is(py::object(torch().attr("strided")))) {
    fail_argument(what + ": expected a dense tensor (torch.strided), got one of layout " +
                  text(layout) + ". Call .to_dense()");
  }
  if (text(tensor.attr("device").attr("type")) != "cpu") {
    fail_argument(what + ": expected a tensor on the CPU, got one on " +
                  text(tensor.attr("device")));
  }
  if (tensor.attr("is_conj")().cast<bool>() || tensor.attr("is_neg")().cast<bool>()) {
    return tensor.attr("resolve_conj")().attr("resolve_neg")();
  }
  if (torch_data_ptr(tensor) == nullptr && tensor.attr("numel")().cast<int64_t>() != 0) {
    fail_argument(what + ": expected a tensor with data, got a " +
                  text(py::type::handle_of(tensor).attr("__name__")) +
                  " without memory (fake, or freed). Pass a real tensor");
  }
  return py::reinterpret_borrow<py::object>(tensor);
}

TensorPtr borrow_torch_tensor(py::handle tensor, const TensorInfo& expected,
                              const std::string& what) {
  const py::object dtype = torch_dtype(expected.scalar_type());
  const py::object found = tensor.attr("dtype");
  if (!found.is(dtype)) {
    fail_argument(what + ": expected elements of type " + describe(dtype) + ", got " +
                  describe(found));
  }
  std::vector<SizesType> sizes = read_sizes(tensor, what);
  if (sizes.size() != expected.sizes().size()) {
    fail_argument(what + ": expected " + std::to_string(expected.sizes().size()) + " dimensions " +
                  text(to_tuple(expected.sizes())) + ", got " + std::to_string(sizes.size()) + " " +
                  text(to_tuple(sizes)));
  }
  std::vector<executorch::aten::DimOrderType> dim_order(expected.dim_order().begin(),
                                                        expected.dim_order().end());
  std::vector<StridesType> strides(sizes.size());
  if (executorch::runtime::dim_order_to_stride(sizes.data(), dim_order.data(), sizes.size(),
                                               strides.data()) != executorch::runtime::Error::Ok) {
    fail_argument(what + ": the program has an impossible order of dimensions");
  }
  check_strides(tensor, sizes, strides, what);
  return make_tensor_ptr(std::move(sizes), torch_data_ptr(tensor), std::move(dim_order),
                         std::move(strides), expected.scalar_type(),
                         executorch::aten::TensorShapeDynamism::STATIC);
}

py::object make_output_memory(size_t num_bytes) {
  return torch().attr("empty")(num_bytes, py::arg("dtype") = torch().attr("uint8"));
}

py::object view_memory(const Tensor& tensor, const py::object& memory) {
  return memory.attr("view")(torch_dtype(tensor.scalar_type()))
      .attr("as_strided")(to_tuple(tensor.sizes()), to_tuple(tensor.strides()));
}

py::object copy_to_torch(const Tensor& tensor) {
  py::object copy =
      torch().attr("empty_strided")(to_tuple(tensor.sizes()), to_tuple(tensor.strides()),
                                    py::arg("dtype") = torch_dtype(tensor.scalar_type()));
  if (tensor.nbytes() > 0) {
    std::memcpy(torch_data_ptr(copy), tensor.const_data_ptr(), tensor.nbytes());
  }
  return copy;
}

namespace {

// Memory of a method, as a Python buffer.
struct MethodMemory {
  void* data;
  size_t size;
  py::object owner;
};

}  // namespace

py::object share_with_torch(const Tensor& tensor, const py::object& owner) {
  if (tensor.nbytes() == 0) {
    return copy_to_torch(tensor);
  }
  const py::object memory =
      py::cast(MethodMemory{tensor.mutable_data_ptr(), tensor.nbytes(), owner});
  return torch()
      .attr("frombuffer")(memory, py::arg("dtype") = torch_dtype(tensor.scalar_type()))
      .attr("as_strided")(to_tuple(tensor.sizes()), to_tuple(tensor.strides()));
}

void bind_torch_tensor(py::module_& module) {
  py::class_<MethodMemory>(module, "_MethodMemory", py::buffer_protocol(), py::module_local())
      .def_buffer([](MethodMemory& memory) {
        return py::buffer_info(static_cast<uint8_t*>(memory.data),
                               static_cast<py::ssize_t>(memory.size));
      });
}

}  // namespace executorch::extension::pybindings
