// SPDX-License-Identifier: BSD-3-Clause
// NativeLibrary: machine code that came in a file, loaded for as long as the object lives. Its
// bytes are compared with the hash that the file names, and its imports with what is served, before
// the system sees them.
#pragma once

#include <executorch/backends/aoti/runtime/shims.h>
#include <executorch/runtime/backend/dynamic_library.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <memory>
#include <string>
#include <vector>

namespace executorch::backends::aoti {

class NativeLibrary final {
 public:
  /// `key`: begins with the SHA-256 of the bytes; one without (of old files) is not compared.
  /// `shims`: all that it may import of names that begin with aoti_. Errors: InvalidProgram for
  /// other bytes than the key says, and for what is no library for this processor; NotSupported
  /// with all names that it imports and nobody has; AccessFailed when the system does not load it.
  static runtime::Result<std::unique_ptr<NativeLibrary>> load(
      const std::string& key, runtime::Span<const uint8_t> bytes,
      const std::vector<runtime::Span<const Shim>>& shims);
  ~NativeLibrary();
  NativeLibrary(const NativeLibrary&) = delete;
  NativeLibrary& operator=(const NativeLibrary&) = delete;

  auto functions() const {
    return runtime::FunctionFinder(name_, [this](const char* name) { return find(name); });
  }

 private:
  NativeLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  void* find(const char* name) const;

  std::string name_;
  void* handle_;
};

}  // namespace executorch::backends::aoti
