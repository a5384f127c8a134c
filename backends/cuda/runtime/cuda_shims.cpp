// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/cuda/runtime/cuda_shims.h>
#include <executorch/backends/cuda/runtime/cuda_stream.h>

#include <new>
#include <utility>

namespace executorch::backends::cuda {

using aoti::are_given;
using aoti::kInvalid;
using aoti::status_of;
using runtime::Error;
using runtime::Result;

namespace {

/// -1 is the thread's own.
Result<DeviceScope> enter(int32_t index) {
  const CudaApi& api = *ET_UNWRAP(cuda_library());
  return DeviceScope::enter(api, ET_UNWRAP(device_of(api, index)));
}

/// A device's, and a stream on it.
struct StreamGuard {
  DeviceScope device;
  StreamScope stream;
};

template <typename Guard>
int32_t drop(const char* function, Guard* guard) {
  if (!are_given(function, guard)) {
    return kInvalid;
  }
  delete guard;
  return status_of(Error::Ok);
}

}  // namespace

AOTI_SHIM int32_t aoti_torch_create_cuda_guard(int32_t index, DeviceScope** out) {
  if (!are_given(__func__, out)) {
    return kInvalid;
  }
  auto scope = enter(index);
  if (scope.ok()) {
    *out = new DeviceScope(std::move(*scope));
  }
  return status_of(scope.error());
}

AOTI_SHIM int32_t aoti_torch_delete_cuda_guard(DeviceScope* guard) {
  return drop(__func__, guard);
}

AOTI_SHIM int32_t aoti_torch_cuda_guard_set_index(DeviceScope* guard, int32_t index) {
  return are_given(__func__, guard) ? status_of(guard->move_to(index)) : kInvalid;
}

AOTI_SHIM int32_t aoti_torch_create_cuda_stream_guard(void* stream, int32_t index,
                                                      StreamGuard** out) {
  if (!are_given(__func__, out)) {
    return kInvalid;
  }
  auto scope = enter(index);
  if (scope.ok()) {
    *out = new StreamGuard{std::move(*scope), StreamScope(static_cast<cudaStream_t>(stream))};
  }
  return status_of(scope.error());
}

AOTI_SHIM int32_t aoti_torch_delete_cuda_stream_guard(StreamGuard* guard) {
  return drop(__func__, guard);
}

AOTI_SHIM int32_t aoti_torch_get_current_cuda_stream(int32_t /*index*/, void** out) {
  if (!are_given(__func__, out)) {
    return kInvalid;
  }
  *out = current_stream().value_or(nullptr);
  return status_of(Error::Ok);
}

runtime::Span<const aoti::Shim> cuda_shims() {
#define SHIM(name) {#name, reinterpret_cast<void*>(&name)}
  static const aoti::Shim shims[] = {
      SHIM(aoti_torch_create_cuda_guard),        SHIM(aoti_torch_delete_cuda_guard),
      SHIM(aoti_torch_cuda_guard_set_index),     SHIM(aoti_torch_create_cuda_stream_guard),
      SHIM(aoti_torch_delete_cuda_stream_guard), SHIM(aoti_torch_get_current_cuda_stream),
  };
#undef SHIM
  return {shims, sizeof(shims) / sizeof(shims[0])};
}

}  // namespace executorch::backends::cuda
