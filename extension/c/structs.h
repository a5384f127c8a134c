// SPDX-License-Identifier: BSD-3-Clause
// Structures of the C interface, which may be those of an older or a newer header.
#pragma once

#include <algorithm>
#include <cstring>

#include <executorch/extension/c/status.h>

namespace executorch::extension::c {

template <typename T>
runtime::Error check_struct(const T* given) {
  ET_CHECK_OR_RETURN_ERROR(given != nullptr, InvalidArgument, "expected a structure, found NULL");
  ET_CHECK_OR_RETURN_ERROR(
      given->struct_size > sizeof(size_t) && given->struct_size <= 16 * sizeof(T), InvalidArgument,
      "expected struct_size to be sizeof the structure (%zu here), found %zu", sizeof(T),
      given->struct_size);
  return runtime::Error::Ok;
}

// What was given as this library knows it: members that an older header lacks are 0. NotSupported
// where members that only a newer one has are not 0.
template <typename T>
runtime::Result<T> read_struct(const T* given) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_struct(given));
  T known{};
  std::memcpy(&known, given, std::min(sizeof(T), given->struct_size));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(T); i < given->struct_size; ++i) {
    ET_CHECK_OR_RETURN_ERROR(bytes[i] == 0, NotSupported,
                             "byte %zu of a structure is set, of which this library knows %zu: it "
                             "is older than the program's header",
                             i, sizeof(T));
  }
  return known;
}

// Fills in as much as the caller's header has. `found` is written but for its struct_size.
template <typename T>
void write_struct(T found, T* out) {
  found.struct_size = out->struct_size;
  std::memcpy(out, &found, std::min(sizeof(T), out->struct_size));
}

// An array that may be NULL where it is empty.
template <typename T>
runtime::Error check_array(const T* array, size_t count, const char* what) {
  ET_CHECK_OR_RETURN_ERROR(array != nullptr || count == 0, InvalidArgument,
                           "expected %zu %s, found NULL", count, what);
  return runtime::Error::Ok;
}

// Of what is asked for by its number.
inline runtime::Error check_below(size_t count, size_t index, const char* what) {
  ET_CHECK_OR_RETURN_ERROR(index < count, NotFound,
                           "expected the number of a %s below %zu, found %zu", what, count, index);
  return runtime::Error::Ok;
}

}  // namespace executorch::extension::c
