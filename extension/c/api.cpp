// SPDX-License-Identifier: BSD-3-Clause
// The table, and the one symbol of the library.
#include <executorch/c/executorch.h>
#include <executorch/extension/c/module_object.h>
#include <executorch/extension/c/parts/text.h>
#include <executorch/extension/c/parts/threads.h>
#include <executorch/extension/c/parts/training.h>
#include <executorch/extension/c/tensor.h>
#include <executorch/runtime/core/version.h>

namespace executorch::extension::c {
namespace {

ExecuTorchStatus release_handle(uint64_t handle) noexcept {
  return guard("release", [&] { return release(handle); });
}

ExecuTorchStatus set_log_of_user(ExecuTorchLog log, void* context) noexcept {
  set_log(log, context);
  return 0;
}

// In the order of the header, where a member's comment is.
constexpr ExecuTorchApi kApi = {
    EXECUTORCH_API_VERSION,
    ET_VERSION,
    release_handle,
    status_code,
    status_message,
    set_log_of_user,
    set_num_threads,
    get_num_threads,
    backend_name,
    set_backend_options,
    get_backend_option,
    dtype_info,
    tensor_new,
    tensor_info,
    tensor_resize,
    tensor_copy,
    module_load,
    module_share,
    method_name,
    user_metadata,
    method_info,
    value_info,
    value_index,
    planned_buffer_size,
    method_backend,
    load_method,
    unload_method,
    set_input,
    set_output,
    execute,
    module_take_events,
    text_new,
    text_generate,
    text_chat,
    text_stop,
    text_position,
    text_rewind,
    text_save,
    text_restore,
    text_encode,
    text_decode,
    train_step,
    trained_tensor,
    optimizer_new,
    optimizer_step,
    checkpoint_save,
    checkpoint_load,
};

}  // namespace
}  // namespace executorch::extension::c

extern "C" const ExecuTorchApi* executorch_get_api(uint32_t version) {
  if (version == 0 || version > EXECUTORCH_API_VERSION) {
    return nullptr;
  }
  executorch::extension::c::route_messages();
  return &executorch::extension::c::kApi;
}
