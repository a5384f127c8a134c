// SPDX-License-Identifier: BSD-3-Clause
// executorch.extension.training.pybindings._training_lib: optimizers and checkpoints on tensors of
// PyTorch or NumPy, in place.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <executorch/extension/pybindings/arguments.h>
#include <executorch/extension/pybindings/arrays/array_library.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/text.h>
#include <executorch/extension/training/checkpoint/checkpoint.h>
#include <executorch/extension/training/optimizer/adamw.h>
#include <executorch/extension/training/optimizer/sgd.h>

namespace py = pybind11;

namespace executorch::extension::training {
namespace {

using executorch::aten::Tensor;
using pybindings::ArrayLibrary;
using pybindings::LogCapture;
using pybindings::RuntimeFailure;

// Tensors of Python by name: handles on their memory, which they own.
class BorrowedTensors {
 public:
  BorrowedTensors(const py::dict& tensors, const char* what) {
    for (const auto& [key, value] : tensors) {
      add(std::make_unique<std::string>(py::cast<std::string>(key)), value, what);
    }
  }

  // Views of names that live as long as this.
  const std::map<std::string_view, Tensor>& by_name() const { return by_name_; }
  const ArrayLibrary& library() const {
    return library_ != nullptr ? *library_ : pybindings::default_library();
  }

 private:
  void add(std::unique_ptr<std::string> name, py::handle value, const char* what) {
    const std::string where = std::string(what) + " " + *name;
    const ArrayLibrary* const library = pybindings::library_of(value);
    if (library == nullptr) {
      throw RuntimeFailure(where + ": expected a torch.Tensor or a numpy.ndarray, got " +
                           py::str(py::type::handle_of(value)).cast<std::string>());
    }
    py::object plain = library->plain(value, where);
    const pybindings::ArrayView view = library->look_at(plain, where);
    std::vector<executorch::aten::DimOrderType> order = dim_order(view, where, what);
    tensors_.push_back(make_tensor_ptr({view.sizes.begin(), view.sizes.end()}, view.data,
                                       std::move(order), {}, dtype(view, where),
                                       executorch::aten::TensorShapeDynamism::STATIC));
    by_name_.insert_or_assign(*name, *tensors_.back());
    owners_.push_back(std::move(plain));
    names_.push_back(std::move(name));
    library_ = library;
  }

  static executorch::aten::ScalarType dtype(const pybindings::ArrayView& view,
                                            const std::string& where) {
    for (int8_t i = 0; i < static_cast<int8_t>(executorch::aten::ScalarType::NumOptions); ++i) {
      const auto type = static_cast<executorch::aten::ScalarType>(i);
      const char* const name = pybindings::find_dtype_name(type);
      if (name != nullptr && view.dtype == name) {
        return type;
      }
    }
    throw RuntimeFailure(where + ": a program has no elements of type " + view.dtype);
  }

  // Dimensions from the largest stride to the smallest; the elements must lie without gaps.
  static std::vector<executorch::aten::DimOrderType> dim_order(const pybindings::ArrayView& view,
                                                               const std::string& where,
                                                               const char* what) {
    std::vector<executorch::aten::DimOrderType> order(view.sizes.size());
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<executorch::aten::DimOrderType>(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return view.strides[a] > view.strides[b]; });
    if (is_dense(view, order)) {
      return order;
    }
    std::sort(order.begin(), order.end());  // where sizes of 1 or 0 have any stride
    if (!is_dense(view, order)) {
      throw RuntimeFailure(where + ": expected elements without gaps. " + what +
                           " is not contiguous.");
    }
    return order;
  }

  static bool is_dense(const pybindings::ArrayView& view,
                       const std::vector<executorch::aten::DimOrderType>& order) {
    int64_t step = 1;
    for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
      if (view.sizes[*dim] > 1 && view.strides[*dim] != step) {
        return false;
      }
      step *= view.sizes[*dim];
    }
    return true;
  }

  std::vector<std::unique_ptr<std::string>> names_;
  std::vector<py::object> owners_;
  std::vector<TensorPtr> tensors_;
  std::map<std::string_view, Tensor> by_name_;
  const ArrayLibrary* library_ = nullptr;
};

template <typename Optimizer>
class PyOptimizer {
 public:
  PyOptimizer(const py::dict& named_params, typename Optimizer::Options options)
      : parameters_(named_params, "Parameter"), optimizer_(parameters_.by_name(), options) {}

  void step(const py::dict& named_gradients) {
    const BorrowedTensors gradients(named_gradients, "Gradient");
    const LogCapture capture;
    capture.check(optimizer_.step(gradients.by_name()), "The optimizer's step failed");
  }

  py::dict state_dict(const py::object& self) {
    py::dict result;
    for (const auto& [name, tensor] : optimizer_.state_dict()) {
      result[py::str(name)] = parameters_.library().share(tensor, self);
    }
    return result;
  }

 private:
  BorrowedTensors parameters_;
  Optimizer optimizer_;
};

template <typename Optimizer>
void bind_optimizer(py::module_& m, const char* name, const char* help) {
  using Type = PyOptimizer<Optimizer>;
  py::class_<Type>(m, name, help, py::module_local())
      .def("step", &Type::step, py::arg("named_gradients"),
           "Updates every parameter that has a gradient of its name; parameters and gradients are "
           "of "
           "float32. If one does not fit, RuntimeError is raised and nothing is changed.")
      .def(
          "state_dict", [](const py::object& self) { return self.cast<Type&>().state_dict(self); },
          "What the next step depends on besides parameters and options: tensors that share the "
          "optimizer's memory, for save_checkpoint and load_checkpoint.");
}

using optimizer::AdamW;
using optimizer::AdamWOptions;
using optimizer::SGD;
using optimizer::SGDOptions;

void bind_optimizers(py::module_& m) {
  bind_optimizer<SGD>(m, "ExecuTorchSGD", "Of get_sgd_optimizer(). For one thread at a time.");
  bind_optimizer<AdamW>(m, "ExecuTorchAdamW",
                        "Of get_adamw_optimizer(). For one thread at a time.");
  m.def(
      "get_sgd_optimizer",
      [](const py::dict& named_params, double lr, double momentum, double dampening,
         double weight_decay, bool nesterov) {
        return std::make_unique<PyOptimizer<SGD>>(
            named_params, SGDOptions(lr, momentum, dampening, weight_decay, nesterov));
      },
      py::arg("named_params"), py::arg("lr") = 0.1, py::arg("momentum") = 0.0,
      py::arg("dampening") = 0.0, py::arg("weight_decay") = 0.0, py::arg("nesterov") = false,
      "torch.optim.SGD on the parameters of a program, in place.");
  m.def(
      "get_adamw_optimizer",
      [](const py::dict& named_params, double lr, std::pair<double, double> betas, double eps,
         double weight_decay) {
        return std::make_unique<PyOptimizer<AdamW>>(
            named_params, AdamWOptions(lr, betas.first, betas.second, eps, weight_decay));
      },
      py::arg("named_params"), py::arg("lr") = 1e-3,
      py::arg("betas") = std::pair<double, double>(0.9, 0.999), py::arg("eps") = 1e-8,
      py::arg("weight_decay") = 1e-2,
      "torch.optim.AdamW on the parameters of a program, in place.");
}

void bind_checkpoints(py::module_& m) {
  m.def(
      "save_checkpoint",
      [](const pybindings::Path& path, const py::dict& tensors) {
        const BorrowedTensors borrowed(tensors, "Tensor");
        const LogCapture capture;
        capture.check(save_checkpoint(path.text, borrowed.by_name()),
                      "Cannot save the checkpoint " + path.text);
      },
      py::arg("path"), py::arg("tensors"),
      "Writes the tensors, {**module.named_parameters(), **optimizer.state_dict()} as a rule, to "
      "one "
      "data file with a checksum. The path has all of the new file or all of what was there.");
  m.def(
      "load_checkpoint",
      [](const pybindings::Path& path, const py::dict& tensors) {
        const BorrowedTensors borrowed(tensors, "Tensor");
        const LogCapture capture;
        capture.check(load_checkpoint(path.text, borrowed.by_name()),
                      "Cannot load the checkpoint " + path.text);
      },
      py::arg("path"), py::arg("tensors"),
      "Writes what was saved under these names into the tensors: into all of them, or, with a "
      "RuntimeError (a corrupted file, a name it does not have, other sizes), into none.");
}

}  // namespace

PYBIND11_MODULE(_training_lib, m) {
  m.doc() = "Optimizers and checkpoints of programs that train.";
  bind_optimizers(m);
  bind_checkpoints(m);
}

}  // namespace executorch::extension::training
