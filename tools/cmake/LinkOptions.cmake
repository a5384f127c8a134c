# SPDX-License-Identifier: BSD-3-Clause
# Link options by linker; used by the build and installed for users of the CMake package.
include_guard(GLOBAL)

# executorch_target_link_options_shared_lib(target): what links `target` links all of it, so that static
# registration inside it takes place.
function(executorch_target_link_options_shared_lib target)
  if(APPLE)
    target_link_options(${target} INTERFACE "SHELL:LINKER:-force_load,$<TARGET_FILE:${target}>")
  elseif(MSVC)
    target_link_options(${target} INTERFACE "SHELL:LINKER:/WHOLEARCHIVE:$<TARGET_FILE:${target}>")
  else()
    target_link_options(${target} INTERFACE
      "SHELL:LINKER:--whole-archive $<TARGET_FILE:${target}> LINKER:--no-whole-archive")
  endif()
endfunction()

# executorch_target_link_options_symbol(target symbol): what links `target` takes its object file with `symbol`. Unlike
# whole-archive, this may be asked for twice and beside whole-archive.
function(executorch_target_link_options_symbol target symbol)
  if(APPLE)
    target_link_options(${target} INTERFACE "LINKER:-u,_${symbol}")
  elseif(MSVC)
    target_link_options(${target} INTERFACE "LINKER:/INCLUDE:${symbol}")
  elseif(EMSCRIPTEN)  # whose linker drops the file again if nothing is exported that uses it
    target_link_options(${target} INTERFACE "SHELL:LINKER:-u,${symbol} LINKER:--export=${symbol}")
  else()
    target_link_options(${target} INTERFACE "LINKER:-u,${symbol}")
  endif()
endfunction()

# target_link_options_gc_sections(target): `target` drops what nothing refers to.
function(target_link_options_gc_sections target)
  if(APPLE)
    target_link_options(${target} PRIVATE "LINKER:-dead_strip")
  elseif(NOT MSVC)
    target_link_options(${target} PRIVATE "LINKER:--gc-sections")
  endif()
endfunction()
