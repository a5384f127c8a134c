// SPDX-License-Identifier: BSD-3-Clause
// Bytes that belong to another Python object, such as a tensor's storage: passed around and written
// without a copy.
#pragma once

#include <pybind11/pybind11.h>

namespace executorch::exir {

/// A read-only view of an object with the buffer protocol, which it keeps alive. Copies of a Blob
/// share the bytes; whoever changes the owner's contents changes them.
class Blob {
 public:
  explicit Blob(const pybind11::buffer& owner);

  const uint8_t* data() const { return static_cast<const uint8_t*>(view_.ptr); }
  size_t size() const { return static_cast<size_t>(view_.size * view_.itemsize); }
  pybind11::buffer_info buffer_info() const;

  /// Same bytes?
  bool equals(const pybind11::buffer& other) const;
  /// Is any byte not zero?
  bool any() const;

 private:
  pybind11::buffer owner_;
  pybind11::buffer_info view_;  // holds the export, so the owner cannot move or resize
};

void bind_blob(pybind11::module_& module);

}  // namespace executorch::exir
