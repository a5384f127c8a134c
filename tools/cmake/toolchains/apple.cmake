# SPDX-License-Identifier: BSD-3-Clause
# Systems that only macOS builds for: ET_APPLE_SYSTEM is iOS or Darwin.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ET_APPLE_SYSTEM)
if(NOT CMAKE_HOST_APPLE)
  message(FATAL_ERROR "the presets ios and macos need macOS with Xcode; this is ${CMAKE_HOST_SYSTEM_NAME}. The preset linux "
    "builds the runtime here")
endif()
if(ET_APPLE_SYSTEM STREQUAL "iOS")
  set(CMAKE_SYSTEM_NAME iOS)
  set(CMAKE_OSX_ARCHITECTURES arm64)
endif()
