// SPDX-License-Identifier: BSD-3-Clause
// What is used of OpenVINO's C library: its types and functions, declared here so that neither its
// headers nor its library are needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace executorch::backends::openvino {

// Objects of the library.
struct ov_core_t;
struct ov_model_t;
struct ov_compiled_model_t;
struct ov_infer_request_t;
struct ov_tensor_t;
struct ov_output_const_port_t;

using ov_status_e = int32_t;
constexpr ov_status_e kOk = 0;

enum ov_element_type_e : uint32_t {
  UNDEFINED = 0,
  BOOLEAN = 1,
  BF16 = 2,
  F16 = 3,
  F32 = 4,
  F64 = 5,
  I8 = 7,
  I16 = 8,
  I32 = 9,
  I64 = 10,
  U8 = 16,
};

/// A scalar has rank 0 and null.
struct ov_shape_t {
  int64_t rank;
  int64_t* dims;
};

struct ov_dimension_t {
  int64_t min;
  int64_t max;
};

struct ov_partial_shape_t {
  ov_dimension_t rank;
  ov_dimension_t* dims;
};

struct ov_available_devices_t {
  char** devices;
  size_t size;
};

struct ov_version_t {
  const char* buildNumber;
  const char* description;
};

struct ov_profiling_info_t {
  enum Status : uint32_t { NOT_RUN, OPTIMIZED_OUT, EXECUTED } status;
  int64_t real_time;  // microseconds
  int64_t cpu_time;
  const char* node_name;
  const char* exec_type;
  const char* node_type;
};

struct ov_profiling_info_list_t {
  ov_profiling_info_t* profiling_infos;
  size_t size;
};

/// The functions, by their names. ROW(name, result, parameters...)
#define EXECUTORCH_OPENVINO_FUNCTIONS(ROW)                                                         \
  ROW(ov_get_openvino_version, ov_status_e, ov_version_t*)                                         \
  ROW(ov_version_free, void, ov_version_t*)                                                        \
  ROW(ov_get_error_info, const char*, ov_status_e)                                                 \
  ROW(ov_core_create, ov_status_e, ov_core_t**)                                                    \
  ROW(ov_core_free, void, ov_core_t*)                                                              \
  ROW(ov_core_get_available_devices, ov_status_e, const ov_core_t*, ov_available_devices_t*)       \
  ROW(ov_available_devices_free, void, ov_available_devices_t*)                                    \
  ROW(ov_core_set_property, ov_status_e, const ov_core_t*, const char*, ...)                       \
  ROW(ov_core_import_model, ov_status_e, const ov_core_t*, const char*, size_t, const char*,       \
      ov_compiled_model_t**)                                                                       \
  ROW(ov_core_read_model_from_memory_buffer, ov_status_e, const ov_core_t*, const char*, size_t,   \
      const ov_tensor_t*, ov_model_t**)                                                            \
  ROW(ov_core_compile_model, ov_status_e, const ov_core_t*, const ov_model_t*, const char*,        \
      size_t, ov_compiled_model_t**, ...)                                                          \
  ROW(ov_model_free, void, ov_model_t*)                                                            \
  ROW(ov_compiled_model_create_infer_request, ov_status_e, const ov_compiled_model_t*,             \
      ov_infer_request_t**)                                                                        \
  ROW(ov_compiled_model_inputs_size, ov_status_e, const ov_compiled_model_t*, size_t*)             \
  ROW(ov_compiled_model_outputs_size, ov_status_e, const ov_compiled_model_t*, size_t*)            \
  ROW(ov_compiled_model_input_by_index, ov_status_e, const ov_compiled_model_t*, size_t,           \
      ov_output_const_port_t**)                                                                    \
  ROW(ov_compiled_model_output_by_index, ov_status_e, const ov_compiled_model_t*, size_t,          \
      ov_output_const_port_t**)                                                                    \
  ROW(ov_compiled_model_free, void, ov_compiled_model_t*)                                          \
  ROW(ov_port_get_element_type, ov_status_e, const ov_output_const_port_t*, ov_element_type_e*)    \
  ROW(ov_port_get_partial_shape, ov_status_e, const ov_output_const_port_t*, ov_partial_shape_t*)  \
  ROW(ov_partial_shape_free, void, ov_partial_shape_t*)                                            \
  ROW(ov_output_const_port_free, void, ov_output_const_port_t*)                                    \
  ROW(ov_infer_request_set_input_tensor_by_index, ov_status_e, ov_infer_request_t*, size_t,        \
      const ov_tensor_t*)                                                                          \
  ROW(ov_infer_request_set_output_tensor_by_index, ov_status_e, ov_infer_request_t*, size_t,       \
      const ov_tensor_t*)                                                                          \
  ROW(ov_infer_request_get_output_tensor_by_index, ov_status_e, const ov_infer_request_t*, size_t, \
      ov_tensor_t**)                                                                               \
  ROW(ov_infer_request_infer, ov_status_e, ov_infer_request_t*)                                    \
  ROW(ov_infer_request_get_profiling_info, ov_status_e, const ov_infer_request_t*,                 \
      ov_profiling_info_list_t*)                                                                   \
  ROW(ov_profiling_info_list_free, void, ov_profiling_info_list_t*)                                \
  ROW(ov_infer_request_free, void, ov_infer_request_t*)                                            \
  ROW(ov_tensor_create_from_host_ptr, ov_status_e, ov_element_type_e, ov_shape_t, void*,           \
      ov_tensor_t**)                                                                               \
  ROW(ov_tensor_get_shape, ov_status_e, const ov_tensor_t*, ov_shape_t*)                           \
  ROW(ov_tensor_get_byte_size, ov_status_e, const ov_tensor_t*, size_t*)                           \
  ROW(ov_tensor_data, ov_status_e, const ov_tensor_t*, void**)                                     \
  ROW(ov_tensor_free, void, ov_tensor_t*)                                                          \
  ROW(ov_shape_free, ov_status_e, ov_shape_t*)

/// A pointer for each function of the library.
struct Api {
#define EXECUTORCH_OPENVINO_MEMBER(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  EXECUTORCH_OPENVINO_FUNCTIONS(EXECUTORCH_OPENVINO_MEMBER)
#undef EXECUTORCH_OPENVINO_MEMBER
  /// Null in libraries that do not have it.
  const char* (*ov_get_last_err_msg)() = nullptr;
};

}  // namespace executorch::backends::openvino
