// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/threads.h>

#include <executorch/extension/c/status.h>

namespace executorch::extension::c {

using runtime::Error;

ExecuTorchStatus set_num_threads(uint32_t num_threads) noexcept {
  return guard("set_num_threads", [&]() -> Error {
    ET_CHECK_OR_RETURN_ERROR(num_threads == 1, NotSupported,
                             "expected 1 thread, found %u: this library was built without "
                             "EXECUTORCH_BUILD_PTHREADPOOL",
                             num_threads);
    return Error::Ok;
  });
}

ExecuTorchStatus get_num_threads(uint32_t* out_num_threads) noexcept {
  return guard("get_num_threads", [&]() -> Error {
    ET_C_NOT_NULL(out_num_threads);
    *out_num_threads = 1;
    return Error::Ok;
  });
}

}  // namespace executorch::extension::c
