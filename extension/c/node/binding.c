/* SPDX-License-Identifier: BSD-3-Clause
   What index.js calls: the C interface by Node's own C interface, Node-API. Errors are exceptions
   with the status' message; handles are BigInts; tensors are {dtype, sizes, data: ArrayBuffer}. */
#define NAPI_VERSION 8
#include <node_api.h>
#include <stdlib.h>
#include <string.h>

#include <executorch/c/executorch.h>

#define MAX_ARGUMENTS 4
#define MAX_DIMENSIONS 16

static const ExecuTorchApi* et;

/* Whether it is Ok; throws otherwise. */
static int is_ok(napi_env env, ExecuTorchStatus status) {
  if (status == 0) {
    return 1;
  }
  napi_throw_error(env, NULL, et->status_message(status));
  et->release(status);
  return 0;
}

static void arguments(napi_env env, napi_callback_info info, napi_value* values) {
  size_t count = MAX_ARGUMENTS;
  napi_get_cb_info(env, info, &count, values, NULL, NULL);
}

/* To be freed; NULL for what is no text. */
static char* text_of(napi_env env, napi_value value) {
  size_t size = 0;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &size) != napi_ok) {
    return NULL;
  }
  char* text = malloc(size + 1);
  if (text != NULL) {
    napi_get_value_string_utf8(env, value, text, size + 1, &size);
  }
  return text;
}

static uint64_t handle_of(napi_env env, napi_value value) {
  uint64_t handle = 0;
  bool is_whole = true;
  napi_get_value_bigint_uint64(env, value, &handle, &is_whole);
  return handle;
}

static napi_value handle_value(napi_env env, uint64_t handle) {
  napi_value value = NULL;
  napi_create_bigint_uint64(env, handle, &value);
  return value;
}

static double number_of(napi_env env, napi_value object, const char* name) {
  napi_value value = NULL;
  double number = 0;
  if (napi_get_named_property(env, object, name, &value) == napi_ok) {
    napi_get_value_double(env, value, &number);
  }
  return number;
}

static void set_number(napi_env env, napi_value object, const char* name, double number) {
  napi_value value = NULL;
  napi_create_double(env, number, &value);
  napi_set_named_property(env, object, name, value);
}

static void set_sizes(napi_env env, napi_value object, const int32_t* sizes, size_t rank) {
  napi_value array = NULL;
  napi_create_array_with_length(env, rank, &array);
  for (size_t i = 0; i < rank; ++i) {
    napi_value size = NULL;
    napi_create_int32(env, sizes[i], &size);
    napi_set_element(env, array, (uint32_t)i, size);
  }
  napi_set_named_property(env, object, "sizes", array);
}

/* load(path) */
static napi_value load(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS];
  arguments(env, info, values);
  ExecuTorchModuleOptions options = {.struct_size = sizeof(options)};
  char* path = text_of(env, values[0]);
  options.program.path = path;
  options.load_mode = EXECUTORCH_LOAD_MMAP;
  ExecuTorchModule module = 0;
  const int is_loaded = is_ok(env, et->module_load(&options, &module));
  free(path);
  return is_loaded ? handle_value(env, module) : NULL;
}

/* release(handle) */
static napi_value release(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS];
  arguments(env, info, values);
  is_ok(env, et->release(handle_of(env, values[0])));
  return NULL;
}

static napi_value describe(napi_env env, const ExecuTorchValueInfo* info) {
  napi_value object = NULL, name = NULL;
  napi_create_object(env, &object);
  napi_create_string_utf8(env, info->name, NAPI_AUTO_LENGTH, &name);
  napi_set_named_property(env, object, "name", name);
  set_number(env, object, "kind", info->kind);
  set_number(env, object, "dtype", info->dtype);
  set_number(env, object, "bytes", (double)info->num_bytes);
  set_sizes(env, object, info->sizes, info->rank);
  return object;
}

/* inputs(module, method) */
static napi_value inputs(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS], array = NULL;
  arguments(env, info, values);
  const ExecuTorchModule module = handle_of(env, values[0]);
  char* method = text_of(env, values[1]);
  ExecuTorchMethodInfo facts = {.struct_size = sizeof(facts)};
  int goes_on = is_ok(env, et->method_info(module, method, &facts));
  napi_create_array(env, &array);
  for (size_t i = 0; goes_on && i < facts.num_inputs; ++i) {
    ExecuTorchValueInfo value = {.struct_size = sizeof(value)};
    goes_on = is_ok(env, et->value_info(module, method, EXECUTORCH_INPUT, i, &value));
    if (goes_on) {
      napi_set_element(env, array, (uint32_t)i, describe(env, &value));
    }
  }
  free(method);
  return goes_on ? array : NULL;
}

/* Over the memory of the ArrayBuffer, which stays where it is during the call. */
static int make_tensor(napi_env env, napi_value object, ExecuTorchValue* out) {
  int32_t sizes[MAX_DIMENSIONS] = {0};
  napi_value array = NULL, data = NULL;
  uint32_t rank = 0;
  ExecuTorchTensorSpec spec = {.struct_size = sizeof(spec), .sizes = sizes};
  spec.dtype = (int32_t)number_of(env, object, "dtype");
  if (napi_get_named_property(env, object, "sizes", &array) != napi_ok ||
      napi_get_array_length(env, array, &rank) != napi_ok || rank > MAX_DIMENSIONS ||
      napi_get_named_property(env, object, "data", &data) != napi_ok ||
      napi_get_arraybuffer_info(env, data, &spec.data, &spec.data_size) != napi_ok) {
    napi_throw_type_error(env, NULL, "expected tensors {dtype, sizes, data: ArrayBuffer}");
    return 0;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    napi_value size = NULL;
    napi_get_element(env, array, i, &size);
    napi_get_value_int32(env, size, &sizes[i]);
  }
  spec.rank = rank;
  out->kind = EXECUTORCH_TENSOR;
  return is_ok(env, et->tensor_new(&spec, &out->tensor));
}

static napi_value copy_out(napi_env env, const ExecuTorchValue* value) {
  napi_value result = NULL, data = NULL;
  void* memory = NULL;
  switch (value->kind) {
    case EXECUTORCH_TENSOR: {
      ExecuTorchTensorInfo info = {.struct_size = sizeof(info)};
      if (!is_ok(env, et->tensor_info(value->tensor, &info))) {
        return NULL;
      }
      napi_create_object(env, &result);
      napi_create_arraybuffer(env, info.num_bytes, &memory, &data);
      memcpy(memory, info.data, info.num_bytes);
      set_number(env, result, "dtype", info.dtype);
      set_sizes(env, result, info.sizes, info.rank);
      napi_set_named_property(env, result, "data", data);
      return result;
    }
    case EXECUTORCH_STRING:
      napi_create_string_utf8(env, value->text, value->text_size, &result);
      return result;
    case EXECUTORCH_DOUBLE:
      napi_create_double(env, value->number, &result);
      return result;
    case EXECUTORCH_INT:
      napi_create_bigint_int64(env, value->integer, &result);
      return result;
    case EXECUTORCH_BOOLEAN:
      napi_get_boolean(env, value->integer != 0, &result);
      return result;
    default:
      napi_get_null(env, &result);
      return result;
  }
}

/* execute(module, method, [tensor]) */
static napi_value execute(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS], results = NULL;
  uint32_t count = 0;
  arguments(env, info, values);
  const ExecuTorchModule module = handle_of(env, values[0]);
  char* method = text_of(env, values[1]);
  napi_get_array_length(env, values[2], &count);
  ExecuTorchMethodInfo facts = {.struct_size = sizeof(facts)};
  int goes_on = is_ok(env, et->method_info(module, method, &facts));
  ExecuTorchValue* given = calloc(count + 1, sizeof(*given));
  ExecuTorchValue* found = calloc(facts.num_outputs + 1, sizeof(*found));
  for (uint32_t i = 0; goes_on && i < count; ++i) {
    napi_value input = NULL;
    napi_get_element(env, values[2], i, &input);
    goes_on = make_tensor(env, input, &given[i]);
  }
  goes_on =
      goes_on && is_ok(env, et->execute(module, method, given, count, found, facts.num_outputs));
  napi_create_array(env, &results);
  for (size_t i = 0; goes_on && i < facts.num_outputs; ++i) {
    napi_set_element(env, results, (uint32_t)i, copy_out(env, &found[i]));
  }
  for (uint32_t i = 0; i < count; ++i) {
    et->release(given[i].tensor);
  }
  free(found);
  free(given);
  free(method);
  return goes_on ? results : NULL;
}

/* text(program, tokenizer or null) */
static napi_value text(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS];
  arguments(env, info, values);
  char* program = text_of(env, values[0]);
  char* tokenizer = text_of(env, values[1]);
  ExecuTorchTextOptions options = {
      .struct_size = sizeof(options), .program = program, .tokenizer = tokenizer};
  options.load_mode = EXECUTORCH_LOAD_MMAP;
  ExecuTorchText session = 0;
  const int is_made = is_ok(env, et->text_new(&options, 1, &session));
  free(program);
  free(tokenizer);
  return is_made ? handle_value(env, session) : NULL;
}

typedef struct Listener {
  napi_env env;
  napi_value on_text;
} Listener;

/* An exception of the callback ends the answer, and is thrown when it has. */
static int32_t show(void* context, const char* piece, size_t size) {
  const Listener* listener = context;
  napi_value receiver = NULL, argument = NULL, result = NULL;
  napi_get_undefined(listener->env, &receiver);
  napi_create_string_utf8(listener->env, piece, size, &argument);
  return napi_call_function(listener->env, receiver, listener->on_text, 1, &argument, &result) !=
         napi_ok;
}

/* generate(session, prompt, {temperature, max_new_tokens, ignores_end}, on_text) */
static napi_value generate(napi_env env, napi_callback_info info) {
  napi_value values[MAX_ARGUMENTS];
  arguments(env, info, values);
  char* prompt = text_of(env, values[1]);
  Listener listener = {env, values[3]};
  const ExecuTorchSetting temperature = {"temperature", number_of(env, values[2], "temperature")};
  ExecuTorchGenerateOptions options = {
      .struct_size = sizeof(options), .sampling = &temperature, .num_sampling = 1};
  options.max_new_tokens = (int32_t)number_of(env, values[2], "max_new_tokens");
  options.ignores_end = (int32_t)number_of(env, values[2], "ignores_end");
  options.on_text = show;
  options.context = &listener;
  const ExecuTorchStatus status =
      et->text_generate(handle_of(env, values[0]), prompt, &options, NULL);
  bool is_thrown = false;
  napi_is_exception_pending(env, &is_thrown);
  if (is_thrown) {
    et->release(status);
  } else {
    is_ok(env, status);
  }
  free(prompt);
  return NULL;
}

NAPI_MODULE_INIT() {
  et = executorch_get_api(EXECUTORCH_API_VERSION);
  if (et == NULL) {
    napi_throw_error(env, NULL, "libexecutorch_c is older than this binding");
    return NULL;
  }
  const napi_property_descriptor functions[] = {
      {"load", NULL, load, NULL, NULL, NULL, napi_default, NULL},
      {"release", NULL, release, NULL, NULL, NULL, napi_default, NULL},
      {"inputs", NULL, inputs, NULL, NULL, NULL, napi_default, NULL},
      {"execute", NULL, execute, NULL, NULL, NULL, napi_default, NULL},
      {"text", NULL, text, NULL, NULL, NULL, napi_default, NULL},
      {"generate", NULL, generate, NULL, NULL, NULL, napi_default, NULL},
  };
  napi_define_properties(env, exports, sizeof(functions) / sizeof(functions[0]), functions);
  return exports;
}
