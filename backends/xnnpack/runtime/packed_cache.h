// SPDX-License-Identifier: BSD-3-Clause
// Packed weights kept from one process to the next, in two calls: the options packed_cache_path and
// save_weight_cache_on_disk (XNNPACKBackend.h) for programs that load one model. Header only.
#pragma once

#include <executorch/backends/xnnpack/runtime/XNNPACKBackend.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/options.h>

namespace executorch::backends::xnnpack {

namespace internal {

template <size_t kKeySize, typename T>
ET_NODISCARD runtime::Error set_one_option(const char (&key)[kKeySize], T value) {
  runtime::BackendOptions<1> options;
  ET_CHECK_OK_OR_RETURN_ERROR(options.set_option(key, value));
  return runtime::set_option(xnnpack_backend_key, options.view());
}

}  // namespace internal

/// Methods that are loaded from now on map the weights that the file at `path` holds; it need not
/// be there. NotFound in a program without the backend, InvalidArgument for a path of 256 bytes or
/// more.
ET_NODISCARD inline runtime::Error use_packed_cache(const char* path) {
  return internal::set_one_option(packed_cache_path_option_key, path);
}

/// After they are loaded: adds to the file what it lacks. AccessFailed when it cannot be written.
ET_NODISCARD inline runtime::Error save_packed_cache() {
  return internal::set_one_option(save_weight_cache_on_disk_option_key, true);
}

}  // namespace executorch::backends::xnnpack
