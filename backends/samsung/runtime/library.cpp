// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/samsung/runtime/library.h>
#include <executorch/runtime/backend/dynamic_library.h>

#include <cstddef>

namespace executorch::backends::enn {

using runtime::DynamicLibrary;
using runtime::Error;
using runtime::Result;

namespace {

Result<Api> load_default() {
  return load_library({"libenn_public_api_cpp.so"});
}

/// Of the numbers that are documented one by one; from 10 on the service was late or busy.
const char* text_of(EnnReturn status) {
  static constexpr const char* kTexts[] = {"done",     "failed",   "input or output", "invalid",
                                           "filtered", "canceled", "no memory",       "size"};
  if (status >= 0 && static_cast<size_t>(status) < sizeof(kTexts) / sizeof(*kTexts)) {
    return kTexts[status];
  }
  return status == 0xFF ? "not supported" : "the service is late, busy or not there";
}

}  // namespace

Result<Api> load_library(const std::vector<std::string>& names) {
  const auto loaded = ET_UNWRAP(DynamicLibrary::open(
      names, "Samsung's ENN library", "LD_LIBRARY_PATH must have its folder, of an Exynos device"));
  Api api;
  auto functions = loaded.functions();
#define ENN_FIND(function) functions.find(#function, api.function);
  ENN_FUNCTIONS(ENN_FIND)
#undef ENN_FIND
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotFound, "expected Samsung's ENN library"));
  api.library = loaded.name();
  return api;
}

Result<const Api*> find_library() {
  return runtime::load_once(load_default);
}

Error check_status(const Api& api, EnnReturn status, const char* function) {
  if (status != 0) {
    ET_LOG(Error, "EnnBackend: %s of %s failed with error %d (%s)", function, api.library.c_str(),
           static_cast<int>(status), text_of(status));
    return Error::Internal;
  }
  return Error::Ok;
}

}  // namespace executorch::backends::enn
