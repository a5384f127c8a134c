// SPDX-License-Identifier: BSD-3-Clause
// The registry of backends, in zero-initialized static storage.
#include <executorch/runtime/backend/interface.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

BackendInterface::~BackendInterface() {}

namespace {

constexpr size_t kMaxRegisteredBackends = 16;

struct BackendTable {
  Backend entries[kMaxRegisteredBackends];
  size_t size;
};
BackendTable table;

}  // namespace

BackendInterface* get_backend_class(const char* name) {
  for (size_t i = 0; i < table.size; ++i) {
    if (std::strcmp(table.entries[i].name, name) == 0) {
      return table.entries[i].backend;
    }
  }
  return nullptr;
}

Error register_backend(const Backend& backend) {
  ET_CHECK_OR_RETURN_ERROR(backend.name != nullptr && backend.backend != nullptr, InvalidArgument,
                           "a backend has no name or no object");
  const BackendInterface* const present = get_backend_class(backend.name);
  if (present == backend.backend) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(present == nullptr, InvalidArgument,
                           "Backend %s is registered already with another object", backend.name);
  ET_CHECK_OR_RETURN_ERROR(table.size < kMaxRegisteredBackends, Internal,
                           "no place for backend %s: %zu are registered", backend.name, table.size);
  table.entries[table.size++] = backend;
  return Error::Ok;
}

size_t get_num_registered_backends() {
  return table.size;
}

Result<const char*> get_backend_name(size_t index) {
  ET_CHECK_OR_RETURN_ERROR(index < table.size, InvalidArgument, "backend %zu of %zu", index,
                           table.size);
  return table.entries[index].name;
}

Error set_option(
    const char* backend_name,
    const executorch::runtime::Span<executorch::runtime::BackendOption> backend_options) {
  BackendInterface* const backend = get_backend_class(backend_name);
  ET_CHECK_OR_RETURN_ERROR(backend != nullptr, NotFound, "Backend %s is not registered.",
                           backend_name);
  BackendOptionContext context;
  return backend->set_option(context, backend_options);
}

Error get_option(const char* backend_name,
                 executorch::runtime::Span<executorch::runtime::BackendOption> backend_options) {
  BackendInterface* const backend = get_backend_class(backend_name);
  ET_CHECK_OR_RETURN_ERROR(backend != nullptr, NotFound, "Backend %s is not registered.",
                           backend_name);
  BackendOptionContext context;
  return backend->get_option(context, backend_options);
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
