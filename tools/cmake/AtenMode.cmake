# SPDX-License-Identifier: BSD-3-Clause
# EXECUTORCH_BUILD_ATEN_MODE: each target below once more as <name>_aten, compiled against PyTorch's tensors
# (docs/design/061-aten-mode.md). A twin has the sources and dependencies of its original; x_aten.cpp takes the place of
# x_portable.cpp. What is about portable tensors stays out: portable_type/, x_portable_test.cpp, and the documents' listings.
include("${CMAKE_CURRENT_LIST_DIR}/Torch.cmake")
find_package_torch()
# All that there is of ATen mode.
add_custom_target(aten_mode)

set(_libraries executorch_core executorch extension_data_loader extension_memory_allocator extension_flat_tensor
  extension_named_data_map extension_tensor extension_module_static extension_evalue_util
  extension_runner_util extension_model_runner bundled_program etdump)
set(_executables executor_runner module_calls)
set(_tests core_values_test core_edges_test core_event_tracer_hooks_test operator_registry_test backend_interface_test
  program_test program_validation_test method_test method_load_test delegate_mapping_test prim_ops_test extension_tensor_test
  extension_module_test runner_util_test)
set(_test_libraries tensor_testing_util program_builder executor_test_kernels)

# Kernels, backends and threads of portable tensors: ATen mode has PyTorch's.
set(_left_out "^(executorch_kernels|executorch_backends|extension_threadpool|custom_ops|.*_ops_lib|.*_ops_executorch)$")

function(_et_aten_twin name)
  get_target_property(sources ${name} SOURCES)
  get_target_property(folder ${name} SOURCE_DIR)
  list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/]")
  list(TRANSFORM sources REPLACE "_portable\\.cpp$" "_aten.cpp")
  list(FILTER sources EXCLUDE REGEX "/portable_type/|_portable_test\\.cpp$|_listings_test\\.cpp$")
  target_sources(${name}_aten PRIVATE ${sources})
  target_include_directories(${name}_aten PUBLIC
    $<BUILD_INTERFACE:${EXECUTORCH_ROOT}/src>
    $<BUILD_INTERFACE:${EXECUTORCH_GENERATED_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  get_target_property(libraries ${name} LINK_LIBRARIES)
  get_target_property(public ${name} INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM libraries REPLACE "^(.+)$" "\\1_aten" OUTPUT_VARIABLE twins)
  foreach(library twin IN ZIP_LISTS libraries twins)
    if(TARGET ${twin})
      target_link_libraries(${name}_aten PUBLIC ${twin})
    elseif(NOT library MATCHES "${_left_out}")
      set(scope PRIVATE)
      if(library IN_LIST public)
        set(scope PUBLIC)
      endif()
      target_link_libraries(${name}_aten ${scope} ${library})
    endif()
  endforeach()
  target_link_libraries(${name}_aten PUBLIC torch PRIVATE $<BUILD_INTERFACE:et_compile_rules>)
  get_target_property(definitions ${name} INTERFACE_COMPILE_DEFINITIONS)
  if(definitions)
    list(REMOVE_ITEM definitions C10_USING_CUSTOM_GENERATED_MACROS)
    target_compile_definitions(${name}_aten PUBLIC ${definitions})
  endif()
  target_compile_definitions(${name}_aten PUBLIC USE_ATEN_LIB)
  set_target_properties(${name}_aten PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# Runs a test program, as et_test does.
function(_et_run_test name)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${EXECUTORCH_ROOT}")
  set_tests_properties(${name} PROPERTIES LABELS aten
    ENVIRONMENT "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/results/${name}.xml")
  add_dependencies(aten_mode ${name})
endfunction()

# et_aten_test(name SRCS ... DEPS ...): a test that exists in ATen mode alone.
function(et_aten_test name)
  if(NOT EXECUTORCH_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} et_compile_rules GTest::gmock GTest::gtest GTest::gtest_main)
  _et_run_test(${name})
endfunction()

foreach(_name IN LISTS _libraries _test_libraries)
  if(TARGET ${_name})
    add_library(${_name}_aten STATIC)
  endif()
endforeach()
foreach(_name IN LISTS _libraries _test_libraries)
  if(TARGET ${_name})
    _et_aten_twin(${_name})
  endif()
endforeach()
executorch_target_link_options_shared_lib(executorch_aten)
foreach(_folder kernels/aten extension/aten_util extension/pytree/aten_util)
  add_subdirectory("${EXECUTORCH_ROOT}/${_folder}" "${PROJECT_BINARY_DIR}/${_folder}")
endforeach()

foreach(_name IN LISTS _executables _tests)
  if(TARGET ${_name})
    add_executable(${_name}_aten)
    _et_aten_twin(${_name})
    set_target_properties(${_name}_aten PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  endif()
endforeach()
foreach(_name IN LISTS _executables)
  if(TARGET ${_name})
    target_link_libraries(${_name}_aten PRIVATE aten_ops_lib)
    add_dependencies(aten_mode ${_name}_aten)
  endif()
endforeach()
foreach(_name IN LISTS _tests)
  if(TARGET ${_name})
    _et_run_test(${_name}_aten)
  endif()
endforeach()
