# SPDX-License-Identifier: BSD-3-Clause
# The backend's option. OpenVINO's library is found when it is used: nothing of it is needed here.
# Wheels for Linux have it.
set(_openvino OFF)
if(SKBUILD AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(_openvino ON)
endif()
define_backend_option(EXECUTORCH_BUILD_OPENVINO "OpenVINO backend; its library is found at run time"
  DEFAULT ${_openvino} PRESETS linux)
