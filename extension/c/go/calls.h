/* SPDX-License-Identifier: BSD-3-Clause
   Written from executorch.h by python -m executorch.extension.c.bindings.declarations.
   Functions of the table as functions, which cgo can call. */
#pragma once
/* clang-format off */

#include <executorch/c/executorch.h>

static inline ExecuTorchStatus et_release(const ExecuTorchApi* api, uint64_t handle) {
  return api->release(handle);
}

static inline int32_t et_status_code(const ExecuTorchApi* api, ExecuTorchStatus status) {
  return api->status_code(status);
}

static inline const char* et_status_message(const ExecuTorchApi* api, ExecuTorchStatus status) {
  return api->status_message(status);
}

static inline ExecuTorchStatus et_set_log(const ExecuTorchApi* api, ExecuTorchLog log, void* context) {
  return api->set_log(log, context);
}

static inline ExecuTorchStatus et_set_num_threads(const ExecuTorchApi* api, uint32_t num_threads) {
  return api->set_num_threads(num_threads);
}

static inline ExecuTorchStatus et_get_num_threads(const ExecuTorchApi* api, uint32_t* out_num_threads) {
  return api->get_num_threads(out_num_threads);
}

static inline ExecuTorchStatus et_backend_name(const ExecuTorchApi* api, size_t index, const char** out_name) {
  return api->backend_name(index, out_name);
}

static inline ExecuTorchStatus et_set_backend_options(const ExecuTorchApi* api, const ExecuTorchOption* options, size_t num_options) {
  return api->set_backend_options(options, num_options);
}

static inline ExecuTorchStatus et_get_backend_option(const ExecuTorchApi* api, ExecuTorchOption* option) {
  return api->get_backend_option(option);
}

static inline ExecuTorchStatus et_dtype_info(const ExecuTorchApi* api, int32_t dtype, ExecuTorchDtypeInfo* out_info) {
  return api->dtype_info(dtype, out_info);
}

static inline ExecuTorchStatus et_tensor_new(const ExecuTorchApi* api, const ExecuTorchTensorSpec* spec, ExecuTorchTensor* out_tensor) {
  return api->tensor_new(spec, out_tensor);
}

static inline ExecuTorchStatus et_tensor_info(const ExecuTorchApi* api, ExecuTorchTensor tensor, ExecuTorchTensorInfo* out_info) {
  return api->tensor_info(tensor, out_info);
}

static inline ExecuTorchStatus et_tensor_resize(const ExecuTorchApi* api, ExecuTorchTensor tensor, size_t rank, const int32_t* sizes) {
  return api->tensor_resize(tensor, rank, sizes);
}

static inline ExecuTorchStatus et_tensor_copy(const ExecuTorchApi* api, ExecuTorchTensor tensor, ExecuTorchTensor* out_tensor) {
  return api->tensor_copy(tensor, out_tensor);
}

static inline ExecuTorchStatus et_module_load(const ExecuTorchApi* api, const ExecuTorchModuleOptions* options, ExecuTorchModule* out_module) {
  return api->module_load(options, out_module);
}

static inline ExecuTorchStatus et_module_share(const ExecuTorchApi* api, ExecuTorchModule module, ExecuTorchModule* out_module) {
  return api->module_share(module, out_module);
}

static inline ExecuTorchStatus et_method_name(const ExecuTorchApi* api, ExecuTorchModule module, size_t index, const char** out_name) {
  return api->method_name(module, index, out_name);
}

static inline ExecuTorchStatus et_user_metadata(const ExecuTorchApi* api, ExecuTorchModule module, const char** out_json) {
  return api->user_metadata(module, out_json);
}

static inline ExecuTorchStatus et_method_info(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, ExecuTorchMethodInfo* out_info) {
  return api->method_info(module, method, out_info);
}

static inline ExecuTorchStatus et_value_info(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, int32_t port, size_t index, ExecuTorchValueInfo* out_info) {
  return api->value_info(module, method, port, index, out_info);
}

static inline ExecuTorchStatus et_value_index(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, int32_t port, const char* name, size_t* out_index) {
  return api->value_index(module, method, port, name, out_index);
}

static inline ExecuTorchStatus et_planned_buffer_size(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, size_t index, size_t* out_size) {
  return api->planned_buffer_size(module, method, index, out_size);
}

static inline ExecuTorchStatus et_method_backend(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, size_t index, const char** out_name) {
  return api->method_backend(module, method, index, out_name);
}

static inline ExecuTorchStatus et_load_method(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, const ExecuTorchMemory* buffers, size_t num_buffers) {
  return api->load_method(module, method, buffers, num_buffers);
}

static inline ExecuTorchStatus et_unload_method(const ExecuTorchApi* api, ExecuTorchModule module, const char* method) {
  return api->unload_method(module, method);
}

static inline ExecuTorchStatus et_set_input(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, size_t index, const ExecuTorchValue* value) {
  return api->set_input(module, method, index, value);
}

static inline ExecuTorchStatus et_set_output(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, size_t index, ExecuTorchTensor tensor) {
  return api->set_output(module, method, index, tensor);
}

static inline ExecuTorchStatus et_execute(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, const ExecuTorchValue* inputs, size_t num_inputs, ExecuTorchValue* outputs, size_t num_outputs) {
  return api->execute(module, method, inputs, num_inputs, outputs, num_outputs);
}

static inline ExecuTorchStatus et_module_take_events(const ExecuTorchApi* api, ExecuTorchModule module, ExecuTorchMemory* out_events, ExecuTorchMemory* out_values) {
  return api->module_take_events(module, out_events, out_values);
}

static inline ExecuTorchStatus et_text_new(const ExecuTorchApi* api, const ExecuTorchTextOptions* options, size_t count, ExecuTorchText* out_sessions) {
  return api->text_new(options, count, out_sessions);
}

static inline ExecuTorchStatus et_text_generate(const ExecuTorchApi* api, ExecuTorchText session, const char* prompt, const ExecuTorchGenerateOptions* options, ExecuTorchTextResult* out_result) {
  return api->text_generate(session, prompt, options, out_result);
}

static inline ExecuTorchStatus et_text_chat(const ExecuTorchApi* api, ExecuTorchText session, const ExecuTorchMessage* messages, size_t num_messages, const char* format, const ExecuTorchGenerateOptions* options, ExecuTorchTextResult* out_result) {
  return api->text_chat(session, messages, num_messages, format, options, out_result);
}

static inline ExecuTorchStatus et_text_stop(const ExecuTorchApi* api, ExecuTorchText session) {
  return api->text_stop(session);
}

static inline ExecuTorchStatus et_text_position(const ExecuTorchApi* api, ExecuTorchText session, int64_t* out_position) {
  return api->text_position(session, out_position);
}

static inline ExecuTorchStatus et_text_rewind(const ExecuTorchApi* api, ExecuTorchText session, int64_t position) {
  return api->text_rewind(session, position);
}

static inline ExecuTorchStatus et_text_save(const ExecuTorchApi* api, ExecuTorchText session, const char* path) {
  return api->text_save(session, path);
}

static inline ExecuTorchStatus et_text_restore(const ExecuTorchApi* api, ExecuTorchText session, const char* path) {
  return api->text_restore(session, path);
}

static inline ExecuTorchStatus et_text_encode(const ExecuTorchApi* api, ExecuTorchText session, const char* text, uint64_t* out_ids, size_t capacity, size_t* out_count) {
  return api->text_encode(session, text, out_ids, capacity, out_count);
}

static inline ExecuTorchStatus et_text_decode(const ExecuTorchApi* api, ExecuTorchText session, const uint64_t* ids, size_t num_ids, char* out_text, size_t capacity, size_t* out_size) {
  return api->text_decode(session, ids, num_ids, out_text, capacity, out_size);
}

static inline ExecuTorchStatus et_train_step(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, const ExecuTorchValue* inputs, size_t num_inputs, ExecuTorchValue* outputs, size_t num_outputs, size_t* out_count) {
  return api->train_step(module, method, inputs, num_inputs, outputs, num_outputs, out_count);
}

static inline ExecuTorchStatus et_trained_tensor(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, int32_t which, size_t index, const char** out_name, ExecuTorchTensor* out_tensor) {
  return api->trained_tensor(module, method, which, index, out_name, out_tensor);
}

static inline ExecuTorchStatus et_optimizer_new(const ExecuTorchApi* api, ExecuTorchModule module, const char* method, const char* kind, const ExecuTorchSetting* settings, size_t num_settings, ExecuTorchOptimizer* out_optimizer) {
  return api->optimizer_new(module, method, kind, settings, num_settings, out_optimizer);
}

static inline ExecuTorchStatus et_optimizer_step(const ExecuTorchApi* api, ExecuTorchOptimizer optimizer) {
  return api->optimizer_step(optimizer);
}

static inline ExecuTorchStatus et_checkpoint_save(const ExecuTorchApi* api, ExecuTorchOptimizer optimizer, const char* path) {
  return api->checkpoint_save(optimizer, path);
}

static inline ExecuTorchStatus et_checkpoint_load(const ExecuTorchApi* api, ExecuTorchOptimizer optimizer, const char* path) {
  return api->checkpoint_load(optimizer, path);
}
