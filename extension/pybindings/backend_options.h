// SPDX-License-Identifier: BSD-3-Clause
// Options of backends as Python gives them: {"XnnpackBackend": {"pack_at_load": True}}.
#pragma once

#include <executorch/runtime/backend/backend_options_map.h>

#include <pybind11/pybind11.h>

#include <map>
#include <string>
#include <vector>

namespace executorch::extension::pybindings {

class OptionsOfBackends {
 public:
  // From a mapping of backends' names to mappings of keys to bool, int, str or paths; None: without
  // options. Throws RuntimeFailure for other values, and for what does not fit an option.
  explicit OptionsOfBackends(const pybind11::object& given);

  bool empty() const { return options_.empty(); }

  // Refers to this object. Throws RuntimeFailure for names that no backend can have.
  runtime::LoadBackendOptionsMap map();

  // Gives each backend its options now (set_option()). Throws RuntimeFailure for what one refuses.
  void set();

 private:
  std::map<std::string, std::vector<runtime::BackendOption>> options_;
};

}  // namespace executorch::extension::pybindings
