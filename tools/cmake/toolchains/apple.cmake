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
# Names of sources in messages and debug information begin with /executorch, wherever frameworks were built:
# (lldb) settings append target.source-map /executorch FOLDER
cmake_path(SET _et_root NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../..")
cmake_path(GET _et_root PARENT_PATH _et_root)  # without the slash at its end
foreach(language C CXX OBJC OBJCXX ASM)
  string(APPEND CMAKE_${language}_FLAGS_INIT " -ffile-prefix-map=${_et_root}=/executorch")
endforeach()
string(APPEND CMAKE_Swift_FLAGS_INIT " -file-prefix-map ${_et_root}=/executorch")
