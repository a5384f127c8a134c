// SPDX-License-Identifier: BSD-3-Clause
// For tests: named data in memory, and files as text.
#pragma once

#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/span.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace executorch::backends::aoti {

class MemoryData final : public runtime::NamedDataMap {
 public:
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(std::string_view) const override {
    return runtime::Error::NotImplemented;
  }
  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = by_key.find(std::string(key));
    return found == by_key.end()
               ? runtime::Result<runtime::FreeableBuffer>(runtime::Error::NotFound)
               : runtime::FreeableBuffer(found->second.data(), found->second.size(), nullptr);
  }
  runtime::Error load_data_into(std::string_view, void*, size_t) const override {
    return runtime::Error::NotImplemented;
  }
  runtime::Result<uint32_t> get_num_keys() const override { return by_key.size(); }
  runtime::Result<const char*> get_key(uint32_t) const override {
    return runtime::Error::NotImplemented;
  }

  std::map<std::string, std::string> by_key;
};

inline runtime::Span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string text_of_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// A library with another name, of the same length, in place of one that it has.
inline std::string renamed_in(std::string bytes, const std::string& name,
                              const std::string& other) {
  const std::string whole = std::string(1, '\0') + name + std::string(1, '\0');
  for (size_t at = bytes.find(whole); at != std::string::npos; at = bytes.find(whole, at + 1)) {
    bytes.replace(at + 1, name.size(), other);
  }
  return bytes;
}

/// Lines of this process's map of memory.
inline size_t mappings() {
  std::ifstream file("/proc/self/maps");
  return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

}  // namespace executorch::backends::aoti
