// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/backend_options.h>

#include <executorch/extension/pybindings/arguments.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/text.h>
#include <executorch/runtime/backend/interface.h>

#include <cstring>
#include <limits>

namespace py = pybind11;

namespace executorch::extension::pybindings {
namespace {

using runtime::BackendOption;
using runtime::kMaxOptionKeyLength;
using runtime::kMaxOptionValueLength;
using runtime::LoadBackendOptionsMap;
using runtime::OptionValue;

OptionValue text_value(const std::string& text, const std::string& what) {
  if (text.size() >= kMaxOptionValueLength) {
    fail_argument(what + ": expected at most " + std::to_string(kMaxOptionValueLength - 1) +
                  " bytes, got " + std::to_string(text.size()));
  }
  std::array<char, kMaxOptionValueLength> value{};
  std::memcpy(value.data(), text.data(), text.size());
  return value;
}

OptionValue value_of(py::handle given, const std::string& what) {
  if (py::isinstance<py::bool_>(given)) {
    return given.cast<bool>();
  }
  if (py::isinstance<py::int_>(given)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
    using Limits = std::numeric_limits<int>;
    if (overflow != 0 || number < Limits::min() || number > Limits::max()) {
      fail_argument(what + ": expected an int of 32 bits, got " + to_text(given));
    }
    return static_cast<int>(number);
  }
  if (py::isinstance<py::str>(given) || py::hasattr(given, "__fspath__")) {
    return text_value(given.cast<Path>().text, what);
  }
  fail_argument(what + ": expected bool, int, str or a path, got " +
                to_text(py::type::handle_of(given).attr("__name__")));
}

py::dict as_dict(const py::handle& given, const std::string& what) {
  if (!py::isinstance<py::dict>(given)) {
    fail_argument(what + ": expected a dict, got " +
                  to_text(py::type::handle_of(given).attr("__name__")));
  }
  return py::reinterpret_borrow<py::dict>(given);
}

BackendOption option_of(const std::string& key, py::handle value, const std::string& backend) {
  const std::string what = "option " + key + " of " + backend;
  if (key.empty() || key.size() >= kMaxOptionKeyLength) {
    fail_argument(what + ": expected a key of 1 to " + std::to_string(kMaxOptionKeyLength - 1) +
                  " bytes");
  }
  BackendOption option{};
  std::memcpy(option.key, key.data(), key.size());
  option.value = value_of(value, what);
  return option;
}

}  // namespace

OptionsOfBackends::OptionsOfBackends(const py::object& given) {
  if (given.is_none()) {
    return;
  }
  for (const auto& [backend, options] : as_dict(given, "backend_options")) {
    const std::string name = to_text(backend);
    std::vector<BackendOption>& found = options_[name];
    for (const auto& [key, value] : as_dict(options, "options of " + name)) {
      found.push_back(option_of(to_text(key), value, name));
    }
  }
}

LoadBackendOptionsMap OptionsOfBackends::map() {
  const LogCapture capture;
  LoadBackendOptionsMap map;
  for (auto& [name, options] : options_) {
    capture.check(map.set_options(name.c_str(), {options.data(), options.size()}),
                  "Cannot take options of " + name);
  }
  return map;
}

void OptionsOfBackends::set() {
  const LogCapture capture;
  for (auto& [name, options] : options_) {
    capture.check(runtime::set_option(name.c_str(), {options.data(), options.size()}),
                  "Cannot set options of " + name);
  }
}

}  // namespace executorch::extension::pybindings
