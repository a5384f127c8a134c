# SPDX-License-Identifier: BSD-3-Clause
# From op tables to libraries that register kernels.
#
# In a source tree, and installed beside executorch-config.cmake, which includes it and sets EXECUTORCH_ROOT: the folder
# that has codegen/, schema/ and kernels/.
include_guard(DIRECTORY)
include("${CMAKE_CURRENT_LIST_DIR}/LinkOptions.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/executorch_targets.cmake" OPTIONAL)
if(NOT PYTHON_EXECUTABLE)
  include("${CMAKE_CURRENT_LIST_DIR}/PythonExecutable.cmake")
endif()

file(GLOB _ET_CODEGEN_SOURCES CONFIGURE_DEPENDS
  "${EXECUTORCH_ROOT}/codegen/*.py" "${EXECUTORCH_ROOT}/codegen/*.txt" "${EXECUTORCH_ROOT}/codegen/tools/*.py")

# Runs a generator at configure time; `what` names the call that failed.
function(_et_run_codegen what)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "FLATC_EXECUTABLE=${ET_FLATC}" ${ARGN} WORKING_DIRECTORY "${EXECUTORCH_ROOT}" RESULT_VARIABLE rc ERROR_VARIABLE err)
  if(NOT rc EQUAL 0)
    message(FATAL_ERROR "${what}: ${err}")
  endif()
endfunction()

# The absolute path of a file that the user named: relative to where cmake was started, or to a source or build folder.
function(_et_find_input path what result)
  foreach(base "$ENV{PWD}" "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
    get_filename_component(candidate "${path}" ABSOLUTE BASE_DIR "${base}")
    if(EXISTS "${candidate}")
      set(${result} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${what}: no file ${path} where cmake was started, in ${CMAKE_SOURCE_DIR} or in ${CMAKE_BINARY_DIR}")
endfunction()

# merge_yaml(FUNCTIONS_YAML a FALLBACK_YAML b OUTPUT_DIR dir): dir/merged.yaml has every operator of both; a wins. Also as
# merge_yaml(a b dir).
function(merge_yaml)
  set(names FUNCTIONS_YAML FALLBACK_YAML OUTPUT_DIR)
  cmake_parse_arguments(ARG "" "${names}" "" ${ARGN})
  if(ARGC GREATER 0 AND NOT "${ARGV0}" IN_LIST names)
    set(ARG_FUNCTIONS_YAML "${ARGV0}")
    set(ARG_FALLBACK_YAML "${ARGV1}")
    set(ARG_OUTPUT_DIR "${ARGV2}")
  endif()
  foreach(name IN LISTS names)
    if(NOT ARG_${name})
      message(FATAL_ERROR "merge_yaml: ${name} is missing; call merge_yaml(FUNCTIONS_YAML a FALLBACK_YAML b OUTPUT_DIR dir)")
    endif()
  endforeach()
  get_filename_component(ARG_OUTPUT_DIR "${ARG_OUTPUT_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  foreach(name FUNCTIONS_YAML FALLBACK_YAML)
    _et_find_input("${ARG_${name}}" "merge_yaml: ${name}" ARG_${name})
  endforeach()
  _et_run_codegen("merge_yaml(${ARG_FUNCTIONS_YAML} ${ARG_FALLBACK_YAML})" "${PYTHON_EXECUTABLE}" -m
    codegen.tools.merge_yaml "--functions-yaml-path=${ARG_FUNCTIONS_YAML}"
    "--fallback-yaml-path=${ARG_FALLBACK_YAML}" "--output_dir=${ARG_OUTPUT_DIR}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${ARG_FUNCTIONS_YAML}" "${ARG_FALLBACK_YAML}")
endfunction()

# gen_selected_ops(LIB_NAME name [OPS_SCHEMA_YAML file | ROOT_OPS "aten::add.out,..." | INCLUDE_ALL_OPS ON |
#   OPS_FROM_MODEL "file.pte[,file.pte...]" [DTYPE_SELECTIVE_BUILD ON]]): one source of operators; of several models, what
# any of them calls. Also in the older form
# gen_selected_ops(ops_schema_yaml root_ops include_all_ops ops_from_model dtype_selective_build), "" for none.
# Writes <binary dir>/name/selected_operators.yaml and sets gen_selected_ops_output_yaml to its path; with dtype
# selection also selected_op_variants.h beside it.
function(gen_selected_ops)
  set(names LIB_NAME OPS_SCHEMA_YAML ROOT_OPS INCLUDE_ALL_OPS OPS_FROM_MODEL DTYPE_SELECTIVE_BUILD)
  cmake_parse_arguments(ARG "" "${names}" "" ${ARGN})
  if(ARGC GREATER 0 AND NOT "${ARGV0}" IN_LIST names)
    foreach(position RANGE 1 5)
      math(EXPR index "${position} - 1")
      list(GET names ${position} name)
      set(ARG_${name} "${ARGV${index}}")
    endforeach()
    set(ARG_LIB_NAME "")
  endif()
  if(ARG_DTYPE_SELECTIVE_BUILD AND NOT ARG_OPS_FROM_MODEL)
    message(FATAL_ERROR "gen_selected_ops(${ARG_LIB_NAME}): DTYPE_SELECTIVE_BUILD needs OPS_FROM_MODEL, which says what dtypes are used")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${ARG_LIB_NAME}")
  set(output "${folder}/selected_operators.yaml")
  set(command "${PYTHON_EXECUTABLE}" -m codegen.tools.gen_oplist "--output_path=${output}")
  foreach(source OPS_SCHEMA_YAML OPS_FROM_MODEL)
    string(REPLACE "," ";" given "${ARG_${source}}")
    set(ARG_${source} "")
    foreach(file IN LISTS given)
      _et_find_input("${file}" "gen_selected_ops(${ARG_LIB_NAME}): ${source}" found)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${found}")
      string(APPEND ARG_${source} "${separator_of_${source}}${found}")
      set(separator_of_${source} ",")
    endforeach()
  endforeach()
  if(ARG_OPS_SCHEMA_YAML)
    list(APPEND command "--ops_schema_yaml_path=${ARG_OPS_SCHEMA_YAML}")
  endif()
  if(ARG_OPS_FROM_MODEL)
    list(APPEND command "--model_file_path=${ARG_OPS_FROM_MODEL}")
  endif()
  if(ARG_ROOT_OPS)
    list(APPEND command "--root_ops=${ARG_ROOT_OPS}")
  endif()
  if(ARG_INCLUDE_ALL_OPS)
    list(APPEND command "--include-all-operators")
  endif()
  _et_run_codegen("gen_selected_ops(${ARG_LIB_NAME})" ${command})
  if(ARG_DTYPE_SELECTIVE_BUILD)
    _et_run_codegen("gen_selected_ops(${ARG_LIB_NAME})" "${PYTHON_EXECUTABLE}" -m
      codegen.tools.gen_selected_op_variants "--yaml-file-path=${output}" "--output-dir=${folder}")
  endif()
  set(gen_selected_ops_output_yaml "${output}" PARENT_SCOPE)
endfunction()

# gen_selected_max_kernel_num(LIB_NAME name OPLIST_YAMLS file ...): the header that sizes the kernel registry exactly.
# Sets name_max_kernel_num_include_dir; the target name_max_kernel_num_header puts it on an include path.
function(gen_selected_max_kernel_num)
  cmake_parse_arguments(ARG "" "LIB_NAME" "OPLIST_YAMLS" ${ARGN})
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${ARG_LIB_NAME}/max_kernel_num")
  list(TRANSFORM ARG_OPLIST_YAMLS PREPEND "--oplist-yaml=" OUTPUT_VARIABLE lists)
  _et_run_codegen("gen_selected_max_kernel_num(${ARG_LIB_NAME})" "${PYTHON_EXECUTABLE}" -m
    codegen.tools.gen_max_kernel_num ${lists}
    "--prim-ops-source=${EXECUTORCH_ROOT}/kernels/prim_ops/register_prim_ops.cpp"
    "--output-path=${folder}/executorch/runtime/kernel/selected_max_kernel_num.h")
  add_library(${ARG_LIB_NAME}_max_kernel_num_header INTERFACE)
  target_include_directories(${ARG_LIB_NAME}_max_kernel_num_header INTERFACE "${folder}")
  set(${ARG_LIB_NAME}_max_kernel_num_include_dir "${folder}" PARENT_SCOPE)
endfunction()

# generate_bindings_for_kernels(LIB_NAME name [FUNCTIONS_YAML file] [CUSTOM_OPS_YAML file] [OUTPUT_DIR dir]
#   [REGISTRATION_FUNCTION name] [ADD_EXCEPTION_BOUNDARY] [USE_ATEN_LIB]):
# rules that write the registration source and the headers; sets gen_command_sources to the former and
# gen_command_headers to the latter. Uses the selection of gen_selected_ops(LIB_NAME name) when there is one.
# USE_ATEN_LIB: in ATen mode PyTorch has the operators that no row names.
function(generate_bindings_for_kernels)
  cmake_parse_arguments(ARG "ADD_EXCEPTION_BOUNDARY;USE_ATEN_LIB"
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
  set(tables "")
  set(inputs ${_ET_CODEGEN_SOURCES})
  set(headers "${ARG_OUTPUT_DIR}/CustomOpsNativeFunctions.h")
  if(ARG_FUNCTIONS_YAML)
    set(headers "${ARG_OUTPUT_DIR}/NativeFunctions.h" "${ARG_OUTPUT_DIR}/Functions.h")
  endif()
  foreach(table FUNCTIONS_YAML CUSTOM_OPS_YAML)
    if(ARG_${table})
      _et_find_input("${ARG_${table}}" "generate_bindings_for_kernels(${ARG_LIB_NAME}): ${table}" file)
      string(TOLOWER "${table}" option)
      string(REPLACE "_" "-" option "${option}")
      list(APPEND tables "--${option}-path=${file}")
      list(APPEND inputs "${file}")
    endif()
  endforeach()
  # Errors of the tables stop configuring, with their file and line, and not a build of some time later.
  _et_run_codegen("generate_bindings_for_kernels(${ARG_LIB_NAME})"
    "${PYTHON_EXECUTABLE}" -m codegen.gen --dry-run ${tables})
  set(command "${PYTHON_EXECUTABLE}" -m codegen.gen
    "--install-dir=${ARG_OUTPUT_DIR}" "--registration-function=${ARG_REGISTRATION_FUNCTION}" ${tables})
  set(selection "${CMAKE_CURRENT_BINARY_DIR}/${ARG_LIB_NAME}/selected_operators.yaml")
  if(NOT EXISTS "${selection}")
    set(selection "${CMAKE_CURRENT_BINARY_DIR}/selected_operators.yaml")
  endif()
  if(EXISTS "${selection}")
    list(APPEND command "--op-selection-yaml-path=${selection}")
    list(APPEND inputs "${selection}")
  endif()
  if(ARG_ADD_EXCEPTION_BOUNDARY)
    list(APPEND command "--add-exception-boundary")
  endif()
  if(ARG_USE_ATEN_LIB)
    list(APPEND command "--use-aten-lib")
  endif()
  set(source "${ARG_OUTPUT_DIR}/RegisterCodegenUnboxedKernelsEverything.cpp")
  set(stamp "${ARG_OUTPUT_DIR}/generated.stamp")
  # Files are rewritten only when they differ, so the stamp and not they tell whether the rule has run.
  add_custom_command(OUTPUT "${stamp}" BYPRODUCTS "${source}" ${headers}
    COMMAND ${command} COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${inputs} WORKING_DIRECTORY "${EXECUTORCH_ROOT}" VERBATIM
    COMMENT "Generating kernel registration of ${ARG_LIB_NAME}")
  set(target "${ARG_LIB_NAME}_bindings")
  if(NOT ARG_LIB_NAME)
    set(target kernel_bindings)
  endif()
  add_custom_target(${target} DEPENDS "${stamp}")
  set(gen_command_target ${target} PARENT_SCOPE)
  set(gen_command_sources "${source}" PARENT_SCOPE)
  set(gen_command_headers ${headers} PARENT_SCOPE)
endfunction()

# A copy of a kernel library that leaves out the dtypes which the header in `folder` does not name.
function(_et_dtype_selected_copy copy library folder)
  get_target_property(sources ${library} SOURCES)
  get_target_property(source_dir ${library} SOURCE_DIR)
  list(TRANSFORM sources PREPEND "${source_dir}/" REGEX "^[^/]")
  et_library(${copy} SRCS ${sources} DEPS ${ARGN} PRIVATE_DEPS $<BUILD_INTERFACE:et_kernel_rules>)
  target_compile_definitions(${copy} PRIVATE EXECUTORCH_SELECTIVE_BUILD_DTYPE=1)
  target_include_directories(${copy} PRIVATE "${folder}")
  add_dependencies(${copy} portable_ops_lib_bindings)
endfunction()

# gen_operators_lib for projects that found an installed package; uses the caller's gen_command_*.
function(_et_installed_operators_lib name selects_dtypes)
  if(selects_dtypes)
    message(FATAL_ERROR "gen_operators_lib(${name}): DTYPE_SELECTIVE_BUILD builds the portable kernels once more, from their "
      "sources: take ExecuTorch by add_subdirectory, not by find_package")
  endif()
  add_library(${name} STATIC ${gen_command_sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
  target_compile_features(${name} PUBLIC cxx_std_17)
  executorch_target_link_options_shared_lib(${name})
  add_dependencies(${name} ${gen_command_target})
endfunction()

# gen_operators_lib(LIB_NAME name KERNEL_LIBS ... DEPS ... [DTYPE_SELECTIVE_BUILD ON]): the static library that registers
# the kernels of the last generate_bindings_for_kernels. Whoever links it links all of it. With dtype selection the
# portable kernels are built once more, without the dtypes that gen_selected_ops(LIB_NAME name) found unused.
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
  if(NOT COMMAND et_library)
    _et_installed_operators_lib(${ARG_LIB_NAME} "${ARG_DTYPE_SELECTIVE_BUILD}" ${ARG_DEPS} ${ARG_KERNEL_LIBS})
    return()
  endif()
  if(ARG_DTYPE_SELECTIVE_BUILD)
    if(NOT ARG_KERNEL_LIBS STREQUAL "portable_kernels")
      message(FATAL_ERROR "gen_operators_lib(${ARG_LIB_NAME}): DTYPE_SELECTIVE_BUILD serves KERNEL_LIBS portable_kernels "
        "alone, found ${ARG_KERNEL_LIBS}")
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${ARG_LIB_NAME}")
    if(NOT EXISTS "${folder}/selected_op_variants.h")
      message(FATAL_ERROR "gen_operators_lib(${ARG_LIB_NAME}): call gen_selected_ops(LIB_NAME ${ARG_LIB_NAME} "
        "OPS_FROM_MODEL ... DTYPE_SELECTIVE_BUILD ON) first")
    endif()
    set(loop_deps executorch_core)
    if(TARGET extension_threadpool)
      list(APPEND loop_deps extension_threadpool)
    endif()
    _et_dtype_selected_copy(${ARG_LIB_NAME}_loops kernels_util_all_deps "${folder}" ${loop_deps})
    _et_dtype_selected_copy(${ARG_LIB_NAME}_kernels portable_kernels "${folder}" ${ARG_LIB_NAME}_loops executorch_core)
    set(ARG_KERNEL_LIBS ${ARG_LIB_NAME}_kernels)
  endif()
  et_library(${ARG_LIB_NAME} STATIC SRCS ${gen_command_sources} DEPS ${ARG_DEPS} ${ARG_KERNEL_LIBS} REGISTERS
    ${install_option})
  add_dependencies(${ARG_LIB_NAME} ${gen_command_target})
endfunction()
