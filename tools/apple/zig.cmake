# SPDX-License-Identifier: BSD-3-Clause
# Plain C++ for Macs from any system: ET_ZIG is a folder with scripts cc, c++, ar and ranlib (zig.py writes them). There is no
# Foundation, so nothing of Objective-C compiles, and nothing is linked.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ET_ZIG)
foreach(language C CXX OBJC ASM)
  set(CMAKE_${language}_COMPILER "${ET_ZIG}/cc")
  set(CMAKE_${language}_COMPILER_TARGET aarch64-macos.12.0)
endforeach()
set(CMAKE_CXX_COMPILER "${ET_ZIG}/c++")
set(CMAKE_ASM_COMPILER_ID Clang)
set(CMAKE_AR "${ET_ZIG}/ar")
set(CMAKE_RANLIB "${ET_ZIG}/ranlib")
set(CMAKE_INSTALL_NAME_TOOL true)  # asked for, never called
