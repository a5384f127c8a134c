// SPDX-License-Identifier: BSD-3-Clause
// Options for several backends, given to Program::load_method() and passed to each backend's
// init().
#pragma once

#include <cstddef>
#include <cstring>

#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>

namespace executorch {
namespace runtime {

/// Refers to the options, which must outlive the loading of the method. Copies the backend names.
class LoadBackendOptionsMap final {
 public:
  static constexpr size_t kMaxBackends = 8;
  static constexpr size_t kMaxBackendIdLength = 64;

  struct Entry {
    char backend_id[kMaxBackendIdLength];
    Span<BackendOption> options;
  };
  struct EntryView {
    const char* backend_id;
    Span<const BackendOption> options;
  };

  LoadBackendOptionsMap() : size_(0) {}

  /// Sets or replaces the options of a backend. InvalidArgument for an empty name, one of more
  /// than 63 bytes, or when kMaxBackends others are set.
  Error set_options(const char* backend_id, Span<BackendOption> options) {
    ET_CHECK_OR_RETURN_ERROR(backend_id != nullptr && backend_id[0] != '\0', InvalidArgument,
                             "no backend name");
    ET_CHECK_OR_RETURN_ERROR(std::strlen(backend_id) < kMaxBackendIdLength, InvalidArgument,
                             "backend name %s exceeds %zu bytes", backend_id,
                             kMaxBackendIdLength - 1);
    const size_t place = find(backend_id);
    if (place == size_) {
      ET_CHECK_OR_RETURN_ERROR(size_ < kMaxBackends, InvalidArgument,
                               "options for %s: %zu backends have options already", backend_id,
                               size_);
      std::strncpy(entries_[place].backend_id, backend_id, kMaxBackendIdLength);
      ++size_;
    }
    entries_[place].options = options;
    return Error::Ok;
  }

  /// The same from an object that knows its backend: with backend_id() and view().
  template <typename Builder>
  Error set_options(Builder& builder) {
    return set_options(builder.backend_id(), builder.view());
  }

  /// The options of a backend; empty when there are none.
  Span<const BackendOption> get_options(const char* backend_id) const {
    const size_t place = backend_id == nullptr ? size_ : find(backend_id);
    return place < size_ ? entry_at(place).options : Span<const BackendOption>();
  }
  bool has_options(const char* backend_id) const {
    return backend_id != nullptr && find(backend_id) < size_;
  }

  /// Number of backends that have options.
  size_t size() const { return size_; }
  /// Entry `index`, below size(); an empty one beyond.
  EntryView entry_at(size_t index) const {
    if (index >= size_) {
      return {nullptr, {}};
    }
    const Entry& entry = entries_[index];
    return {entry.backend_id, {entry.options.data(), entry.options.size()}};
  }

 private:
  size_t find(const char* backend_id) const {
    size_t place = 0;
    while (place < size_ && std::strcmp(entries_[place].backend_id, backend_id) != 0) {
      ++place;
    }
    return place;
  }

  Entry entries_[kMaxBackends]{};
  size_t size_;
};

}  // namespace runtime
}  // namespace executorch
