# SPDX-License-Identifier: BSD-3-Clause
# The few functions every folder's CMakeLists is written with.
include_guard(DIRECTORY)
include(GNUInstallDirs)
include("${CMAKE_CURRENT_LIST_DIR}/LinkOptions.cmake")

set(EXECUTORCH_ROOT "${CMAKE_CURRENT_LIST_DIR}/../..")
get_filename_component(EXECUTORCH_ROOT "${EXECUTORCH_ROOT}" ABSOLUTE)
set(EXECUTORCH_GENERATED_DIR "${CMAKE_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${EXECUTORCH_GENERATED_DIR}/executorch")

# Warnings, section flags and the rules of the size build, for our own targets only.
if(NOT TARGET et_compile_rules)
  add_library(et_compile_rules INTERFACE)
  target_compile_features(et_compile_rules INTERFACE cxx_std_17)
  if(NOT MSVC)
    target_compile_options(et_compile_rules INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra $<$<BOOL:${EXECUTORCH_WARNINGS_AS_ERRORS}>:-Werror> -Wno-missing-field-initializers>
      -ffunction-sections -fdata-sections
      $<$<BOOL:${EXECUTORCH_OPTIMIZE_SIZE}>:-Os -fno-asynchronous-unwind-tables -fno-unwind-tables>
      $<$<AND:$<BOOL:${EXECUTORCH_OPTIMIZE_SIZE}>,$<COMPILE_LANGUAGE:CXX>>:-fno-exceptions -fno-rtti>)
  endif()
endif()

function(_et_target_defaults name scope)
  target_include_directories(${name} ${scope}
    $<BUILD_INTERFACE:${EXECUTORCH_ROOT}/src>
    $<BUILD_INTERFACE:${EXECUTORCH_GENERATED_DIR}>
    $<BUILD_INTERFACE:${EXECUTORCH_ROOT}/runtime/core/portable_type/c10>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/executorch/runtime/core/portable_type/c10>)
  if(NOT scope STREQUAL "INTERFACE")
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:et_compile_rules>)
    if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")  # without an operating system, addresses are known when linking
      set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
  endif()
endfunction()

# et_library(name [STATIC|SHARED|OBJECT|INTERFACE] SRCS ... [DEPS ...] [PRIVATE_DEPS ...] [REGISTERS] [NO_INSTALL])
# REGISTERS: the library registers kernels or a backend from static constructors; its consumers link all of it.
function(et_library name)
  cmake_parse_arguments(ARG "STATIC;SHARED;OBJECT;INTERFACE;REGISTERS;NO_INSTALL" "" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_INTERFACE)
    add_library(${name} INTERFACE)
    _et_target_defaults(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  else()
    set(kind STATIC)
    if(ARG_SHARED)
      set(kind SHARED)
    elseif(ARG_OBJECT)
      set(kind OBJECT)
    endif()
    add_library(${name} ${kind} ${ARG_SRCS})
    _et_target_defaults(${name} PUBLIC)
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  endif()
  if(ARG_REGISTERS)
    executorch_target_link_options_shared_lib(${name})
  endif()
  if(NOT ARG_NO_INSTALL)
    set_property(GLOBAL APPEND PROPERTY ET_INSTALLED_LIBRARIES ${name})
    install(TARGETS ${name} EXPORT ExecuTorchTargets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endfunction()

# et_backend(name SRCS ... [DEPS ...] [PRIVATE_DEPS ...] [NO_INSTALL] [LOADABLE]): a library that registers a backend, for
# programs that link it and for the Python runtime. The file that registers defines the C variable executorch_<name>.
# LOADABLE: no part of the Python runtime but a library of its own, lib<name>.so in the build folder, which Python loads; it
# registers with the runtime of whichever _portable_lib is loaded.
function(et_backend name)
  cmake_parse_arguments(ARG "LOADABLE" "" "" ${ARGN})
  et_library(${name} ${ARG_UNPARSED_ARGUMENTS})
  executorch_target_link_options_symbol(${name} executorch_${name})
  if(NOT TARGET portable_lib)
    return()
  endif()
  if(NOT ARG_LOADABLE)
    target_link_libraries(portable_lib PRIVATE ${name})
    return()
  endif()
  cmake_parse_arguments(ARG "NO_INSTALL" "" "SRCS;DEPS;PRIVATE_DEPS" ${ARG_UNPARSED_ARGUMENTS})
  et_loadable_library(${name} SRCS ${ARG_SRCS} DEPS ${ARG_DEPS} ${ARG_PRIVATE_DEPS})
endfunction()

# et_loadable_library(name SRCS ... [DEPS ...]): lib<name>.so in the build folder, of the target <name>_loadable. The runtime is
# the one in portable_lib: of other libraries only how to compile with them.
function(et_loadable_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_library(${name}_loadable SHARED ${ARG_SRCS})
  _et_target_defaults(${name}_loadable PRIVATE)
  foreach(library ${ARG_DEPS})
    if(NOT TARGET ${library})  # of the system
      target_link_libraries(${name}_loadable PRIVATE ${library})
      continue()
    endif()
    target_include_directories(${name}_loadable PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
    target_include_directories(${name}_loadable SYSTEM PRIVATE
      $<TARGET_PROPERTY:${library},INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>)
    target_compile_definitions(${name}_loadable PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>)
    add_dependencies(${name}_loadable ${library})
  endforeach()
  target_link_libraries(${name}_loadable PRIVATE portable_lib)
  set_target_properties(${name}_loadable PROPERTIES OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endfunction()

# et_kernel_backend(name YAML functions.yaml SRCS ... [DEPS ...] [NO_INSTALL] [LOADABLE]): the kernels of a backend that is
# kernels: <name>_kernels, and <name>_ops_lib, which registers them as the table says, those that are selected, and is part of
# executorch::backends. The
# table's header is <executorch/backends/FOLDER/CustomOpsNativeFunctions.h>. LOADABLE: as for et_backend. Include Codegen.cmake
# first.
function(et_kernel_backend name)
  cmake_parse_arguments(ARG "NO_INSTALL;LOADABLE" "YAML" "SRCS;DEPS" ${ARGN})
  set(install_option "")
  if(ARG_NO_INSTALL)
    set(install_option NO_INSTALL)
  endif()
  if(NOT ARG_NO_INSTALL)
    set_property(GLOBAL APPEND PROPERTY ET_KERNEL_BACKENDS ${name}_ops_lib)
  endif()
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  et_library(${name}_kernels ${install_option} SRCS ${ARG_SRCS} DEPS executorch_core ${ARG_DEPS}
    PRIVATE_DEPS $<BUILD_INTERFACE:et_kernel_rules>)
  if(EXECUTORCH_SELECT_OPS_LIST OR EXECUTORCH_SELECT_OPS_YAML OR EXECUTORCH_SELECT_OPS_MODEL)
    gen_selected_ops(LIB_NAME ${name}_ops_lib OPS_SCHEMA_YAML "${EXECUTORCH_SELECT_OPS_YAML}"
      ROOT_OPS "${EXECUTORCH_SELECT_OPS_LIST}" OPS_FROM_MODEL "${EXECUTORCH_SELECT_OPS_MODEL}")
  endif()
  generate_bindings_for_kernels(LIB_NAME ${name}_ops_lib CUSTOM_OPS_YAML "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_YAML}"
    OUTPUT_DIR "${EXECUTORCH_GENERATED_DIR}/executorch/backends/${folder}")
  add_dependencies(${name}_kernels ${name}_ops_lib_bindings)
  gen_operators_lib(LIB_NAME ${name}_ops_lib KERNEL_LIBS ${name}_kernels DEPS executorch_core ${install_option})
  if(TARGET portable_lib AND ARG_LOADABLE)
    et_loadable_library(${name} SRCS ${ARG_SRCS} ${gen_command_sources} DEPS executorch_core ${ARG_DEPS})
    add_dependencies(${name}_loadable ${name}_ops_lib_bindings)
  elseif(TARGET portable_lib)
    target_link_libraries(portable_lib PRIVATE ${name}_ops_lib)
  endif()
endfunction()

# et_executable(name SRCS ... DEPS ... [NO_INSTALL] [IN_WHEEL]): goes into bin of a prefix; IN_WHEEL: into data/bin of the
# wheel, too, where executorch.data.bin finds it
function(et_executable name)
  cmake_parse_arguments(ARG "NO_INSTALL;IN_WHEEL" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  _et_target_defaults(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  target_link_options_gc_sections(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  if(NOT ARG_NO_INSTALL AND NOT SKBUILD)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  if(ARG_IN_WHEEL AND SKBUILD)
    et_install_python(TARGETS ${name} RUNTIME DESTINATION data/bin)
  endif()
endfunction()

# et_test(name SRCS ... DEPS ...): a GoogleTest program and one ctest entry, whose results go to <build>/results/<name>.xml
# (read by tools/requirements); a no-op unless tests are built.
function(et_test name)
  if(NOT EXECUTORCH_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  _et_target_defaults(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${EXECUTORCH_ROOT}")
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/results/${name}.xml")
endfunction()

# The documented name for the same thing: et_cxx_test(target SOURCES ... EXTRA_LIBS ...)
function(et_cxx_test target)
  cmake_parse_arguments(ARG "" "" "SOURCES;EXTRA_LIBS" ${ARGN})
  et_test(${target} SRCS ${ARG_SOURCES} DEPS executorch ${ARG_EXTRA_LIBS})
endfunction()

# Adds a folder when it is there, so that any folder can be taken away.
function(et_add_folder folder)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    add_subdirectory(${folder})
  endif()
endfunction()
