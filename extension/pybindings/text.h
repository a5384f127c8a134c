// SPDX-License-Identifier: BSD-3-Clause
// Text that comes from files, which need not be UTF-8, as str.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

namespace executorch::extension::pybindings {

// Throws RuntimeFailure, beginning with `what`, if the text is not UTF-8.
pybind11::str decode_utf8(std::string_view text, const std::string& what);

// For messages: bytes that are not UTF-8 become escapes such as \xff.
pybind11::str decode_message(std::string_view text);

// str(value)
std::string to_text(pybind11::handle value);

}  // namespace executorch::extension::pybindings
