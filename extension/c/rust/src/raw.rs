// SPDX-License-Identifier: BSD-3-Clause
//! Written from executorch.h by python -m executorch.extension.c.bindings.declarations.
#![allow(dead_code)]

use std::os::raw::{c_char, c_void};

pub const API_VERSION: u32 = 2;
pub const OK: i32 = 0;
pub const INTERNAL: i32 = 1;
pub const INVALID_STATE: i32 = 2;
pub const END_OF_METHOD: i32 = 3;
pub const ALREADY_LOADED: i32 = 4;
pub const NOT_SUPPORTED: i32 = 16;
pub const NOT_IMPLEMENTED: i32 = 17;
pub const INVALID_ARGUMENT: i32 = 18;
pub const INVALID_TYPE: i32 = 19;
pub const OPERATOR_MISSING: i32 = 20;
pub const REGISTRATION_EXCEEDING_MAX_KERNELS: i32 = 21;
pub const REGISTRATION_ALREADY_REGISTERED: i32 = 22;
pub const NOT_FOUND: i32 = 32;
pub const MEMORY_ALLOCATION_FAILED: i32 = 33;
pub const ACCESS_FAILED: i32 = 34;
pub const INVALID_PROGRAM: i32 = 35;
pub const INVALID_EXTERNAL_DATA: i32 = 36;
pub const OUT_OF_RESOURCES: i32 = 37;
pub const DELEGATE_INVALID_COMPATIBILITY: i32 = 48;
pub const DELEGATE_MEMORY_ALLOCATION_FAILED: i32 = 49;
pub const DELEGATE_INVALID_HANDLE: i32 = 50;
pub const UINT8: i32 = 0;
pub const INT8: i32 = 1;
pub const INT16: i32 = 2;
pub const INT32: i32 = 3;
pub const INT64: i32 = 4;
pub const FLOAT16: i32 = 5;
pub const FLOAT32: i32 = 6;
pub const FLOAT64: i32 = 7;
pub const COMPLEX32: i32 = 8;
pub const COMPLEX64: i32 = 9;
pub const COMPLEX128: i32 = 10;
pub const BOOL: i32 = 11;
pub const QINT8: i32 = 12;
pub const QUINT8: i32 = 13;
pub const QINT32: i32 = 14;
pub const BFLOAT16: i32 = 15;
pub const QUINT4X2: i32 = 16;
pub const QUINT2X4: i32 = 17;
pub const BITS1X8: i32 = 18;
pub const BITS2X4: i32 = 19;
pub const BITS4X2: i32 = 20;
pub const BITS8: i32 = 21;
pub const BITS16: i32 = 22;
pub const FLOAT8_E5M2: i32 = 23;
pub const FLOAT8_E4M3FN: i32 = 24;
pub const FLOAT8_E5M2FNUZ: i32 = 25;
pub const FLOAT8_E4M3FNUZ: i32 = 26;
pub const UINT16: i32 = 27;
pub const UINT32: i32 = 28;
pub const UINT64: i32 = 29;
pub const NONE: i32 = 0;
pub const TENSOR: i32 = 1;
pub const STRING: i32 = 2;
pub const DOUBLE: i32 = 3;
pub const INT: i32 = 4;
pub const BOOLEAN: i32 = 5;
pub const STATIC_SIZES: i32 = 0;
pub const BOUNDED_SIZES: i32 = 1;
pub const LOAD_FILE: i32 = 0;
pub const LOAD_MMAP: i32 = 1;
pub const LOAD_MMAP_LOCKED: i32 = 2;
pub const LOAD_MMAP_LOCKED_IF_ALLOWED: i32 = 3;
pub const LOAD_MMAP_READ_AHEAD: i32 = 4;
pub const INPUT: i32 = 0;
pub const OUTPUT: i32 = 1;
pub const ATTRIBUTE: i32 = 2;
pub const LOG_DEBUG: i32 = 0;
pub const LOG_INFO: i32 = 1;
pub const LOG_ERROR: i32 = 2;
pub const LOG_FATAL: i32 = 3;
pub const NOTHING_GENERATED: i32 = 0;
pub const END_OF_TEXT: i32 = 1;
pub const LENGTH: i32 = 2;
pub const CONTEXT_FULL: i32 = 3;
pub const STOPPED: i32 = 4;
pub const STOP_TEXT: i32 = 5;
pub const PARAMETERS: i32 = 0;
pub const GRADIENTS: i32 = 1;
pub const STATE: i32 = 2;

pub type ExecuTorchStatus = u64;
pub type ExecuTorchModule = u64;
pub type ExecuTorchTensor = u64;
pub type ExecuTorchText = u64;
pub type ExecuTorchOptimizer = u64;
pub type ExecuTorchLog = Option<unsafe extern "C" fn(context: *mut c_void, level: i32, file: *const c_char, line: usize, message: *const c_char)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchMemory {
    pub data: *mut c_void,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchSource {
    pub path: *const c_char,
    pub data: *const c_void,
    pub size: usize,
    pub release: Option<unsafe extern "C" fn(context: *mut c_void, data: *const c_void)>,
    pub context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchOption {
    pub backend: *const c_char,
    pub key: *const c_char,
    pub kind: i32,
    pub integer: i32,
    pub text: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchValue {
    pub kind: i32,
    pub tensor: ExecuTorchTensor,
    pub integer: i64,
    pub number: f64,
    pub text: *const c_char,
    pub text_size: usize,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchTensorSpec {
    pub struct_size: usize,
    pub dtype: i32,
    pub dynamism: i32,
    pub rank: usize,
    pub sizes: *const i32,
    pub dim_order: *const u8,
    pub data: *mut c_void,
    pub data_size: usize,
    pub release: Option<unsafe extern "C" fn(context: *mut c_void, data: *mut c_void)>,
    pub context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchTensorInfo {
    pub struct_size: usize,
    pub dtype: i32,
    pub dynamism: i32,
    pub rank: usize,
    pub sizes: *const i32,
    pub strides: *const i32,
    pub dim_order: *const u8,
    pub data: *mut c_void,
    pub num_elements: usize,
    pub num_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchDtypeInfo {
    pub struct_size: usize,
    pub name: *const c_char,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchModuleOptions {
    pub struct_size: usize,
    pub program: ExecuTorchSource,
    pub data_files: *const ExecuTorchSource,
    pub num_data_files: usize,
    pub load_mode: i32,
    pub is_structure_trusted: i32,
    pub backend_options: *const ExecuTorchOption,
    pub num_backend_options: usize,
    pub method_memory: ExecuTorchMemory,
    pub scratch_memory: ExecuTorchMemory,
    pub records_events: i32,
    pub shares_planned_memory: i32,
    pub value_buffer_size: usize,
    pub is_for_training: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchMethodInfo {
    pub struct_size: usize,
    pub num_inputs: usize,
    pub num_outputs: usize,
    pub num_attributes: usize,
    pub num_planned_buffers: usize,
    pub num_backends: usize,
    pub is_loaded: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchValueInfo {
    pub struct_size: usize,
    pub name: *const c_char,
    pub kind: i32,
    pub dtype: i32,
    pub rank: usize,
    pub sizes: *const i32,
    pub min_sizes: *const i32,
    pub dim_order: *const u8,
    pub num_bytes: usize,
    pub is_planned: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchSetting {
    pub name: *const c_char,
    pub value: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchTextOptions {
    pub struct_size: usize,
    pub program: *const c_char,
    pub tokenizer: *const c_char,
    pub data_files: *const *const c_char,
    pub num_data_files: usize,
    pub method: *const c_char,
    pub load_mode: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchGenerateOptions {
    pub struct_size: usize,
    pub sampling: *const ExecuTorchSetting,
    pub num_sampling: usize,
    pub max_new_tokens: i32,
    pub has_seed: i32,
    pub seed: u64,
    pub num_bos: i32,
    pub num_eos: i32,
    pub ignores_end: i32,
    pub prompt_lookup: i32,
    pub stops: *const *const c_char,
    pub num_stops: usize,
    pub grammar: *const c_char,
    pub grammar_type: *const c_char,
    pub on_text: Option<unsafe extern "C" fn(context: *mut c_void, text: *const c_char, size: usize) -> i32>,
    pub context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchMessage {
    pub role: *const c_char,
    pub content: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExecuTorchTextResult {
    pub struct_size: usize,
    pub reason: i32,
    pub prompt_tokens: i64,
    pub new_tokens: i64,
    pub prompt_seconds: f64,
    pub answer_seconds: f64,
}

#[repr(C)]
pub struct ExecuTorchApi {
    pub api_version: u32,
    pub library_version: *const c_char,
    pub release: unsafe extern "C" fn(handle: u64) -> ExecuTorchStatus,
    pub status_code: unsafe extern "C" fn(status: ExecuTorchStatus) -> i32,
    pub status_message: unsafe extern "C" fn(status: ExecuTorchStatus) -> *const c_char,
    pub set_log: unsafe extern "C" fn(log: ExecuTorchLog, context: *mut c_void) -> ExecuTorchStatus,
    pub set_num_threads: unsafe extern "C" fn(num_threads: u32) -> ExecuTorchStatus,
    pub get_num_threads: unsafe extern "C" fn(out_num_threads: *mut u32) -> ExecuTorchStatus,
    pub backend_name: unsafe extern "C" fn(index: usize, out_name: *mut *const c_char) -> ExecuTorchStatus,
    pub set_backend_options: unsafe extern "C" fn(options: *const ExecuTorchOption, num_options: usize) -> ExecuTorchStatus,
    pub get_backend_option: unsafe extern "C" fn(option: *mut ExecuTorchOption) -> ExecuTorchStatus,
    pub dtype_info: unsafe extern "C" fn(dtype: i32, out_info: *mut ExecuTorchDtypeInfo) -> ExecuTorchStatus,
    pub tensor_new: unsafe extern "C" fn(spec: *const ExecuTorchTensorSpec, out_tensor: *mut ExecuTorchTensor) -> ExecuTorchStatus,
    pub tensor_info: unsafe extern "C" fn(tensor: ExecuTorchTensor, out_info: *mut ExecuTorchTensorInfo) -> ExecuTorchStatus,
    pub tensor_resize: unsafe extern "C" fn(tensor: ExecuTorchTensor, rank: usize, sizes: *const i32) -> ExecuTorchStatus,
    pub tensor_copy: unsafe extern "C" fn(tensor: ExecuTorchTensor, out_tensor: *mut ExecuTorchTensor) -> ExecuTorchStatus,
    pub module_load: unsafe extern "C" fn(options: *const ExecuTorchModuleOptions, out_module: *mut ExecuTorchModule) -> ExecuTorchStatus,
    pub module_share: unsafe extern "C" fn(module: ExecuTorchModule, out_module: *mut ExecuTorchModule) -> ExecuTorchStatus,
    pub method_name: unsafe extern "C" fn(module: ExecuTorchModule, index: usize, out_name: *mut *const c_char) -> ExecuTorchStatus,
    pub user_metadata: unsafe extern "C" fn(module: ExecuTorchModule, out_json: *mut *const c_char) -> ExecuTorchStatus,
    pub method_info: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, out_info: *mut ExecuTorchMethodInfo) -> ExecuTorchStatus,
    pub value_info: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, port: i32, index: usize, out_info: *mut ExecuTorchValueInfo) -> ExecuTorchStatus,
    pub value_index: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, port: i32, name: *const c_char, out_index: *mut usize) -> ExecuTorchStatus,
    pub planned_buffer_size: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, index: usize, out_size: *mut usize) -> ExecuTorchStatus,
    pub method_backend: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, index: usize, out_name: *mut *const c_char) -> ExecuTorchStatus,
    pub load_method: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, buffers: *const ExecuTorchMemory, num_buffers: usize) -> ExecuTorchStatus,
    pub unload_method: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char) -> ExecuTorchStatus,
    pub set_input: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, index: usize, value: *const ExecuTorchValue) -> ExecuTorchStatus,
    pub set_output: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, index: usize, tensor: ExecuTorchTensor) -> ExecuTorchStatus,
    pub execute: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, inputs: *const ExecuTorchValue, num_inputs: usize, outputs: *mut ExecuTorchValue, num_outputs: usize) -> ExecuTorchStatus,
    pub module_take_events: unsafe extern "C" fn(module: ExecuTorchModule, out_events: *mut ExecuTorchMemory, out_values: *mut ExecuTorchMemory) -> ExecuTorchStatus,
    pub text_new: unsafe extern "C" fn(options: *const ExecuTorchTextOptions, count: usize, out_sessions: *mut ExecuTorchText) -> ExecuTorchStatus,
    pub text_generate: unsafe extern "C" fn(session: ExecuTorchText, prompt: *const c_char, options: *const ExecuTorchGenerateOptions, out_result: *mut ExecuTorchTextResult) -> ExecuTorchStatus,
    pub text_chat: unsafe extern "C" fn(session: ExecuTorchText, messages: *const ExecuTorchMessage, num_messages: usize, format: *const c_char, options: *const ExecuTorchGenerateOptions, out_result: *mut ExecuTorchTextResult) -> ExecuTorchStatus,
    pub text_stop: unsafe extern "C" fn(session: ExecuTorchText) -> ExecuTorchStatus,
    pub text_position: unsafe extern "C" fn(session: ExecuTorchText, out_position: *mut i64) -> ExecuTorchStatus,
    pub text_rewind: unsafe extern "C" fn(session: ExecuTorchText, position: i64) -> ExecuTorchStatus,
    pub text_save: unsafe extern "C" fn(session: ExecuTorchText, path: *const c_char) -> ExecuTorchStatus,
    pub text_restore: unsafe extern "C" fn(session: ExecuTorchText, path: *const c_char) -> ExecuTorchStatus,
    pub text_encode: unsafe extern "C" fn(session: ExecuTorchText, text: *const c_char, out_ids: *mut u64, capacity: usize, out_count: *mut usize) -> ExecuTorchStatus,
    pub text_decode: unsafe extern "C" fn(session: ExecuTorchText, ids: *const u64, num_ids: usize, out_text: *mut c_char, capacity: usize, out_size: *mut usize) -> ExecuTorchStatus,
    pub train_step: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, inputs: *const ExecuTorchValue, num_inputs: usize, outputs: *mut ExecuTorchValue, num_outputs: usize, out_count: *mut usize) -> ExecuTorchStatus,
    pub trained_tensor: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, which: i32, index: usize, out_name: *mut *const c_char, out_tensor: *mut ExecuTorchTensor) -> ExecuTorchStatus,
    pub optimizer_new: unsafe extern "C" fn(module: ExecuTorchModule, method: *const c_char, kind: *const c_char, settings: *const ExecuTorchSetting, num_settings: usize, out_optimizer: *mut ExecuTorchOptimizer) -> ExecuTorchStatus,
    pub optimizer_step: unsafe extern "C" fn(optimizer: ExecuTorchOptimizer) -> ExecuTorchStatus,
    pub checkpoint_save: unsafe extern "C" fn(optimizer: ExecuTorchOptimizer, path: *const c_char) -> ExecuTorchStatus,
    pub checkpoint_load: unsafe extern "C" fn(optimizer: ExecuTorchOptimizer, path: *const c_char) -> ExecuTorchStatus,
}

#[link(name = "executorch_c")]
extern "C" {
    pub fn executorch_get_api(version: u32) -> *const ExecuTorchApi;
}
