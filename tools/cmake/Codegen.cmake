# SPDX-License-Identifier: BSD-3-Clause
# From op tables to libraries that register kernels. Schemas of ATen operators come from PyTorch and are kept in the
# build folder.
include_guard(GLOBAL)

set(_ET_SCHEMA_CACHE "${CMAKE_BINARY_DIR}/aten_schemas.json")
file(GLOB _ET_CODEGEN_SOURCES CONFIGURE_DEPENDS
  "${EXECUTORCH_ROOT}/codegen/*.py" "${EXECUTORCH_ROOT}/codegen/tools/*.py")

# merge_yaml(FUNCTIONS_YAML a FALLBACK_YAML b OUTPUT_DIR dir): dir/merged.yaml has every operator of both; a wins.
function(merge_yaml)
  cmake_parse_arguments(ARG "" "FUNCTIONS_YAML;FALLBACK_YAML;OUTPUT_DIR" "" ${ARGN})
  execute_process(
    COMMAND "${PYTHON_EXECUTABLE}" -m codegen.tools.merge_yaml "--functions-yaml-path=${ARG_FUNCTIONS_YAML}"
      "--fallback-yaml-path=${ARG_FALLBACK_YAML}" "--output_dir=${ARG_OUTPUT_DIR}"
    WORKING_DIRECTORY "${EXECUTORCH_ROOT}" RESULT_VARIABLE rc ERROR_VARIABLE err)
  if(NOT rc EQUAL 0)
    message(FATAL_ERROR "merge_yaml(${ARG_FUNCTIONS_YAML} ${ARG_FALLBACK_YAML}): ${err}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${ARG_FUNCTIONS_YAML}" "${ARG_FALLBACK_YAML}")
endfunction()

# gen_selected_ops(LIB_NAME name [OPS_SCHEMA_YAML file] [ROOT_OPS "aten::add.out,..."] [INCLUDE_ALL_OPS ON]):
# writes <binary dir>/name/selected_operators.yaml and sets gen_selected_ops_output_yaml to its path.
function(gen_selected_ops)
  cmake_parse_arguments(ARG ""
    "LIB_NAME;OPS_SCHEMA_YAML;ROOT_OPS;INCLUDE_ALL_OPS;OPS_FROM_MODEL;DTYPE_SELECTIVE_BUILD" "" ${ARGN})
  if(ARG_OPS_FROM_MODEL OR ARG_DTYPE_SELECTIVE_BUILD)
    message(FATAL_ERROR "gen_selected_ops(${ARG_LIB_NAME}): OPS_FROM_MODEL and DTYPE_SELECTIVE_BUILD are not available "
      "yet; name the operators in ROOT_OPS")
  endif()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${ARG_LIB_NAME}/selected_operators.yaml")
  set(command "${PYTHON_EXECUTABLE}" -m codegen.tools.gen_oplist "--output_path=${output}")
  if(ARG_OPS_SCHEMA_YAML)
    list(APPEND command "--ops_schema_yaml_path=${ARG_OPS_SCHEMA_YAML}")
  endif()
  if(ARG_ROOT_OPS)
    list(APPEND command "--root_ops=${ARG_ROOT_OPS}")
  endif()
  if(ARG_INCLUDE_ALL_OPS)
    list(APPEND command "--include-all-operators")
  endif()
  execute_process(COMMAND ${command} WORKING_DIRECTORY "${EXECUTORCH_ROOT}" RESULT_VARIABLE rc ERROR_VARIABLE err)
  if(NOT rc EQUAL 0)
    message(FATAL_ERROR "gen_selected_ops(${ARG_LIB_NAME}): ${err}")
  endif()
  set(gen_selected_ops_output_yaml "${output}" PARENT_SCOPE)
endfunction()

# generate_bindings_for_kernels(LIB_NAME name [FUNCTIONS_YAML file] [CUSTOM_OPS_YAML file] [OUTPUT_DIR dir]
#   [REGISTRATION_FUNCTION name] [ADD_EXCEPTION_BOUNDARY]):
# rules that write the registration source and the headers; sets gen_command_sources to the former and
# gen_command_headers to the latter. Uses the selection of gen_selected_ops(LIB_NAME name) when there is one.
function(generate_bindings_for_kernels)
  cmake_parse_arguments(ARG "ADD_EXCEPTION_BOUNDARY"
    "LIB_NAME;FUNCTIONS_YAML;CUSTOM_OPS_YAML;DTYPE_SELECTIVE_BUILD;OUTPUT_DIR;REGISTRATION_FUNCTION" "" ${ARGN})
  if(NOT ARG_FUNCTIONS_YAML AND NOT ARG_CUSTOM_OPS_YAML)
    message(FATAL_ERROR "generate_bindings_for_kernels(${ARG_LIB_NAME}): give FUNCTIONS_YAML or CUSTOM_OPS_YAML")
  endif()
  if(NOT ARG_OUTPUT_DIR)
    set(ARG_OUTPUT_DIR "${CMAKE_CURRENT_BINARY_DIR}/${ARG_LIB_NAME}")
  endif()
  if(NOT ARG_REGISTRATION_FUNCTION)
    string(MAKE_C_IDENTIFIER "register_${ARG_LIB_NAME}" ARG_REGISTRATION_FUNCTION)
  endif()
  set(command "${PYTHON_EXECUTABLE}" -m codegen.gen "--schema-cache=${_ET_SCHEMA_CACHE}"
    "--install-dir=${ARG_OUTPUT_DIR}" "--registration-function=${ARG_REGISTRATION_FUNCTION}")
  set(inputs ${_ET_CODEGEN_SOURCES})
  if(ARG_FUNCTIONS_YAML)
    list(APPEND command "--functions-yaml-path=${ARG_FUNCTIONS_YAML}")
    list(APPEND inputs "${ARG_FUNCTIONS_YAML}")
    set(headers "${ARG_OUTPUT_DIR}/NativeFunctions.h" "${ARG_OUTPUT_DIR}/Functions.h")
  else()
    set(headers "${ARG_OUTPUT_DIR}/CustomOpsNativeFunctions.h")
  endif()
  if(ARG_CUSTOM_OPS_YAML)
    list(APPEND command "--custom-ops-yaml-path=${ARG_CUSTOM_OPS_YAML}")
    list(APPEND inputs "${ARG_CUSTOM_OPS_YAML}")
  endif()
  set(selection "${CMAKE_CURRENT_BINARY_DIR}/${ARG_LIB_NAME}/selected_operators.yaml")
  if(EXISTS "${selection}")
    list(APPEND command "--op-selection-yaml-path=${selection}")
    list(APPEND inputs "${selection}")
  endif()
  if(ARG_ADD_EXCEPTION_BOUNDARY)
    list(APPEND command "--add-exception-boundary")
  endif()
  set(source "${ARG_OUTPUT_DIR}/RegisterCodegenUnboxedKernelsEverything.cpp")
  set(stamp "${ARG_OUTPUT_DIR}/generated.stamp")
  # Files are rewritten only when they differ, so the stamp and not they tell whether the rule has run.
  add_custom_command(OUTPUT "${stamp}" BYPRODUCTS "${source}" ${headers}
    COMMAND ${command} COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${inputs} WORKING_DIRECTORY "${EXECUTORCH_ROOT}" VERBATIM
    COMMENT "Generating kernel registration of ${ARG_LIB_NAME}")
  add_custom_target(${ARG_LIB_NAME}_bindings DEPENDS "${stamp}")
  set(gen_command_sources "${source}" PARENT_SCOPE)
  set(gen_command_headers ${headers} PARENT_SCOPE)
endfunction()

# gen_operators_lib(LIB_NAME name KERNEL_LIBS ... DEPS ...): the static library that registers the kernels of
# generate_bindings_for_kernels(LIB_NAME name). Whoever links it links all of it.
function(gen_operators_lib)
  cmake_parse_arguments(ARG "NO_INSTALL" "LIB_NAME;DTYPE_SELECTIVE_BUILD" "KERNEL_LIBS;DEPS" ${ARGN})
  if(NOT ARG_LIB_NAME)
    list(POP_FRONT ARG_UNPARSED_ARGUMENTS ARG_LIB_NAME)
  endif()
  if(NOT gen_command_sources)
    message(FATAL_ERROR "gen_operators_lib(${ARG_LIB_NAME}): call generate_bindings_for_kernels first")
  endif()
  set(install_option "")
  if(ARG_NO_INSTALL)
    set(install_option NO_INSTALL)
  endif()
  et_library(${ARG_LIB_NAME} STATIC SRCS ${gen_command_sources} DEPS ${ARG_DEPS} ${ARG_KERNEL_LIBS} REGISTERS
    ${install_option})
  add_dependencies(${ARG_LIB_NAME} ${ARG_LIB_NAME}_bindings)
endfunction()
