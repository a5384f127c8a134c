# SPDX-License-Identifier: BSD-3-Clause
# Options of the backends that AOTInductor compiles for.
define_backend_option(EXECUTORCH_BUILD_AOTI_CPU "The backend that runs what AOTInductor compiled for the processor, on Linux"
  DEFAULT ${EXECUTORCH_BUILD_TESTS})
define_backend_option(EXECUTORCH_AOTI_ALLOW_NATIVE_CODE "Load machine code of programs without being asked to; OFF: only where the option allow_native_code says so"
  DEFAULT ON)
if(EXECUTORCH_BUILD_AOTI_CPU AND NOT CMAKE_SYSTEM_NAME MATCHES "^(Linux|Android)$")
  set(EXECUTORCH_BUILD_AOTI_CPU OFF)
endif()
