// SPDX-License-Identifier: BSD-3-Clause
// The path of a file, from Python: str, bytes or os.PathLike. (std::filesystem would need a newer libstdc++ than the
// release wheel may ask for.)
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace executorch::extension::pybindings {

struct Path {
  std::string text;  // as the operating system takes it
};

}  // namespace executorch::extension::pybindings

namespace pybind11::detail {

template <>
struct type_caster<executorch::extension::pybindings::Path> {
  PYBIND11_TYPE_CASTER(executorch::extension::pybindings::Path,
                       const_name("os.PathLike | str | bytes"));

  bool load(handle source, bool /*convert*/) {
    PyObject* encoded = nullptr;
    if (PyUnicode_FSConverter(source.ptr(), &encoded) == 0) {
      PyErr_Clear();
      return false;
    }
    value.text = reinterpret_steal<bytes>(encoded);
    return true;
  }
};

}  // namespace pybind11::detail
