// SPDX-License-Identifier: BSD-3-Clause
// The C functions that a library of AOTInductor's imports, in place of PyTorch's. Handles are owned
// by who got them, and given back by aoti_torch_delete_tensor_object(). Functions return 0, or an
// Error's number with a sentence in the log. Threads: any, one tensor at a time.
#pragma once

#include <executorch/backends/aoti/runtime/slim_tensor.h>

#include <cstdint>

namespace executorch::backends::aoti {

/// By name, for what is loaded: all of shims.cpp, and of cpu_shims.cpp.
struct Shim {
  const char* name;
  void* function;
};
runtime::Span<const Shim> tensor_shims();
runtime::Span<const Shim> cpu_shims();

/// What a shim returns.
inline int32_t status_of(runtime::Error error) {
  return static_cast<int32_t>(error);
}

/// The same, with what was made in `out`.
inline int32_t give(runtime::Result<std::unique_ptr<SlimTensor>> made, SlimTensor** out) {
  if (made.ok()) {
    *out = made->release();
  }
  return status_of(made.error());
}

/// False, and a sentence, when one of them is null.
template <typename... Pointers>
bool are_given(const char* function, Pointers... pointers) {
  const bool all = ((pointers != nullptr) && ...);
  if (!all) {
    ET_LOG(Error, "%s: expected arguments, found null", function);
  }
  return all;
}

inline constexpr int32_t kInvalid = static_cast<int32_t>(runtime::Error::InvalidArgument);

}  // namespace executorch::backends::aoti

#define AOTI_SHIM extern "C" __attribute__((visibility("default")))
