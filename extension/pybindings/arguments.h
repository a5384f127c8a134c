// SPDX-License-Identifier: BSD-3-Clause
// What Python gives to the native modules: paths of files, contents of bytes objects.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace executorch::extension::pybindings {

// str, bytes or os.PathLike. (std::filesystem would need a newer libstdc++ than the release wheel
// may ask for.)
struct Path {
  std::string text;  // as the operating system takes it
};

// The content of a bytes object, where flatbuffers can be read: in place, since it is immutable and
// the owner of this keeps it alive. Copied only where Python has not aligned it.
class AlignedBytes {
 public:
  explicit AlignedBytes(const std::string_view bytes)
      : copy_(is_aligned(bytes.data()) ? 0 : bytes.size() + kAlignment),
        data_(place(bytes)),
        size_(bytes.size()) {}
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;

  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kAlignment = alignof(std::max_align_t);

  static bool is_aligned(const void* data) {
    return reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
  }
  const void* place(const std::string_view bytes) {
    if (copy_.empty()) {
      return bytes.data();
    }
    const size_t misplaced = reinterpret_cast<uintptr_t>(copy_.data()) % kAlignment;
    uint8_t* const start = copy_.data() + (kAlignment - misplaced) % kAlignment;
    std::memcpy(start, bytes.data(), bytes.size());
    return start;
  }

  std::vector<uint8_t> copy_;
  const void* data_;
  size_t size_;
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
