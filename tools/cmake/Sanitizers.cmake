# SPDX-License-Identifier: BSD-3-Clause
# EXECUTORCH_SANITIZER, or the older EXECUTORCH_USE_SANITIZER, for everything that is built.
set(_sanitizer "${EXECUTORCH_SANITIZER}")
if(EXECUTORCH_USE_SANITIZER AND NOT _sanitizer)
  set(_sanitizer "address,undefined")
endif()
if(_sanitizer)
  add_compile_options(-fsanitize=${_sanitizer} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${_sanitizer})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses GCC 12: pybind11 and std::strcmp set off these two where nothing is wrong.
    add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overread)
  endif()
  if(_sanitizer MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
# Fuzzers need to see which code a file reaches, in libraries too.
if(EXECUTORCH_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
