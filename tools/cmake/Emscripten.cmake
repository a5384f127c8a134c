# SPDX-License-Identifier: BSD-3-Clause
# What holds for all code in WebAssembly: vectors of 128 bits, and the engine's own exceptions, which cost nothing until one
# is thrown; memory that threads share, in a build for them. A program is one file: no code needs to be
# position-independent. Emscripten's toolchain file says that the processor is an x86.
if(NOT EMSCRIPTEN)
  return()
endif()
set(CMAKE_SYSTEM_PROCESSOR wasm32)
foreach(language C CXX)
  set(CMAKE_${language}_COMPILE_OPTIONS_PIC "")
endforeach()
add_compile_options(-msimd128 -fwasm-exceptions)
add_link_options(-fwasm-exceptions)
if(EXECUTORCH_WASM_THREADS)
  add_compile_options(-pthread)
  add_link_options(-pthread)
endif()
