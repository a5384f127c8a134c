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
endif()

# Everything the wheel needs; each native module adds itself.
add_custom_target(python_modules)
install(FILES src/executorch/__init__.py src/executorch/_alias.py src/executorch/version.py src/executorch/py.typed DESTINATION executorch
  COMPONENT python EXCLUDE_FROM_ALL)

# et_place_module(name folder): puts a built module into a folder of the source tree. A running Python may have mapped the
# one that is there, so it is replaced and not written to. Also on every build: another build tree may have placed its own.
function(et_place_module name folder)
  set(_place "${CMAKE_COMMAND}" "-DFROM=$<TARGET_FILE:${name}>"
    "-DTO=${EXECUTORCH_ROOT}/${folder}/$<TARGET_FILE_NAME:${name}>"
    -P "${EXECUTORCH_ROOT}/tools/cmake/PlaceFile.cmake")
  add_custom_command(TARGET ${name} POST_BUILD COMMAND ${_place} VERBATIM)
  add_custom_target(place_${name} ALL COMMAND ${_place} VERBATIM)
  add_dependencies(place_${name} ${name})
endfunction()

# et_python_module(name FOLDER <source folder of the package> SRCS ... DEPS ...): a native module that is placed next to
# its Python package (git ignores it) and installed into the wheel at the same place.
function(et_python_module name)
  cmake_parse_arguments(ARG "" "FOLDER" "SRCS;DEPS" ${ARGN})
  pybind11_add_module(${name} MODULE NO_EXTRAS ${ARG_SRCS})
  _et_target_defaults(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  target_compile_options(${name} PRIVATE -fvisibility=hidden)
  if(NOT APPLE AND NOT MSVC)
    target_link_options(${name} PRIVATE "LINKER:--exclude-libs,ALL")
  endif()
  target_link_options_gc_sections(${name})
  et_link_start_first(${name})
  et_place_module(${name} "${ARG_FOLDER}")
  add_dependencies(python_modules ${name})
  install(TARGETS ${name} LIBRARY DESTINATION "executorch/${ARG_FOLDER}" COMPONENT python EXCLUDE_FROM_ALL)
endfunction()
