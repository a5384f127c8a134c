// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/threads.h>

#include <executorch/extension/c/status.h>
#include <executorch/extension/threadpool/threadpool.h>

namespace executorch::extension::c {

using runtime::Error;
using threadpool::get_threadpool;

ExecuTorchStatus set_num_threads(uint32_t num_threads) noexcept {
  return guard("set_num_threads", [&]() -> Error {
    ET_CHECK_OR_RETURN_ERROR(num_threads > 0, InvalidArgument,
                             "expected a number of threads of at least 1, found 0");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    const bool is_set = get_threadpool()->_unsafe_reset_threadpool(num_threads);
#pragma GCC diagnostic pop
    ET_CHECK_OR_RETURN_ERROR(is_set, OutOfResources, "%u threads cannot be had", num_threads);
    return Error::Ok;
  });
}

ExecuTorchStatus get_num_threads(uint32_t* out_num_threads) noexcept {
  return guard("get_num_threads", [&]() -> Error {
    ET_C_NOT_NULL(out_num_threads);
    *out_num_threads = static_cast<uint32_t>(get_threadpool()->get_thread_count());
    return Error::Ok;
  });
}

}  // namespace executorch::extension::c
