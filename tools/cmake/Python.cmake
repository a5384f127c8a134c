# SPDX-License-Identifier: BSD-3-Clause
# The Python interpreter, pybind11, and how native Python modules are made.
include("${CMAKE_CURRENT_LIST_DIR}/PythonExecutable.cmake")

if(EXECUTORCH_BUILD_PYBIND)
  set(PYBIND11_FINDPYTHON ON)
  execute_process(COMMAND "${PYTHON_EXECUTABLE}" -m pybind11 --cmakedir
    OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE _rc ERROR_VARIABLE _err)
  if(NOT _rc EQUAL 0)
    message(FATAL_ERROR "pybind11 is not installed for ${PYTHON_EXECUTABLE}: run ./install_requirements.sh (${_err})")
  endif()
  find_package(pybind11 CONFIG REQUIRED)
  include("${CMAKE_CURRENT_LIST_DIR}/BuildTools.cmake")
  et_python_tool(pybind11 "pybind11>=3.0,<4" include/pybind11/)
  set_target_properties(pybind11::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${ET_BUILD_TOOLS}/include")
endif()

# Where generated Python and native modules go besides the wheel: next to their packages, for whoever works in this tree.
set(ET_PYTHON_TREE "${EXECUTORCH_ROOT}")
if(SKBUILD_STATE STREQUAL "wheel")
  set(ET_PYTHON_TREE "${CMAKE_BINARY_DIR}/python")
endif()

# All that is native of the Python package; each module adds itself.
add_custom_target(python_modules)

# et_install_python(FILES|PROGRAMS file... DESTINATION folder): into the wheel, not into a prefix of C++ files.
function(et_install_python)
  install(${ARGN} COMPONENT python EXCLUDE_FROM_ALL)
endfunction()

# et_place_module(name folder): puts a built module into a folder of the source tree. A running Python may have mapped the
# one that is there, so it is replaced and not written to. Also on every build: another build tree may have placed its own.
function(et_place_module name folder)
  set(_place "${CMAKE_COMMAND}" "-DFROM=$<TARGET_FILE:${name}>"
    "-DTO=${ET_PYTHON_TREE}/${folder}/$<TARGET_FILE_NAME:${name}>"
    -P "${EXECUTORCH_ROOT}/tools/cmake/PlaceFile.cmake")
  add_custom_command(TARGET ${name} POST_BUILD COMMAND ${_place} VERBATIM)
  add_custom_target(place_${name} ALL COMMAND ${_place} VERBATIM)
  add_dependencies(place_${name} ${name})
endfunction()

# et_python_module(name FOLDER <source folder of the package> SRCS ... DEPS ... [EXPORTS version script]): a native module
# that is placed next to its Python package (git ignores it) and installed into the wheel at the same place. Nothing of it
# can be linked to, but what EXPORTS names. IN_WHEEL: another folder in the wheel, seen from the package executorch.
function(et_python_module name)
  cmake_parse_arguments(ARG "" "FOLDER;EXPORTS;IN_WHEEL" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_IN_WHEEL)
    set(ARG_IN_WHEEL "${ARG_FOLDER}")
  endif()
  if(ARG_EXPORTS)
    # As pybind11_add_module(SHARED), which links libpython: not every interpreter has one.
    add_library(${name} SHARED ${ARG_SRCS})
    target_link_libraries(${name} PRIVATE pybind11::module)
    pybind11_extension(${name})
  else()
    pybind11_add_module(${name} MODULE NO_EXTRAS ${ARG_SRCS})
  endif()
  _et_target_defaults(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  target_compile_options(${name} PRIVATE -fvisibility=hidden)
  if(EXECUTORCH_OLDER_LIBRARIES)
    target_sources(
      ${name} PRIVATE "${EXECUTORCH_ROOT}/tools/cmake/older_exceptions.cpp"
                      "${EXECUTORCH_ROOT}/runtime/platform/older_libraries.cpp")
    target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS} pthread)
  endif()
  if(NOT APPLE AND NOT MSVC)
    set(script "${EXECUTORCH_ROOT}/tools/cmake/python_module.map")
    if(ARG_EXPORTS)
      set(script "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_EXPORTS}")
    endif()
    target_link_options(${name} PRIVATE "LINKER:--version-script=${script}" "LINKER:-Bsymbolic")
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${script}")
  endif()
  target_link_options_gc_sections(${name})
  et_place_module(${name} "${ARG_FOLDER}")
  add_dependencies(python_modules ${name})
  et_install_python(TARGETS ${name} LIBRARY DESTINATION "${ARG_IN_WHEEL}")
endfunction()
