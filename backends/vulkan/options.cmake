# SPDX-License-Identifier: BSD-3-Clause
# The backend's options. Vulkan's loader is found when it is used: headers and glslc are needed here.
# Wheels for Linux have it where both are.
find_program(GLSLC_PATH glslc HINTS "$ENV{VULKAN_SDK}/bin" "$ENV{VULKAN_SDK}/Bin" DOC "Shader compiler of the Vulkan backend")
set(_vulkan OFF)
if(SKBUILD AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND GLSLC_PATH)
  set(_vulkan ON)
endif()
define_backend_option(EXECUTORCH_BUILD_VULKAN "Vulkan backend; needs glslc and Vulkan's headers to build, its loader to run"
  DEFAULT ${_vulkan} PRESETS linux)
