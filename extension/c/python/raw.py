# SPDX-License-Identifier: BSD-3-Clause
"""Written from executorch.h by python -m executorch.extension.c.bindings.declarations."""
# ruff: noqa
# fmt: off

import ctypes

API_VERSION = 2
OK = 0
INTERNAL = 1
INVALID_STATE = 2
END_OF_METHOD = 3
ALREADY_LOADED = 4
NOT_SUPPORTED = 16
NOT_IMPLEMENTED = 17
INVALID_ARGUMENT = 18
INVALID_TYPE = 19
OPERATOR_MISSING = 20
REGISTRATION_EXCEEDING_MAX_KERNELS = 21
REGISTRATION_ALREADY_REGISTERED = 22
NOT_FOUND = 32
MEMORY_ALLOCATION_FAILED = 33
ACCESS_FAILED = 34
INVALID_PROGRAM = 35
INVALID_EXTERNAL_DATA = 36
OUT_OF_RESOURCES = 37
DELEGATE_INVALID_COMPATIBILITY = 48
DELEGATE_MEMORY_ALLOCATION_FAILED = 49
DELEGATE_INVALID_HANDLE = 50
UINT8 = 0
INT8 = 1
INT16 = 2
INT32 = 3
INT64 = 4
FLOAT16 = 5
FLOAT32 = 6
FLOAT64 = 7
COMPLEX32 = 8
COMPLEX64 = 9
COMPLEX128 = 10
BOOL = 11
QINT8 = 12
QUINT8 = 13
QINT32 = 14
BFLOAT16 = 15
QUINT4X2 = 16
QUINT2X4 = 17
BITS1X8 = 18
BITS2X4 = 19
BITS4X2 = 20
BITS8 = 21
BITS16 = 22
FLOAT8_E5M2 = 23
FLOAT8_E4M3FN = 24
FLOAT8_E5M2FNUZ = 25
FLOAT8_E4M3FNUZ = 26
UINT16 = 27
UINT32 = 28
UINT64 = 29
NONE = 0
TENSOR = 1
STRING = 2
DOUBLE = 3
INT = 4
BOOLEAN = 5
STATIC_SIZES = 0
BOUNDED_SIZES = 1
LOAD_FILE = 0
LOAD_MMAP = 1
LOAD_MMAP_LOCKED = 2
LOAD_MMAP_LOCKED_IF_ALLOWED = 3
LOAD_MMAP_READ_AHEAD = 4
INPUT = 0
OUTPUT = 1
ATTRIBUTE = 2
LOG_DEBUG = 0
LOG_INFO = 1
LOG_ERROR = 2
LOG_FATAL = 3
NOTHING_GENERATED = 0
END_OF_TEXT = 1
LENGTH = 2
CONTEXT_FULL = 3
STOPPED = 4
STOP_TEXT = 5
PARAMETERS = 0
GRADIENTS = 1
STATE = 2

ExecuTorchStatus = ctypes.c_uint64
ExecuTorchModule = ctypes.c_uint64
ExecuTorchTensor = ctypes.c_uint64
ExecuTorchText = ctypes.c_uint64
ExecuTorchOptimizer = ctypes.c_uint64
ExecuTorchLog = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


class ExecuTorchMemory(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
    ]


class ExecuTorchSource(ctypes.Structure):
    _fields_ = [
        ("path", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
        ("context", ctypes.c_void_p),
    ]


class ExecuTorchOption(ctypes.Structure):
    _fields_ = [
        ("backend", ctypes.c_char_p),
        ("key", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("integer", ctypes.c_int32),
        ("text", ctypes.c_char_p),
    ]


class ExecuTorchValue(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32),
        ("tensor", ExecuTorchTensor),
        ("integer", ctypes.c_int64),
        ("number", ctypes.c_double),
        ("text", ctypes.c_char_p),
        ("text_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
    ]


class ExecuTorchTensorSpec(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("dtype", ctypes.c_int32),
        ("dynamism", ctypes.c_int32),
        ("rank", ctypes.c_size_t),
        ("sizes", ctypes.POINTER(ctypes.c_int32)),
        ("dim_order", ctypes.POINTER(ctypes.c_uint8)),
        ("data", ctypes.c_void_p),
        ("data_size", ctypes.c_size_t),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
        ("context", ctypes.c_void_p),
    ]


class ExecuTorchTensorInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("dtype", ctypes.c_int32),
        ("dynamism", ctypes.c_int32),
        ("rank", ctypes.c_size_t),
        ("sizes", ctypes.POINTER(ctypes.c_int32)),
        ("strides", ctypes.POINTER(ctypes.c_int32)),
        ("dim_order", ctypes.POINTER(ctypes.c_uint8)),
        ("data", ctypes.c_void_p),
        ("num_elements", ctypes.c_size_t),
        ("num_bytes", ctypes.c_size_t),
    ]


class ExecuTorchDtypeInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
    ]


class ExecuTorchModuleOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("program", ExecuTorchSource),
        ("data_files", ctypes.POINTER(ExecuTorchSource)),
        ("num_data_files", ctypes.c_size_t),
        ("load_mode", ctypes.c_int32),
        ("is_structure_trusted", ctypes.c_int32),
        ("backend_options", ctypes.POINTER(ExecuTorchOption)),
        ("num_backend_options", ctypes.c_size_t),
        ("method_memory", ExecuTorchMemory),
        ("scratch_memory", ExecuTorchMemory),
        ("records_events", ctypes.c_int32),
        ("shares_planned_memory", ctypes.c_int32),
        ("value_buffer_size", ctypes.c_size_t),
        ("is_for_training", ctypes.c_int32),
    ]


class ExecuTorchMethodInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("num_inputs", ctypes.c_size_t),
        ("num_outputs", ctypes.c_size_t),
        ("num_attributes", ctypes.c_size_t),
        ("num_planned_buffers", ctypes.c_size_t),
        ("num_backends", ctypes.c_size_t),
        ("is_loaded", ctypes.c_int32),
    ]


class ExecuTorchValueInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_size_t),
        ("sizes", ctypes.POINTER(ctypes.c_int32)),
        ("min_sizes", ctypes.POINTER(ctypes.c_int32)),
        ("dim_order", ctypes.POINTER(ctypes.c_uint8)),
        ("num_bytes", ctypes.c_size_t),
        ("is_planned", ctypes.c_int32),
    ]


class ExecuTorchSetting(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("value", ctypes.c_double),
    ]


class ExecuTorchTextOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("program", ctypes.c_char_p),
        ("tokenizer", ctypes.c_char_p),
        ("data_files", ctypes.POINTER(ctypes.c_char_p)),
        ("num_data_files", ctypes.c_size_t),
        ("method", ctypes.c_char_p),
        ("load_mode", ctypes.c_int32),
    ]


class ExecuTorchGenerateOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("sampling", ctypes.POINTER(ExecuTorchSetting)),
        ("num_sampling", ctypes.c_size_t),
        ("max_new_tokens", ctypes.c_int32),
        ("has_seed", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("num_bos", ctypes.c_int32),
        ("num_eos", ctypes.c_int32),
        ("ignores_end", ctypes.c_int32),
        ("prompt_lookup", ctypes.c_int32),
        ("stops", ctypes.POINTER(ctypes.c_char_p)),
        ("num_stops", ctypes.c_size_t),
        ("grammar", ctypes.c_char_p),
        ("grammar_type", ctypes.c_char_p),
        ("on_text", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)),
        ("context", ctypes.c_void_p),
    ]


class ExecuTorchMessage(ctypes.Structure):
    _fields_ = [
        ("role", ctypes.c_char_p),
        ("content", ctypes.c_char_p),
    ]


class ExecuTorchTextResult(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("reason", ctypes.c_int32),
        ("prompt_tokens", ctypes.c_int64),
        ("new_tokens", ctypes.c_int64),
        ("prompt_seconds", ctypes.c_double),
        ("answer_seconds", ctypes.c_double),
    ]


class ExecuTorchApi(ctypes.Structure):
    _fields_ = [
        ("api_version", ctypes.c_uint32),
        ("library_version", ctypes.c_char_p),
        ("release", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.c_uint64)),
        ("status_code", ctypes.CFUNCTYPE(ctypes.c_int32, ExecuTorchStatus)),
        ("status_message", ctypes.CFUNCTYPE(ctypes.c_char_p, ExecuTorchStatus)),
        ("set_log", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchLog, ctypes.c_void_p)),
        ("set_num_threads", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.c_uint32)),
        ("get_num_threads", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.POINTER(ctypes.c_uint32))),
        ("backend_name", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p))),
        ("set_backend_options", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.POINTER(ExecuTorchOption), ctypes.c_size_t)),
        ("get_backend_option", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.POINTER(ExecuTorchOption))),
        ("dtype_info", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.c_int32, ctypes.POINTER(ExecuTorchDtypeInfo))),
        ("tensor_new", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.POINTER(ExecuTorchTensorSpec), ctypes.POINTER(ExecuTorchTensor))),
        ("tensor_info", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchTensor, ctypes.POINTER(ExecuTorchTensorInfo))),
        ("tensor_resize", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchTensor, ctypes.c_size_t, ctypes.POINTER(ctypes.c_int32))),
        ("tensor_copy", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchTensor, ctypes.POINTER(ExecuTorchTensor))),
        ("module_load", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.POINTER(ExecuTorchModuleOptions), ctypes.POINTER(ExecuTorchModule))),
        ("module_share", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.POINTER(ExecuTorchModule))),
        ("method_name", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p))),
        ("user_metadata", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.POINTER(ctypes.c_char_p))),
        ("method_info", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.POINTER(ExecuTorchMethodInfo))),
        ("value_info", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.c_int32, ctypes.c_size_t, ctypes.POINTER(ExecuTorchValueInfo))),
        ("value_index", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.c_int32, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t))),
        ("planned_buffer_size", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t))),
        ("method_backend", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p))),
        ("load_method", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.POINTER(ExecuTorchMemory), ctypes.c_size_t)),
        ("unload_method", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p)),
        ("set_input", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ExecuTorchValue))),
        ("set_output", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.c_size_t, ExecuTorchTensor)),
        ("execute", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.POINTER(ExecuTorchValue), ctypes.c_size_t, ctypes.POINTER(ExecuTorchValue), ctypes.c_size_t)),
        ("module_take_events", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.POINTER(ExecuTorchMemory), ctypes.POINTER(ExecuTorchMemory))),
        ("text_new", ctypes.CFUNCTYPE(ExecuTorchStatus, ctypes.POINTER(ExecuTorchTextOptions), ctypes.c_size_t, ctypes.POINTER(ExecuTorchText))),
        ("text_generate", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText, ctypes.c_char_p, ctypes.POINTER(ExecuTorchGenerateOptions), ctypes.POINTER(ExecuTorchTextResult))),
        ("text_chat", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText, ctypes.POINTER(ExecuTorchMessage), ctypes.c_size_t, ctypes.c_char_p, ctypes.POINTER(ExecuTorchGenerateOptions), ctypes.POINTER(ExecuTorchTextResult))),
        ("text_stop", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText)),
        ("text_position", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText, ctypes.POINTER(ctypes.c_int64))),
        ("text_rewind", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText, ctypes.c_int64)),
        ("text_save", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText, ctypes.c_char_p)),
        ("text_restore", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText, ctypes.c_char_p)),
        ("text_encode", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t))),
        ("text_decode", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchText, ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t))),
        ("train_step", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.POINTER(ExecuTorchValue), ctypes.c_size_t, ctypes.POINTER(ExecuTorchValue), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t))),
        ("trained_tensor", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.c_int32, ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ExecuTorchTensor))),
        ("optimizer_new", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchModule, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ExecuTorchSetting), ctypes.c_size_t, ctypes.POINTER(ExecuTorchOptimizer))),
        ("optimizer_step", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchOptimizer)),
        ("checkpoint_save", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchOptimizer, ctypes.c_char_p)),
        ("checkpoint_load", ctypes.CFUNCTYPE(ExecuTorchStatus, ExecuTorchOptimizer, ctypes.c_char_p)),
    ]
