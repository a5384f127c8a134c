// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>

#include <string>
#include <utility>
#include <vector>

#include <executorch/extension/pybindings/arrays/array_library.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/text.h>

namespace py = pybind11;

namespace executorch::extension::pybindings {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;

namespace {

py::dtype numpy_dtype(ScalarType type) {
  try {
    return py::dtype(std::string(dtype_name(type)));
  } catch (const py::error_already_set&) {
    fail_argument(std::string("NumPy has no type ") + dtype_name(type) +
                  ", which an output has. Give the inputs as torch.Tensor");
  }
}

// The table's row of a type of NumPy's own; null for others, such as those of ml_dtypes.
const Dtype* find_builtin(const py::dtype& dtype) {
  constexpr int kFirstOfUsers = 256;
  constexpr std::pair<char, uint8_t> kCodes[] = {{'i', 0}, {'u', 1}, {'f', 2}, {'c', 5}, {'b', 6}};
  for (const auto& [kind, code] : kCodes) {
    if (dtype.kind() == kind && dtype.num() < kFirstOfUsers) {
      return find_dtype(code, static_cast<uint8_t>(8 * dtype.itemsize()));
    }
  }
  return nullptr;
}

bool is_native(const py::dtype& dtype) {
  return dtype.byteorder() == '=' || dtype.attr("isnative").cast<bool>();
}

std::vector<py::ssize_t> byte_strides(const Tensor& tensor) {
  std::vector<py::ssize_t> strides;
  for (const auto stride : tensor.strides()) {
    strides.push_back(static_cast<py::ssize_t>(stride) * tensor.element_size());
  }
  return strides;
}

// Over the data that `owner` keeps.
py::object make_array(const Tensor& tensor, const void* data, const py::object& owner) {
  const std::vector<py::ssize_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  return py::array(numpy_dtype(tensor.scalar_type()), sizes, byte_strides(tensor), data, owner);
}

class NumpyLibrary final : public ArrayLibrary {
 public:
  const char* name() const override { return "numpy"; }

  bool owns(py::handle value) const override {
    static LateType array("numpy", "ndarray");
    return array.is_of(value);
  }

  py::object plain(py::handle tensor, const std::string& what) const override {
    const auto array = py::reinterpret_borrow<py::array>(tensor);
    const py::dtype dtype = array.dtype();
    const bool is_aligned = (array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0;
    if (!is_aligned || !is_native(dtype)) {
      fail_argument(what + ": expected elements in this machine's byte order and alignment, got " +
                    to_text(dtype.attr("str")) + (is_aligned ? "" : ", not aligned") +
                    ". Convert it: .astype(numpy." + to_text(dtype.attr("name")) + ")");
    }
    return array;
  }

  ArrayView look_at(py::handle tensor, const std::string& what) const override {
    (void)what;  // all that is plain has memory
    const auto array = py::reinterpret_borrow<py::array>(tensor);
    const py::dtype dtype = array.dtype();
    const Dtype* const known = find_builtin(dtype);
    ArrayView view{known != nullptr ? known->name : to_text(dtype.attr("name")),
                   {},
                   {},
                   const_cast<void*>(array.data())};
    for (py::ssize_t i = 0; i < array.ndim(); ++i) {
      view.sizes.push_back(array.shape(i));
      // A stride between elements is none of ours: no expected stride is negative.
      view.strides.push_back(
          array.strides(i) % dtype.itemsize() == 0 ? array.strides(i) / dtype.itemsize() : -1);
    }
    return view;
  }

  std::string advice_dtype(const char* dtype) const override {
    return std::string(".astype(numpy.") + dtype + ")";
  }

  std::string advice_strides() const override { return "Call numpy.ascontiguousarray(...) on it"; }

  py::object view(const Tensor& tensor, Memory memory) const override {
    void* const data = memory.get();
    const py::capsule owner(new Memory(std::move(memory)),
                            [](void* kept) { delete static_cast<Memory*>(kept); });
    return make_array(tensor, data, owner);
  }

  py::object share(const Tensor& tensor, const py::object& owner) const override {
    return make_array(tensor, tensor.const_data_ptr(), owner);
  }
};

}  // namespace

const ArrayLibrary& numpy_library() {
  static const NumpyLibrary library;
  return library;
}

}  // namespace executorch::extension::pybindings
