# SPDX-License-Identifier: BSD-3-Clause
# The order of functions in what we link for Linux: those that run when programs are loaded and first run come first.
include_guard(GLOBAL)
include(CheckLinkerFlag)

# The GNU linker's script with them. start_functions.txt are those of libraries that have many others;
# `python -m tools.bench.start_order` wrote it.
function(_et_write_start_order script)
  set(list "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/start_functions.txt")
  file(STRINGS "${list}" functions)
  list(TRANSFORM functions REPLACE "(.+)" "    *(.text.\\1 .text.\\1.*)")
  # Of these libraries, and the C++ files of XNNPACK that are ours, nearly all runs; what a program gets of the C library
  # itself has no sections of its own.
  set(libraries executorch_core.a: xnnpack_backend.a: XNNPACK.a:*.cpp.o
    extension_data_loader.a: extension_module_static.a: extension_tensor.a: extension_threadpool.a:
    c_nonshared.a:)
  list(TRANSFORM libraries REPLACE "(.+)" "    *lib\\1(.text .text.*)")
  list(JOIN libraries "\n" libraries)
  list(JOIN functions "\n" functions)
  file(CONFIGURE OUTPUT "${script}"
    CONTENT "SECTIONS\n{\n  .text.start : {\n@libraries@\n@functions@\n  }\n}\nINSERT BEFORE .text;\n" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
endfunction()

# et_link_start_first(target): `target`, a program or a module, keeps 0.5 to 1.2 MB less in memory after a network's first run.
function(et_link_start_first target)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
  endif()
  set(script "${CMAKE_BINARY_DIR}/generated/start_order.ld")
  _et_write_start_order("${script}")
  check_linker_flag(CXX "LINKER:-T,${script}" ET_HAS_LINKER_SCRIPTS)
  if(ET_HAS_LINKER_SCRIPTS)
    target_link_options(${target} PRIVATE "LINKER:-T,${script}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
  endif()
endfunction()
