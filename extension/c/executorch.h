/* SPDX-License-Identifier: BSD-3-Clause
   The C interface of ExecuTorch: one function, which returns a table of functions. C11 and C++17.

     const ExecuTorchApi* et = executorch_get_api(EXECUTORCH_API_VERSION);
     ExecuTorchModuleOptions options = {.struct_size = sizeof(options)};
     options.program.path = "add.pte";
     ExecuTorchModule module = 0;
     ExecuTorchStatus status = et->module_load(&options, &module);
     if (status != 0) {
       puts(et->status_message(status));
       et->release(status);
     }

   Versions. A version of the table adds functions at its end and members at the end of structures
   that begin with struct_size; nothing else changes. A program compiled with this header runs with
   every later library.

   Handles are numbers; 0 is none. The library knows which exist: one that was released, one of
   another kind and 0 are reported. release() ends every kind, in any order. What the library needs
   longer (a tensor that is set as an input) lives on inside.

   Status. Every call that can fail returns one: 0 for success, else a handle with code and message,
   to be released. A failed call leaves objects as they were, results unwritten, and calls no
   release function. No exception crosses.

   Memory. Pointers that are given are read during the call, unless a comment says "stays". Pointers
   that are returned belong to the object that was asked and are valid until it is released, unless
   a comment says less. Text is UTF-8 and ends with NUL.

   Threads. Any thread may make any call. A module, a text session and an optimizer serve one call
   at a time: a second thread's gets InvalidState. module_share() gives each thread a module of its
   own over one program. Tensors may be read by many threads. Callbacks run on the thread that makes
   the call; they may call the library. */
#ifndef EXECUTORCH_C_EXECUTORCH_H
#define EXECUTORCH_C_EXECUTORCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXECUTORCH_API_VERSION 2

#if defined(_WIN32)
#define EXECUTORCH_EXPORT __declspec(dllexport)
#else
#define EXECUTORCH_EXPORT __attribute__((visibility("default")))
#endif

typedef uint64_t ExecuTorchStatus;
typedef uint64_t ExecuTorchModule;
typedef uint64_t ExecuTorchTensor;
typedef uint64_t ExecuTorchText;      /* since 2 */
typedef uint64_t ExecuTorchOptimizer; /* since 2 */

/* Codes of a status: those of executorch::runtime::Error. */
enum ExecuTorchCode {
  EXECUTORCH_OK = 0x00,
  EXECUTORCH_INTERNAL = 0x01,
  EXECUTORCH_INVALID_STATE = 0x02,
  EXECUTORCH_END_OF_METHOD = 0x03,
  EXECUTORCH_ALREADY_LOADED = 0x04,
  EXECUTORCH_NOT_SUPPORTED = 0x10,
  EXECUTORCH_NOT_IMPLEMENTED = 0x11,
  EXECUTORCH_INVALID_ARGUMENT = 0x12,
  EXECUTORCH_INVALID_TYPE = 0x13,
  EXECUTORCH_OPERATOR_MISSING = 0x14,
  EXECUTORCH_REGISTRATION_EXCEEDING_MAX_KERNELS = 0x15,
  EXECUTORCH_REGISTRATION_ALREADY_REGISTERED = 0x16,
  EXECUTORCH_NOT_FOUND = 0x20,
  EXECUTORCH_MEMORY_ALLOCATION_FAILED = 0x21,
  EXECUTORCH_ACCESS_FAILED = 0x22,
  EXECUTORCH_INVALID_PROGRAM = 0x23,
  EXECUTORCH_INVALID_EXTERNAL_DATA = 0x24,
  EXECUTORCH_OUT_OF_RESOURCES = 0x25,
  EXECUTORCH_DELEGATE_INVALID_COMPATIBILITY = 0x30,
  EXECUTORCH_DELEGATE_MEMORY_ALLOCATION_FAILED = 0x31,
  EXECUTORCH_DELEGATE_INVALID_HANDLE = 0x32
};

/* Element types, by their numbers in the program format; dtype_info() has name and size of all of
 * them. */
enum ExecuTorchDtype {
  EXECUTORCH_UINT8 = 0,
  EXECUTORCH_INT8 = 1,
  EXECUTORCH_INT16 = 2,
  EXECUTORCH_INT32 = 3,
  EXECUTORCH_INT64 = 4,
  EXECUTORCH_FLOAT16 = 5,
  EXECUTORCH_FLOAT32 = 6,
  EXECUTORCH_FLOAT64 = 7,
  EXECUTORCH_COMPLEX32 = 8,
  EXECUTORCH_COMPLEX64 = 9,
  EXECUTORCH_COMPLEX128 = 10,
  EXECUTORCH_BOOL = 11,
  EXECUTORCH_QINT8 = 12,
  EXECUTORCH_QUINT8 = 13,
  EXECUTORCH_QINT32 = 14,
  EXECUTORCH_BFLOAT16 = 15,
  EXECUTORCH_QUINT4X2 = 16,
  EXECUTORCH_QUINT2X4 = 17,
  EXECUTORCH_BITS1X8 = 18,
  EXECUTORCH_BITS2X4 = 19,
  EXECUTORCH_BITS4X2 = 20,
  EXECUTORCH_BITS8 = 21,
  EXECUTORCH_BITS16 = 22,
  EXECUTORCH_FLOAT8_E5M2 = 23,
  EXECUTORCH_FLOAT8_E4M3FN = 24,
  EXECUTORCH_FLOAT8_E5M2FNUZ = 25,
  EXECUTORCH_FLOAT8_E4M3FNUZ = 26,
  EXECUTORCH_UINT16 = 27,
  EXECUTORCH_UINT32 = 28,
  EXECUTORCH_UINT64 = 29
};

/* Kinds of values. */
enum ExecuTorchKind {
  EXECUTORCH_NONE = 0,
  EXECUTORCH_TENSOR = 1,
  EXECUTORCH_STRING = 2,
  EXECUTORCH_DOUBLE = 3,
  EXECUTORCH_INT = 4,
  EXECUTORCH_BOOLEAN = 5
};

/* How the sizes of a tensor may change. */
enum ExecuTorchDynamism {
  EXECUTORCH_STATIC_SIZES = 0,
  EXECUTORCH_BOUNDED_SIZES = 1 /* up to as many elements as it was made with */
};

enum ExecuTorchLoadMode {
  EXECUTORCH_LOAD_FILE = 0,
  EXECUTORCH_LOAD_MMAP = 1,
  EXECUTORCH_LOAD_MMAP_LOCKED = 2,
  EXECUTORCH_LOAD_MMAP_LOCKED_IF_ALLOWED = 3,
  EXECUTORCH_LOAD_MMAP_READ_AHEAD = 4
};

/* What value_info() and value_index() are asked for. */
enum ExecuTorchPort { EXECUTORCH_INPUT = 0, EXECUTORCH_OUTPUT = 1, EXECUTORCH_ATTRIBUTE = 2 };

enum ExecuTorchLogLevel {
  EXECUTORCH_LOG_DEBUG = 0,
  EXECUTORCH_LOG_INFO = 1,
  EXECUTORCH_LOG_ERROR = 2,
  EXECUTORCH_LOG_FATAL = 3
};

/* Why an answer ended. Since 2. */
enum ExecuTorchReason {
  EXECUTORCH_NOTHING_GENERATED = 0,
  EXECUTORCH_END_OF_TEXT = 1, /* the model said so */
  EXECUTORCH_LENGTH = 2,      /* max_new_tokens */
  EXECUTORCH_CONTEXT_FULL = 3,
  EXECUTORCH_STOPPED = 4, /* text_stop(), or on_text said so */
  EXECUTORCH_STOP_TEXT = 5
};

/* Tensors of a method that computes gradients. Since 2. */
enum ExecuTorchTrained {
  EXECUTORCH_PARAMETERS = 0,
  EXECUTORCH_GRADIENTS = 1, /* of the last train_step() */
  EXECUTORCH_STATE = 2      /* all that the method keeps: parameters and buffers that it writes */
};

typedef struct ExecuTorchMemory {
  void* data;
  size_t size; /* bytes */
} ExecuTorchMemory;

/* A file, or the bytes of one, which stay until release is called on them: when the last module
   that uses them is released. */
typedef struct ExecuTorchSource {
  const char* path; /* NULL: data */
  const void* data;
  size_t size;
  void (*release)(void* context, const void* data);
  void* context;
} ExecuTorchSource;

/* One option of a backend. */
typedef struct ExecuTorchOption {
  const char* backend;
  const char* key;
  int32_t kind;    /* EXECUTORCH_BOOLEAN, EXECUTORCH_INT or EXECUTORCH_STRING */
  int32_t integer; /* of the first two */
  const char* text;
} ExecuTorchOption;

/* One value of a call. */
typedef struct ExecuTorchValue {
  int32_t kind;
  ExecuTorchTensor tensor;
  int64_t integer; /* of EXECUTORCH_INT and EXECUTORCH_BOOLEAN */
  double number;
  const char* text; /* of EXECUTORCH_STRING: text_size bytes */
  size_t text_size;
  const char*
      name; /* of an input: which one it is; NULL: the one of its place. All or none have names. */
} ExecuTorchValue;

/* Structures that begin with struct_size take sizeof their type; members that are 0 mean "as
 * usual". */

typedef struct ExecuTorchTensorSpec {
  size_t struct_size;
  int32_t dtype;
  int32_t dynamism;
  size_t rank;
  const int32_t* sizes;
  const uint8_t* dim_order; /* dimensions from outermost to innermost; NULL: 0, 1, 2, ... */
  void* data;               /* stays, as long as the tensor; NULL: zeroed memory of the library */
  size_t data_size;         /* bytes that are there */
  void (*release)(void* context,
                  void* data); /* called on the data at the end of the tensor; may be NULL */
  void* context;
} ExecuTorchTensorSpec;

typedef struct ExecuTorchTensorInfo {
  size_t struct_size;
  int32_t dtype;
  int32_t dynamism;
  size_t rank;
  const int32_t* sizes;
  const int32_t* strides; /* in elements */
  const uint8_t* dim_order;
  void* data;
  size_t num_elements;
  size_t num_bytes;
} ExecuTorchTensorInfo;

typedef struct ExecuTorchDtypeInfo {
  size_t struct_size;
  const char* name;
  size_t size; /* bytes of an element */
} ExecuTorchDtypeInfo;

typedef struct ExecuTorchModuleOptions {
  size_t struct_size;
  ExecuTorchSource program;           /* .pte */
  const ExecuTorchSource* data_files; /* .ptd */
  size_t num_data_files;
  int32_t load_mode;            /* of paths */
  int32_t is_structure_trusted; /* not 0: only what keeps a truncated file out is checked */
  const ExecuTorchOption* backend_options;
  size_t num_backend_options;
  ExecuTorchMemory method_memory;  /* stays: structures of methods come from here, and nothing is
                                      freed; empty: malloc */
  ExecuTorchMemory scratch_memory; /* stays: likewise, of kernels while they run */
  int32_t records_events;          /* not 0: for module_take_events() */
  int32_t shares_planned_memory;   /* not 0: see Module's share_memory_arenas */
  size_t value_buffer_size; /* not 0: events have the values of intermediate tensors, as many bytes
                               as this */
  int32_t is_for_training;  /* since 2; not 0: train_step() and optimizers; at most one data file */
} ExecuTorchModuleOptions;

typedef struct ExecuTorchMethodInfo {
  size_t struct_size;
  size_t num_inputs;
  size_t num_outputs;
  size_t num_attributes;
  size_t num_planned_buffers;
  size_t num_backends;
  int32_t is_loaded;
} ExecuTorchMethodInfo;

typedef struct ExecuTorchValueInfo {
  size_t struct_size;
  const char* name; /* "" where the program has none */
  int32_t kind;
  int32_t dtype; /* from here on of tensors; -1 for others */
  size_t rank;
  const int32_t* sizes;     /* upper bounds where sizes vary */
  const int32_t* min_sizes; /* of inputs and outputs */
  const uint8_t* dim_order;
  size_t num_bytes;
  int32_t is_planned; /* the memory plan gives it its memory */
} ExecuTorchValueInfo;

/* A number by its name. Since 2. */
typedef struct ExecuTorchSetting {
  const char* name;
  double value;
} ExecuTorchSetting;

/* Since 2. */
typedef struct ExecuTorchTextOptions {
  size_t struct_size;
  const char* program;   /* path of a .pte */
  const char* tokenizer; /* path; NULL: the one that the program carries */
  const char* const* data_files;
  size_t num_data_files;
  const char* method;
  int32_t load_mode;
} ExecuTorchTextOptions;

/* Since 2. */
typedef struct ExecuTorchGenerateOptions {
  size_t struct_size;
  /* temperature, top_k, top_p, min_p, repetition_penalty, frequency_penalty, presence_penalty;
     others are the program's, or the runner's. A temperature of 0 takes the best token. */
  const ExecuTorchSetting* sampling;
  size_t num_sampling;
  int32_t max_new_tokens; /* 0: as many as there is room for */
  int32_t has_seed;
  uint64_t seed;
  int32_t num_bos; /* how often the tokenizer's first and last token go around the prompt */
  int32_t num_eos;
  int32_t ignores_end;   /* not 0: goes on after the token that ends an answer */
  int32_t prompt_lookup; /* guesses up to so many tokens from the context: the same answers, faster
                            where text repeats */
  const char* const* stops; /* the answer ends before any of these texts */
  size_t num_stops;
  const char* grammar;      /* what the answer must be; NULL: anything */
  const char* grammar_type; /* "json_schema" or "gbnf" */
  /* Each piece of the answer, of whole characters, with its size; `text` is not ended by NUL. Not 0
   * ends the answer. */
  int32_t (*on_text)(void* context, const char* text, size_t size);
  void* context;
} ExecuTorchGenerateOptions;

/* Since 2. */
typedef struct ExecuTorchMessage {
  const char* role; /* system, user or assistant */
  const char* content;
} ExecuTorchMessage;

/* Since 2. */
typedef struct ExecuTorchTextResult {
  size_t struct_size;
  int32_t reason; /* ExecuTorchReason */
  int64_t prompt_tokens;
  int64_t new_tokens;
  double prompt_seconds; /* until the first token */
  double answer_seconds; /* of the tokens behind it */
} ExecuTorchTextResult;

typedef void (*ExecuTorchLog)(void* context, int32_t level, const char* file, size_t line,
                              const char* message);

/* Names of methods may be NULL, for "forward". */
typedef struct ExecuTorchApi {
  /* The version of the library's table, at least the one that was asked for, and the library's own.
   */
  uint32_t api_version;
  const char* library_version;

  /* ---- Handles and status */
  ExecuTorchStatus (*release)(uint64_t handle);    /* 0: nothing happens */
  int32_t (*status_code)(ExecuTorchStatus status); /* -1 for what is no status */
  /* What was expected, what was found, and where. */
  const char* (*status_message)(ExecuTorchStatus status);

  /* ---- Library */
  /* Where messages go that are no part of a status; NULL: standard error. Not while another thread
   * makes a call. */
  ExecuTorchStatus (*set_log)(ExecuTorchLog log, void* context);
  ExecuTorchStatus (*set_num_threads)(uint32_t num_threads);
  ExecuTorchStatus (*get_num_threads)(uint32_t* out_num_threads);
  /* Backend number `index` of the library; NotFound beyond the last. */
  ExecuTorchStatus (*backend_name)(size_t index, const char** out_name);
  ExecuTorchStatus (*set_backend_options)(const ExecuTorchOption* options, size_t num_options);
  /* In: backend, key, kind. Out: the value; text is valid until the thread's next call of this
   * function. */
  ExecuTorchStatus (*get_backend_option)(ExecuTorchOption* option);
  ExecuTorchStatus (*dtype_info)(int32_t dtype, ExecuTorchDtypeInfo* out_info);

  /* ---- Tensors */
  ExecuTorchStatus (*tensor_new)(const ExecuTorchTensorSpec* spec, ExecuTorchTensor* out_tensor);
  /* Valid until the tensor is resized or, as an output, its method runs again. */
  ExecuTorchStatus (*tensor_info)(ExecuTorchTensor tensor, ExecuTorchTensorInfo* out_info);
  ExecuTorchStatus (*tensor_resize)(ExecuTorchTensor tensor, size_t rank, const int32_t* sizes);
  /* With memory of its own. */
  ExecuTorchStatus (*tensor_copy)(ExecuTorchTensor tensor, ExecuTorchTensor* out_tensor);

  /* ---- Modules: programs, with methods that run */
  /* Reads and checks the files. */
  ExecuTorchStatus (*module_load)(const ExecuTorchModuleOptions* options,
                                  ExecuTorchModule* out_module);
  /* Another module over the same program, with methods, malloc and state of its own. The first may
   * be released. */
  ExecuTorchStatus (*module_share)(ExecuTorchModule module, ExecuTorchModule* out_module);
  /* Method number `index`; NotFound beyond the last. */
  ExecuTorchStatus (*method_name)(ExecuTorchModule module, size_t index, const char** out_name);
  /* What the exporter wrote about the program: JSON, or "". */
  ExecuTorchStatus (*user_metadata)(ExecuTorchModule module, const char** out_json);
  ExecuTorchStatus (*method_info)(ExecuTorchModule module, const char* method,
                                  ExecuTorchMethodInfo* out_info);
  ExecuTorchStatus (*value_info)(ExecuTorchModule module, const char* method, int32_t port,
                                 size_t index, ExecuTorchValueInfo* out_info);
  ExecuTorchStatus (*value_index)(ExecuTorchModule module, const char* method, int32_t port,
                                  const char* name, size_t* out_index);
  ExecuTorchStatus (*planned_buffer_size)(ExecuTorchModule module, const char* method, size_t index,
                                          size_t* out_size);
  ExecuTorchStatus (*method_backend)(ExecuTorchModule module, const char* method, size_t index,
                                     const char** out_name);
  /* Prepares a method, which execute() does otherwise. buffers: memory for its plan, which stays;
     one for each planned buffer, or none. AlreadyLoaded if memory is given and the method has its
     own. */
  ExecuTorchStatus (*load_method)(ExecuTorchModule module, const char* method,
                                  const ExecuTorchMemory* buffers, size_t num_buffers);
  /* Frees a method, with its outputs. No effect if it is not loaded. */
  ExecuTorchStatus (*unload_method)(ExecuTorchModule module, const char* method);
  /* An input for each execution that does not give it. EXECUTORCH_NONE: none. */
  ExecuTorchStatus (*set_input)(ExecuTorchModule module, const char* method, size_t index,
                                const ExecuTorchValue* value);
  /* Has an output written to the memory of a tensor, where the memory plan leaves it to the caller.
   */
  ExecuTorchStatus (*set_output)(ExecuTorchModule module, const char* method, size_t index,
                                 ExecuTorchTensor tensor);
  /* Runs a method and writes its outputs, as many as there are, to `outputs`, which has room for
     num_outputs; fewer is InvalidArgument. Tensors among them belong to the module: their handles
     stay the same, their contents change with the next execution. Inputs must not change meanwhile;
     those that were given may be released afterwards, unless the program returns one as it is: then
     the output lies in the input's memory, if the memory plan leaves that to the caller. */
  ExecuTorchStatus (*execute)(ExecuTorchModule module, const char* method,
                              const ExecuTorchValue* inputs, size_t num_inputs,
                              ExecuTorchValue* outputs, size_t num_outputs);
  /* What happened since the last call, as an ETDump, and the values that it refers to; both empty
     if nothing ran. Valid until the next call. */
  ExecuTorchStatus (*module_take_events)(ExecuTorchModule module, ExecuTorchMemory* out_events,
                                         ExecuTorchMemory* out_values);

  /* ---- Text, since 2: a session has a context, behind which each prompt and answer goes */
  /* `count` sessions over one program, to `out_sessions`. */
  ExecuTorchStatus (*text_new)(const ExecuTorchTextOptions* options, size_t count,
                               ExecuTorchText* out_sessions);
  /* Appends a prompt and an answer. "" goes on with an answer that did not end. out_result may be
   * NULL. */
  ExecuTorchStatus (*text_generate)(ExecuTorchText session, const char* prompt,
                                    const ExecuTorchGenerateOptions* options,
                                    ExecuTorchTextResult* out_result);
  /* Answers a conversation, whatever the context was: what it shares with the beginning is not
     computed again. format: chatml, llama3 or gemma; NULL: that of the chat template in the program
     or beside the tokenizer. */
  ExecuTorchStatus (*text_chat)(ExecuTorchText session, const ExecuTorchMessage* messages,
                                size_t num_messages, const char* format,
                                const ExecuTorchGenerateOptions* options,
                                ExecuTorchTextResult* out_result);
  /* Ends text_generate() of another thread, or from its callback. */
  ExecuTorchStatus (*text_stop)(ExecuTorchText session);
  /* Number of tokens of the context, and how to go back to that; 0 begins anew. */
  ExecuTorchStatus (*text_position)(ExecuTorchText session, int64_t* out_position);
  ExecuTorchStatus (*text_rewind)(ExecuTorchText session, int64_t position);
  /* The context with all that was computed for it, to a file, and back into a session of the same
   * program. */
  ExecuTorchStatus (*text_save)(ExecuTorchText session, const char* path);
  ExecuTorchStatus (*text_restore)(ExecuTorchText session, const char* path);
  /* Ids of a text, and the text of ids: their number, and as much as there is room for. */
  ExecuTorchStatus (*text_encode)(ExecuTorchText session, const char* text, uint64_t* out_ids,
                                  size_t capacity, size_t* out_count);
  ExecuTorchStatus (*text_decode)(ExecuTorchText session, const uint64_t* ids, size_t num_ids,
                                  char* out_text, size_t capacity, size_t* out_size);

  /* ---- Training, since 2: modules that were loaded with is_for_training */
  /* As execute(), for a method that computes gradients: outputs are those of the user, the loss
   * first. */
  ExecuTorchStatus (*train_step)(ExecuTorchModule module, const char* method,
                                 const ExecuTorchValue* inputs, size_t num_inputs,
                                 ExecuTorchValue* outputs, size_t num_outputs, size_t* out_count);
  /* Tensor number `index` of ExecuTorchTrained, in the order of names; NotFound beyond the last. It
     is the method's: what is written there holds for the next step. To be released. */
  ExecuTorchStatus (*trained_tensor)(ExecuTorchModule module, const char* method, int32_t which,
                                     size_t index, const char** out_name,
                                     ExecuTorchTensor* out_tensor);
  /* kind: "sgd" (lr, momentum, dampening, weight_decay, nesterov) or "adamw" (lr, beta1, beta2,
     eps, weight_decay), of all parameters of the method. */
  ExecuTorchStatus (*optimizer_new)(ExecuTorchModule module, const char* method, const char* kind,
                                    const ExecuTorchSetting* settings, size_t num_settings,
                                    ExecuTorchOptimizer* out_optimizer);
  /* Changes the parameters by the gradients of the last train_step(). */
  ExecuTorchStatus (*optimizer_step)(ExecuTorchOptimizer optimizer);
  /* Parameters, and the optimizer's state, to a .ptd, and back. The module is the optimizer's. */
  ExecuTorchStatus (*checkpoint_save)(ExecuTorchOptimizer optimizer, const char* path);
  ExecuTorchStatus (*checkpoint_load)(ExecuTorchOptimizer optimizer, const char* path);
} ExecuTorchApi;

/* NULL if the library's table is older than `version`, or for 0. The table lives as long as the
 * library. */
EXECUTORCH_EXPORT const ExecuTorchApi* executorch_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif /* EXECUTORCH_C_EXECUTORCH_H */
