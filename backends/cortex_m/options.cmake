# SPDX-License-Identifier: BSD-3-Clause
# The backend's options. Wheels for Linux have the kernels: networks are tried on the computer before they go to a board.
set(_cortex_m OFF)
if(SKBUILD AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(_cortex_m ON)
endif()
define_backend_option(EXECUTORCH_BUILD_CORTEX_M "int8 kernels for Arm Cortex-M"
  DEFAULT ${_cortex_m} PRESETS linux pybind arm_baremetal)
