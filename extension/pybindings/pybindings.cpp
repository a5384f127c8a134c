// SPDX-License-Identifier: BSD-3-Clause
// The Python module executorch.extension.pybindings._portable_lib: programs, methods, metadata,
// registries.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/pybindings/arguments.h>
#include <executorch/extension/pybindings/arrays/array_library.h>
#include <executorch/extension/pybindings/backend_options.h>
#include <executorch/extension/pybindings/bundled_program.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/method_meta.h>
#include <executorch/extension/pybindings/method_runner.h>
#include <executorch/extension/pybindings/py_data_loader.h>
#include <executorch/extension/pybindings/text.h>
#include <executorch/extension/pybindings/tracing.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>
#ifdef ET_USE_THREADPOOL
#include <executorch/extension/threadpool/threadpool.h>
#endif

namespace py = pybind11;

namespace executorch::extension::pybindings {
namespace {

using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using Verification = Program::Verification;

class BytesLoader final : public DataLoader {
 public:
  explicit BytesLoader(const std::string_view bytes)
      : bytes_(bytes), view_(bytes_.data(), bytes_.size()) {}

  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const SegmentInfo& info) const override {
    return view_.load(offset, size, info);
  }
  ET_NODISCARD Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                               void* buffer) const override {
    return view_.load_into(offset, size, info, buffer);
  }
  ET_NODISCARD executorch::runtime::Result<size_t> size() const override { return view_.size(); }

 private:
  AlignedBytes bytes_;
  BufferDataLoader view_;
};

PyMethodMeta meta_of(const Program& program, const std::string& name, const py::object& owner) {
  const LogCapture capture;
  return {capture.take(program.method_meta(name.c_str()), "Failed to get method_meta for " + name),
          owner};
}

// "Kind(forward(float32[2, 3]) -> float32[2, 3]; other() -> int)"
py::str describe_program(const char* kind, const Program& program) {
  std::string text;
  for (const std::string& name : method_names(program)) {
    text += (text.empty() ? "" : "; ") + signature(meta_of(program, name, py::none()).meta);
  }
  return decode_message(std::string(kind) + "(" + text + ")");
}

std::unique_ptr<Module> load_module(std::unique_ptr<Module> module, Verification verification,
                                    const std::string& what) {
  const LogCapture capture;
  Error error;
  {
    const py::gil_scoped_release release;
    error = module->load(verification);
  }
  capture.check(error, "Cannot load " + what);
  check_names(*module->program(), what);
  return module;
}

std::unique_ptr<Module> module_from_file(const Path& program_path,
                                         const std::optional<Path>& data_path,
                                         Verification verification) {
  const std::string& path = program_path.text;
  // Mapped, so that weights that a delegate packs do not pass through the heap.
  constexpr auto kMode = Module::LoadMode::Mmap;
  auto module = data_path.has_value() ? std::make_unique<Module>(path, data_path->text, kMode)
                                      : std::make_unique<Module>(path, kMode);
  return load_module(std::move(module), verification,
                     data_path.has_value() ? path + " with " + data_path->text : path);
}

// Null without a path.
std::unique_ptr<DataLoader> open_data(const std::optional<Path>& path) {
  return path.has_value() ? open_data_loader(path->text) : nullptr;
}

std::unique_ptr<Module> module_from_buffer(const py::bytes& buffer,
                                           std::unique_ptr<DataLoader> data,
                                           Verification verification) {
  auto module = std::make_unique<Module>(std::make_unique<BytesLoader>(std::string_view(buffer)),
                                         nullptr, nullptr, nullptr, std::move(data));
  return load_module(std::move(module), verification, "the program in the buffer");
}

// The events of a program that is loaded with enable_etdump; null for others.
std::shared_ptr<Tracing> make_tracing(bool enable_etdump, size_t debug_buffer_size) {
  if (!enable_etdump && debug_buffer_size > 0) {
    throw RuntimeFailure("debug_buffer_size needs enable_etdump: the values' shapes are there");
  }
  return enable_etdump ? Tracing::create(debug_buffer_size) : nullptr;
}

// A program whose methods share one Module.
class PyModule {
 public:
  PyModule(std::unique_ptr<Module> module, std::vector<py::object> owners,
           std::shared_ptr<Tracing> tracing)
      : owners_(std::move(owners)), program_(module->program()), tracing_(std::move(tracing)) {
    module_ = std::make_shared<GuardedModule>(std::move(module), tracing_);
  }

  py::list run_method(const std::string& name, const py::list& inputs, const py::object& self,
                      bool clone) {
    MethodRunner& method = runner(name);
    if (inputs.empty() && method.has_inputs()) {
      return plan_execute(name, self, clone);
    }
    return method.run(inputs, self, clone);
  }

  // Runs with the inputs of the last run_method().
  py::list plan_execute(const std::string& name, const py::object& self, bool clone) {
    runner(name).execute();
    return get_outputs(name, self, clone);
  }

  py::list get_outputs(const std::string& name, const py::object& self, bool clone) {
    return runner(name).get_outputs(self, clone);
  }

  py::object get_attribute(const std::string& method, const std::string& name,
                           const py::object& self, bool clone) {
    return runner(method).get_attribute(name, self, clone);
  }

  const Program& program() const { return *program_; }
  Tracing* tracing() const { return tracing_.get(); }

 private:
  MethodRunner& runner(const std::string& name) {
    auto found = runners_.find(name);
    if (found == runners_.end()) {
      found = runners_.emplace(name, std::make_unique<MethodRunner>(module_, name)).first;
    }
    return *found->second;
  }

  std::vector<py::object> owners_;  // of the memory the program lies in
  std::shared_ptr<Program> program_;
  std::shared_ptr<Tracing> tracing_;
  std::shared_ptr<GuardedModule> module_;
  std::map<std::string, std::unique_ptr<MethodRunner>> runners_;
};

// A method with memory of its own.
class PyMethod {
 public:
  PyMethod(std::shared_ptr<Program> program, std::unique_ptr<Module> module,
           const std::string& name, py::object owner, std::shared_ptr<Tracing> tracing)
      : owner_(std::move(owner)),
        program_(std::move(program)),
        name_(name),
        runner_(std::make_shared<GuardedModule>(std::move(module), std::move(tracing)), name) {}

  MethodRunner& runner() { return runner_; }

  PyMethodMeta method_meta(const py::object& self) const { return meta_of(*program_, name_, self); }

 private:
  py::object owner_;  // the program object, which keeps the memory it lies in
  std::shared_ptr<Program> program_;
  std::string name_;
  MethodRunner runner_;
};

class PyProgram {
 public:
  PyProgram(const std::unique_ptr<Module>& module, std::optional<Path> data_path,
            OptionsOfBackends options, py::object owner, std::shared_ptr<Tracing> tracing)
      : owner_(std::move(owner)),
        program_(module->program()),
        data_path_(std::move(data_path)),
        options_(std::move(options)),
        tracing_(std::move(tracing)) {}

  size_t num_methods() const { return program_->num_methods(); }

  std::string get_method_name(size_t index) const {
    const LogCapture capture;
    return capture.take(program_->get_method_name(index),
                        "There is no method " + std::to_string(index));
  }

  std::unique_ptr<PyMethod> load_method(const std::string& name, py::object self) {
    auto module =
        std::make_unique<Module>(program_, nullptr, nullptr, nullptr, open_data(data_path_));
    if (!options_.empty()) {
      const LogCapture capture;
      capture.check(module->load(options_.map()), "Cannot load method " + name);
    }
    return std::make_unique<PyMethod>(program_, std::move(module), name, std::move(self), tracing_);
  }

  const Program& program() const { return *program_; }
  Tracing* tracing() const { return tracing_.get(); }

 private:
  py::object owner_;
  std::shared_ptr<Program> program_;
  std::optional<Path> data_path_;
  OptionsOfBackends options_;
  std::shared_ptr<Tracing> tracing_;
};

// A single tensor may stand for a list of one.
py::list as_inputs(const py::object& inputs) {
  const bool is_list = PyList_CheckExact(inputs.ptr()) || PyTuple_CheckExact(inputs.ptr());
  if (!is_list && library_of(inputs) != nullptr) {
    py::list list;
    list.append(inputs);
    return list;
  }
  if (!py::isinstance<py::sequence>(inputs) || py::isinstance<py::str>(inputs)) {
    fail_argument("Expected a sequence of inputs, a torch.Tensor or a numpy.ndarray, got " +
                  to_text(py::type::handle_of(inputs).attr("__name__")));
  }
  return py::list(inputs);
}

constexpr const char* kRunHelp =
    "Runs the method. Inputs are torch.Tensor, numpy.ndarray, int, float, bool, str and None, as a "
    "sequence, or one tensor; outputs are tensors of the same library. clone_outputs=False: the "
    "next run overwrites the outputs.";
constexpr const char* kModuleRunHelp =
    "Runs a method. Inputs are torch.Tensor, numpy.ndarray, int, float, bool, str and None, as a "
    "sequence, or one tensor; outputs are tensors of the same library. Without inputs the method "
    "runs with those of the call before. clone_outputs=False: the next run overwrites the outputs.";
constexpr const char* kMetaHelp = "What the program says about a method, without running it.";

template <typename Class>
void bind_etdump(Class& cls) {
  using Type = typename Class::type;
  cls.def(
      "has_etdump", [](const Type& self) { return self.tracing() != nullptr; },
      "Whether executions are traced.");
  cls.def(
      "write_etdump_result_to_file",
      [](const Type& self, const Path& path, const std::optional<Path>& debug_buffer_path) {
        if (self.tracing() == nullptr) {
          throw RuntimeFailure("No etdump found: the program was loaded without enable_etdump");
        }
        if (self.tracing()->in_use) {
          throw RuntimeFailure("A method is running: write its events when it has ended");
        }
        self.tracing()->write(path.text, debug_buffer_path ? &debug_buffer_path->text : nullptr);
      },
      py::arg("path"), py::arg("debug_buffer_path") = py::none(),
      "Writes the events since loading, or since the last call, and the values that operators gave "
      "if there is a debug buffer. Raises ExecuTorchError without enable_etdump.");
}

void bind_module(py::module_& m) {
  const auto run = [](const py::object& self, const py::object& inputs, bool clone) {
    return self.cast<PyModule&>().run_method("forward", as_inputs(inputs), self, clone);
  };
  py::class_<PyModule> cls(m, "ExecuTorchModule",
                           "A program whose methods share their memory; for one thread at a time.",
                           py::module_local());
  cls.def(
         "run_method",
         [](const py::object& self, const std::string& name, const py::object& inputs, bool clone) {
           return self.cast<PyModule&>().run_method(name, as_inputs(inputs), self, clone);
         },
         py::arg("method_name"), py::arg("inputs") = py::list(), py::arg("clone_outputs") = true,
         kModuleRunHelp)
      .def("forward", run, py::arg("inputs") = py::list(), py::arg("clone_outputs") = true,
           kModuleRunHelp)
      .def("__call__", run, py::arg("inputs") = py::list(), py::arg("clone_outputs") = true,
           kModuleRunHelp)
      .def(
          "plan_execute",
          [](const py::object& self, const std::string& name, bool clone) {
            return self.cast<PyModule&>().plan_execute(name, self, clone);
          },
          py::arg("method_name"), py::arg("clone_outputs") = true,
          "Runs a method with the inputs of its last run.")
      .def(
          "get_outputs",
          [](const py::object& self, const std::string& name, bool clone) {
            return self.cast<PyModule&>().get_outputs(name, self, clone);
          },
          py::arg("method_name"), py::arg("clone_outputs") = true,
          "What a method's outputs hold, without running it: of its last run, or what they have "
          "from the start.")
      .def(
          "get_attribute",
          [](const py::object& self, const std::string& method, const std::string& name,
             bool clone) {
            return self.cast<PyModule&>().get_attribute(method, name, self, clone);
          },
          py::arg("method_name"), py::arg("name"), py::arg("clone") = true,
          "A buffer that the program names: a copy, or the method's own memory.")
      .def(
          "method_names", [](const PyModule& self) { return method_names(self.program()); },
          "The names of all methods.")
      .def(
          "method_meta",
          [](const py::object& self, const std::string& name) {
            return meta_of(self.cast<PyModule&>().program(), name, self);
          },
          py::arg("method_name"), kMetaHelp)
      .def("__repr__", [](const PyModule& self) {
        return describe_program("ExecuTorchModule", self.program());
      });
  bind_etdump(cls);
}

void bind_method(py::module_& m) {
  const auto run = [](const py::object& self, const py::object& inputs, bool clone) {
    return self.cast<PyMethod&>().runner().run(as_inputs(inputs), self, clone);
  };
  py::class_<PyMethod>(m, "ExecuTorchMethod",
                       "A method with memory of its own; for one thread at a time.",
                       py::module_local())
      .def(
          "set_inputs",
          [](PyMethod& method, const py::object& inputs) {
            method.runner().set_inputs(as_inputs(inputs));
          },
          py::arg("inputs"), "Sets the inputs of execute(), which are not copied.")
      .def(
          "execute", [](PyMethod& method) { method.runner().execute(); },
          "Runs with the inputs that were set.")
      .def(
          "get_outputs",
          [](const py::object& self, bool clone) {
            return self.cast<PyMethod&>().runner().get_outputs(self, clone);
          },
          py::arg("clone_outputs") = true, "The outputs of the last execute().")
      .def("call", run, py::arg("inputs") = py::list(), py::arg("clone_outputs") = true, kRunHelp)
      .def("__call__", run, py::arg("inputs") = py::list(), py::arg("clone_outputs") = true,
           kRunHelp)
      .def(
          "get_attribute",
          [](const py::object& self, const std::string& name) {
            return self.cast<PyMethod&>().runner().get_attribute(name, self, /*clone=*/true);
          },
          py::arg("name"), "A copy of a buffer that the program names.")
      .def(
          "method_meta",
          [](const py::object& self) { return self.cast<PyMethod&>().method_meta(self); },
          kMetaHelp)
      .def("__repr__", [](const py::object& self) {
        const auto meta = self.cast<PyMethod&>().method_meta(self).meta;
        return decode_message("ExecuTorchMethod(" + signature(meta) + ")");
      });
}

void bind_program(py::module_& m) {
  py::class_<PyProgram> cls(m, "ExecuTorchProgram",
                            "A program; threads may share it, and load methods of their own.",
                            py::module_local());
  cls.def("num_methods", &PyProgram::num_methods, "The number of methods.")
      .def("get_method_name", &PyProgram::get_method_name, py::arg("method_index"),
           "The name of a method.")
      .def(
          "load_method",
          [](const py::object& self, const std::string& name) {
            return self.cast<PyProgram&>().load_method(name, self);
          },
          py::arg("method_name"), "Loads a method, with memory of its own.")
      .def(
          "method_meta",
          [](const py::object& self, const std::string& name) {
            return meta_of(self.cast<PyProgram&>().program(), name, self);
          },
          py::arg("method_name"), kMetaHelp)
      .def(
          "user_metadata", [](const PyProgram& self) { return user_metadata(self.program()); },
          "What the exporter wrote about the program: a JSON object as text, or nothing.")
      .def("__repr__", [](const PyProgram& self) {
        return describe_program("ExecuTorchProgram", self.program());
      });
  bind_etdump(cls);
}

void bind_loading(py::module_& m) {
  const auto full = Verification::InternalConsistency;
  m.def(
      "_load_for_executorch",
      [](const Path& path, const std::optional<Path>& data_path, bool etdump,
         size_t debug_buffer_size, Verification verification) {
        return std::make_unique<PyModule>(module_from_file(path, data_path, verification),
                                          std::vector<py::object>(),
                                          make_tracing(etdump, debug_buffer_size));
      },
      py::arg("program_path"), py::arg("data_path") = std::nullopt,
      py::arg("enable_etdump") = false, py::arg("debug_buffer_size") = 0,
      py::arg("program_verification") = full,
      "Loads a program, with a data file (.ptd) if it has one.");
  m.def(
      "_load_for_executorch_from_buffer",
      [](const py::bytes& buffer, const std::optional<py::bytes>& data, bool etdump,
         size_t debug_buffer_size, Verification verification) {
        std::vector<py::object> owners = {buffer};
        std::unique_ptr<DataLoader> data_loader;
        if (data.has_value()) {
          owners.push_back(*data);
          data_loader = std::make_unique<BytesLoader>(std::string_view(*data));
        }
        return std::make_unique<PyModule>(
            module_from_buffer(buffer, std::move(data_loader), verification), std::move(owners),
            make_tracing(etdump, debug_buffer_size));
      },
      py::arg("buffer"), py::arg("data_map_buffer") = std::nullopt,
      py::arg("enable_etdump") = false, py::arg("debug_buffer_size") = 0,
      py::arg("program_verification") = full,
      "Loads a program from bytes, with the bytes of a data file if it has one.");
  m.def(
      "_load_for_executorch_from_data_loader",
      [](PyDataLoader& loader, const std::optional<Path>& data_path, bool etdump,
         size_t debug_buffer_size) {
        auto module = std::make_unique<Module>(loader.take(), nullptr, nullptr, nullptr,
                                               open_data(data_path));
        return std::make_unique<PyModule>(
            load_module(std::move(module), Verification::InternalConsistency, "the program"),
            std::vector<py::object>{loader.owner()}, make_tracing(etdump, debug_buffer_size));
      },
      py::arg("loader"), py::arg("data_path") = std::nullopt, py::arg("enable_etdump") = false,
      py::arg("debug_buffer_size") = 0);
  m.def(
      "_load_program",
      [](const Path& path, bool etdump, size_t debug_buffer_size, Verification verification,
         const std::optional<Path>& data_path, const py::object& options) {
        return std::make_unique<PyProgram>(module_from_file(path, data_path, verification),
                                           data_path, OptionsOfBackends(options), py::none(),
                                           make_tracing(etdump, debug_buffer_size));
      },
      py::arg("path"), py::arg("enable_etdump") = false, py::arg("debug_buffer_size") = 0,
      py::arg("program_verification") = full, py::arg("data_path") = std::nullopt,
      py::arg("backend_options") = py::none(),
      "Loads a program whose methods get memory of their own, with a data file (.ptd) if it has "
      "one.");
  m.def(
      "_load_program_from_buffer",
      [](const py::bytes& buffer, bool etdump, size_t debug_buffer_size, Verification verification,
         const std::optional<Path>& data_path, const py::object& options) {
        return std::make_unique<PyProgram>(
            module_from_buffer(buffer, open_data(data_path), verification), data_path,
            OptionsOfBackends(options), buffer, make_tracing(etdump, debug_buffer_size));
      },
      py::arg("buffer"), py::arg("enable_etdump") = false, py::arg("debug_buffer_size") = 0,
      py::arg("program_verification") = full, py::arg("data_path") = std::nullopt,
      py::arg("backend_options") = py::none(),
      "Loads a program from bytes, whose methods get memory of their own, with a data file (.ptd) "
      "if it has one.");
}

// RuntimeFailure becomes ExecuTorchError; its text may quote names that are not UTF-8.
void bind_error(py::module_& m) {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> type;
  type.call_once_and_store_result([&]() -> py::object {
    return py::exception<RuntimeFailure>(m, "ExecuTorchError", PyExc_RuntimeError);
  });
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const RuntimeFailure& failure) {
      PyErr_SetObject(type.get_stored().ptr(), decode_message(failure.what()).ptr());
    }
  });
}

void bind_registries(py::module_& m) {
  m.def("_get_operator_names", [] {
    py::list names;
    for (const auto& kernel : executorch::runtime::get_registered_kernels()) {
      if (kernel.name_ != nullptr) {
        names.append(std::string(kernel.name_));
      }
    }
    return names;
  });
  m.def("_get_registered_backend_names", [] {
    const LogCapture capture;
    py::list names;
    for (size_t i = 0; i < executorch::runtime::get_num_registered_backends(); ++i) {
      names.append(std::string(
          capture.take(executorch::runtime::get_backend_name(i), "Cannot list the backends")));
    }
    return names;
  });
  m.def(
      "_is_available",
      [](const std::string& name) {
        const auto* backend = executorch::runtime::get_backend_class(name.c_str());
        return backend != nullptr && backend->is_available();
      },
      py::arg("backend_name"));
  m.def(
      "_set_backend_options", [](const py::object& options) { OptionsOfBackends(options).set(); },
      py::arg("options"));
#ifdef ET_USE_THREADPOOL
  m.def("_threadpool_get_thread_count",
        [] { return threadpool::get_threadpool()->get_thread_count(); });
  m.def(
      "_unsafe_reset_threadpool",
      [](uint32_t count) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the documented way to set the threads
        threadpool::get_threadpool()->_unsafe_reset_threadpool(count);
#pragma GCC diagnostic pop
      },
      py::arg("num_threads"));
#endif
}

}  // namespace

PYBIND11_MODULE(_portable_lib, m) {
  executorch::runtime::runtime_init();
  route_messages();
  // Loaded first, so that its PyDataLoader is known as an argument type.
  py::module_::import("executorch.extension.pybindings.data_loader");
  bind_error(m);
  py::enum_<Verification>(m, "Verification", py::module_local())
      .value("Minimal", Verification::Minimal)
      .value("InternalConsistency", Verification::InternalConsistency);
  bind_method_meta(m);
  bind_method(m);
  bind_module(m);
  bind_program(m);
  bind_loading(m);
  bind_bundled_programs(m);
  bind_registries(m);
}

}  // namespace executorch::extension::pybindings
